import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, it } from 'node:test';
import { endEmptyShims } from './empty-shims.js';

const started: ChildProcess[] = [];
after(() => {
  for (const child of started) child.kill('SIGKILL');
});

/** A process with the name and the arguments of a shim, which says when it is up. */
async function shim(socket: string, script: string): Promise<ChildProcess> {
  const args = [
    '-e',
    `${script}; console.log('up'); process.stdin.on('end', () => process.exit(0)).resume()`,
    '--',
    '-namespace',
    'k8s.io',
  ];
  const child = spawn(process.execPath, [...args, '-address', socket], { argv0: 'containerd-shim-runc-v2' });
  started.push(child);
  await once(child.stdout, 'data');
  return child;
}

it('ends helpers of one containerd that hold nothing, and no others', async () => {
  const socket = `/run/plinth-test-${process.pid}.sock`;
  const empty = await shim(socket, '');
  const foreign = await shim(`${socket}.other`, '');
  // What it holds ends with the pipe from its parent.
  const held = `require('node:child_process').spawn('/bin/cat', { stdio: ['pipe', 'ignore', 'ignore'] })`;
  const busy = await shim(socket, held);
  const ended = once(empty, 'exit');
  await endEmptyShims(socket);
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  for (const child of [foreign, busy]) assert.deepEqual([child.exitCode, child.signalCode], [null, null]);
  const both = [foreign, busy].map((child) => once(child, 'exit'));
  for (const child of [foreign, busy]) child.stdin?.end();
  assert.deepEqual(
    (await Promise.all(both)).map(([code]) => code),
    [0, 0],
  );
});
