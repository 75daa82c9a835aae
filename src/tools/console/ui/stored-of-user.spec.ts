import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signal } from '@preact/signals';
import { isTextList } from './stored.js';
import { storedOfUser } from './stored-of-user.js';

describe('what the browser keeps for a user', () => {
  const values = new Map<string, string>();
  const old = Object.getOwnPropertyDescriptor(globalThis, 'localStorage');

  before(() => {
    const value = {
      getItem: (key: string) => values.get(key) ?? null,
      setItem: (key: string, text: string) => void values.set(key, text),
      removeItem: (key: string) => void values.delete(key),
    };
    Object.defineProperty(globalThis, 'localStorage', { configurable: true, value });
  });

  after(() => {
    if (old === undefined) Reflect.deleteProperty(globalThis, 'localStorage');
    else Object.defineProperty(globalThis, 'localStorage', old);
  });

  it('is not shown to the next user, nor after logging out, and is there again for the same user', () => {
    const user = signal<string | undefined>(undefined);
    const login = (name: string | undefined) => {
      user.value = name;
    };
    const keep = () => storedOfUser<readonly string[]>('lists-of-test', [], isTextList, () => user.value);
    const kept = keep();
    assert.deepEqual(kept.value, []);
    login('alice');
    kept.value = ['secrets of alice'];
    login('bob');
    assert.deepEqual(kept.value, []);
    kept.value = ['of bob'];
    login(undefined);
    assert.deepEqual(kept.value, []);
    login('alice');
    assert.deepEqual(kept.value, ['secrets of alice']);
    login('bob');
    assert.deepEqual(kept.value, ['of bob']);
    assert.deepEqual(keep().value, ['of bob']);
  });
});
