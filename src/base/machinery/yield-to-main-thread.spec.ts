import assert from 'node:assert/strict';
import { once } from 'node:events';
import { getPriority } from 'node:os';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

const program = `
  const { parentPort } = require('node:worker_threads');
  const { getPriority } = require('node:os');
  const { readlinkSync } = require('node:fs');
  import(${JSON.stringify(new URL('./yield-to-main-thread.js', import.meta.url).href)}).then(({ yieldToMainThread }) => {
    yieldToMainThread();
    parentPort.postMessage(getPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1))));
  });
`;

test('a thread gives way to the main thread, whose priority stays', {
  skip: process.platform !== 'linux',
}, async () => {
  const before = getPriority(process.pid);
  const worker = new Worker(program, { eval: true });
  const [lowered] = await once(worker, 'message');
  await worker.terminate();
  assert.equal(lowered, Math.min(19, before + 5));
  assert.equal(getPriority(process.pid), before);
});
