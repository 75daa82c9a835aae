import assert from 'node:assert/strict';
import { it } from 'node:test';
import { systemTimers } from '../../../base/machinery/timers.js';
import { DiskUse } from './disk-use.js';

it('goes on with a long count, and uses it at a later check', async () => {
  const counted: string[] = [];
  const finish: ((bytes: number) => void)[] = [];
  const impatient = { ...systemTimers, wait: async () => undefined };
  const use = new DiskUse((folder) => {
    counted.push(folder);
    return new Promise((resolve) => finish.push(resolve));
  }, impatient);
  assert.equal(await use.of('/many'), undefined);
  assert.equal(await use.of('/many'), undefined, 'still counting');
  assert.equal(await use.of('/other'), undefined);
  assert.deepEqual(counted, ['/many', '/other'], 'each folder is counted once at a time');
  finish[0]?.(5);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(await use.of('/many'), 5);
  assert.deepEqual(counted, ['/many', '/other', '/many'], 'the next count begins');
  finish[2]?.(6);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(await use.of('/many'), 6);
});
