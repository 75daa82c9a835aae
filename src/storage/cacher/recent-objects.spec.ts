import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StoredObject } from '../storage.interface.js';
import type { StorageKey } from '../storage-key.js';
import { RecentObjects } from './recent-objects.js';

function key(name: string): StorageKey {
  return { resource: 'pods', namespace: 'a', name };
}

function object(name: string, version: number, json = '{}'): StoredObject {
  return { key: key(name), uid: `uid-${name}`, resourceVersion: BigInt(version), json };
}

describe('RecentObjects', () => {
  it('remembers an object for a limited time', () => {
    let now = 0;
    const recent = new RecentObjects(() => now, { characters: 100, objectCharacters: 100, ageMs: 10 });
    recent.remember(object('x', 1));
    now = 10;
    assert.equal(recent.get(key('x'))?.resourceVersion, 1n);
    now = 11;
    assert.equal(recent.get(key('x')), undefined);
    recent.remember(object('x', 1));
    assert.equal(recent.get(key('x'))?.resourceVersion, 1n);
  });

  it('keeps the newer of two states, in whatever order they come', () => {
    const recent = new RecentObjects(() => 0);
    recent.remember(object('x', 5));
    recent.remember(object('x', 4));
    assert.equal(recent.get(key('x'))?.resourceVersion, 5n);
    recent.remember(object('x', 6));
    assert.equal(recent.get(key('x'))?.resourceVersion, 6n);
  });

  it('distinguishes keys whose parts look the same when joined', () => {
    const recent = new RecentObjects(() => 0);
    recent.remember({ ...object('c', 1), key: { resource: 'a', namespace: 'b/c', name: 'd' } });
    assert.equal(recent.get({ resource: 'a/b', namespace: 'c', name: 'd' }), undefined);
  });

  it('forgets the objects seen longest ago when the texts are too many', () => {
    const recent = new RecentObjects(() => 0, { characters: 10, objectCharacters: 8, ageMs: 1 });
    recent.remember(object('x', 1, '12345'));
    recent.remember(object('y', 2, '12345'));
    recent.remember(object('x', 3, '1234'));
    recent.remember(object('z', 4, '12'));
    assert.deepEqual(
      ['x', 'y', 'z'].map((name) => recent.get(key(name))?.resourceVersion),
      [3n, undefined, 4n],
    );
    assert.equal(recent.characters, 6);
  });

  it('never keeps a long text, nor the older object in its place', () => {
    const recent = new RecentObjects(() => 0, { characters: 10, objectCharacters: 3, ageMs: 1 });
    recent.remember(object('x', 1, '123'));
    recent.remember(object('x', 2, '1234'));
    assert.equal(recent.get(key('x')), undefined);
    assert.equal(recent.characters, 0);
  });

  it('forgets one or all', () => {
    const recent = new RecentObjects(() => 0);
    recent.remember(object('x', 1));
    recent.remember(object('y', 2));
    recent.forget(key('x'));
    assert.equal(recent.get(key('x')), undefined);
    assert.equal(recent.get(key('y'))?.resourceVersion, 2n);
    recent.clear();
    assert.equal(recent.get(key('y')), undefined);
    assert.equal(recent.characters, 0);
  });
});
