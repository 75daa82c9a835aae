import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { it } from 'node:test';
import { endWithUs } from '../../../../test/support/child-guard.js';
import { checkHttp, checkTcp } from './probe-action.js';

/** A server in a process of its own: it answers after a moment, or never. */
const program = `
  const server = require('node:http').createServer((request, response) => {
    if (request.url === '/') setTimeout(() => response.end('fine'), 100);
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

/** Keeps this process from doing anything, as a machine does that has no time for it. */
function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

it('a container that answers in time passes its check though the agent had no time to look', async () => {
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  endWithUs(child);
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const port = Number(line.toString());
    const check = (path: string) => checkHttp({ path, port }, '127.0.0.1', port, 'test', 1_000);
    const results = [check('/'), checkTcp('127.0.0.1', port, 1_000)];
    // Longer than the checks may take, once they are under way.
    setImmediate(() => pause(1_500));
    for (const result of results) assert.equal((await result).outcome, 'success', (await result).output);
    const began = performance.now();
    const silent = await check('/silent');
    assert.equal(silent.outcome, 'failure');
    assert.match(silent.output, /context deadline exceeded/);
    assert.ok(performance.now() - began >= 990);
  } finally {
    child.kill();
  }
});
