import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Logger } from '../../../base/observability/logger.js';
import type { PolicyInformer } from './policy-informer.js';
import { PolicyUpkeep } from './policy-upkeep.js';

/** An informer whose reads of a namespace are recorded; those of the names in `failing` fail, once each. */
function informerOf(
  reads: string[],
  failing: Set<string>,
): { informer: PolicyInformer; until(count: number): Promise<void> } {
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const readLeftOut = (namespace: string): Promise<void> => {
    reads.push(namespace);
    for (const { count, resolve } of waiting) if (reads.length >= count) resolve();
    return failing.delete(namespace) ? Promise.reject(new Error('no connection')) : Promise.resolve();
  };
  return {
    informer: { readLeftOut } as unknown as PolicyInformer,
    until: (count) => new Promise((resolve) => waiting.push({ count, resolve })),
  };
}

function loggerOf(warnings: string[]): Logger {
  return { warn: (message: string) => warnings.push(message) } as unknown as Logger;
}

test('namespaces with room again are read once per pause, and again after a failure', async () => {
  const warnings: string[] = [];
  const reads: string[] = [];
  const { informer, until } = informerOf(reads, new Set(['b']));
  const end = new AbortController();
  const upkeep = new PolicyUpkeep(loggerOf(warnings), 1);
  upkeep.start(informer, end.signal);
  const four = until(4);
  for (const namespace of ['a', 'b', 'a']) upkeep.hasRoom(namespace);
  assert.deepEqual(reads, []);
  await four;
  assert.deepEqual(reads, ['a', 'b', 'a', 'b']);
  assert.equal(warnings.length, 1);
  await upkeep.stopped();

  const fifth = until(5);
  upkeep.hasRoom('c');
  await fifth;
  assert.equal(reads.at(-1), 'c');
  await upkeep.stopped();
});

test('nothing is read after the end, and the end does not wait for the pause', async () => {
  const reads: string[] = [];
  const end = new AbortController();
  const upkeep = new PolicyUpkeep(loggerOf([]), 3_600_000);
  upkeep.start(informerOf(reads, new Set()).informer, end.signal);
  upkeep.hasRoom('a');
  end.abort();
  await upkeep.stopped();
  assert.deepEqual(reads, []);
});

test('what found no room is reported, but not for each object', () => {
  const warnings: string[] = [];
  const upkeep = new PolicyUpkeep(loggerOf(warnings));
  for (let i = 0; i < 100; i++) upkeep.leftOut('a');
  assert.equal(warnings.length, 1);
});
