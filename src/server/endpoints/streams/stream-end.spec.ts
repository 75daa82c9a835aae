import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { notFoundError } from '../../../base/machinery/status-error.js';
import type { ResourceRequest } from '../resource-request.js';
import { watchOver } from './stream-end.js';

const verbs = new Set<string>();
let found: () => Promise<{ readonly uid: string }>;
let shutdown: AbortController;
let client: AbortController;

function request(): ResourceRequest {
  const isStillAllowed = async (_context: unknown, verb = 'get') => verbs.has(verb);
  return {
    services: { options: { shutdown: shutdown.signal }, admission: { isStillAllowed } },
    context: { signal: client.signal },
    store: { get: () => found() },
    resource: { definition: { singular: 'pod' } },
    namespace: 'default',
  } as unknown as ResourceRequest;
}

async function pass(ms: number): Promise<void> {
  mock.timers.tick(ms);
  for (let i = 0; i < 5; i++) await nextTurn();
}

describe('a stream', () => {
  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval'] });
    for (const verb of ['get', 'create']) verbs.add(verb);
    found = async () => ({ uid: 'u' });
    shutdown = new AbortController();
    client = new AbortController();
  });
  afterEach(() => mock.timers.reset());

  it('goes on while its user has the right to it and its object is there, or nobody knows', async () => {
    const end = watchOver(request(), 'p', 'u', 'create');
    await pass(60_000);
    found = async () => Promise.reject(new Error('no database'));
    await pass(60_000);
    assert.equal(end.signal.aborted, false);
    end.stop();
  });

  it('ends within 30 seconds after one of the rights is gone', async () => {
    for (const verb of ['get', 'create']) {
      const end = watchOver(request(), 'p', 'u', 'create');
      verbs.delete(verb);
      await pass(30_000);
      assert.deepEqual([end.signal.aborted, end.reason()], [true, 'the right to this stream is gone']);
      end.stop();
      verbs.add(verb);
    }
  });

  it('ends within 30 seconds after its object is gone, or is another one', async () => {
    const others = [
      async () => ({ uid: 'other' }),
      async () => Promise.reject(notFoundError({ group: '', resource: 'pods' }, 'p')),
    ];
    for (const other of others) {
      found = async () => ({ uid: 'u' });
      const end = watchOver(request(), 'p', 'u');
      await pass(30_000);
      found = other;
      await pass(30_000);
      assert.deepEqual([end.signal.aborted, end.reason()], [true, 'pod p is gone']);
      end.stop();
    }
  });

  it('ends when the server stops, with a reason, and when the client leaves, without one', () => {
    const stopped = watchOver(request(), 'p', 'u');
    const left = watchOver(request(), 'p', 'u');
    left.stop();
    shutdown.abort();
    assert.deepEqual([stopped.signal.aborted, stopped.reason()], [true, 'the server is shutting down']);
    assert.equal(left.signal.aborted, false);
    const late = watchOver(request(), 'p', 'u');
    assert.equal(late.signal.aborted, true);
    shutdown = new AbortController();
    const gone = watchOver(request(), 'p', 'u');
    client.abort();
    assert.deepEqual([gone.signal.aborted, gone.reason()], [true, undefined]);
  });
});
