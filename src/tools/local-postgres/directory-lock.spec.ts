import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { eventually } from '../../../test/e2e/support/test-cluster.js';
import { checkPortFree } from '../../base/machinery/port-check.js';
import { StartupError } from '../../base/machinery/startup-error.js';
import { lockDirectory } from './directory-lock.js';

describe('directory lock', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'plinth-lock-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  /** The command of another process that takes the lock and then waits. */
  function holding(): string[] {
    const lockModule = new URL('./directory-lock.js', import.meta.url).href;
    const script = `const { lockDirectory } = await import(${JSON.stringify(lockModule)});
      await lockDirectory(${JSON.stringify(directory)}); console.log('held'); setInterval(() => {}, 1000);`;
    return [process.execPath, '--input-type=module', '-e', script];
  }

  async function holder([command = '', ...rest] = holding()) {
    const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    return child;
  }

  it('refuses a folder that another process holds, naming it, and takes over when it was killed', async () => {
    const child = await holder();
    await assert.rejects(lockDirectory(directory), (error) => {
      assert.ok(error instanceof StartupError);
      assert.match(error.message, new RegExp(`pid ${child.pid}\\b`));
      return true;
    });
    child.kill('SIGKILL');
    await once(child, 'exit');
    const lock = await lockDirectory(directory);
    assert.equal((await readFile(join(directory, 'plinth.pid'), 'utf8')).split(' ')[0], String(process.pid));
    await lock.release();
    assert.deepEqual(await readdir(directory), []);
  });

  it('takes over the lock of a process that nobody collects', { skip: process.platform !== 'linux' }, async () => {
    // The shell becomes a program that never asks how its children have ended.
    const parent = await holder(['sh', '-c', '"$@" & exec sleep 1000', 'sh', ...holding()]);
    try {
      const pid = Number((await readFile(join(directory, 'plinth.pid'), 'utf8')).split(' ')[0]);
      await assert.rejects(lockDirectory(directory), StartupError);
      process.kill(pid, 'SIGKILL');
      await eventually(async () => / Z /.test(await readFile(`/proc/${pid}/stat`, 'utf8')), 'the end of the process');
      await (await lockDirectory(directory)).release();
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('takes over the lock when its process number was reused', { skip: process.platform !== 'linux' }, async () => {
    await writeFile(join(directory, 'plinth.pid'), `${process.ppid} 1\n`);
    await (await lockDirectory(directory)).release();
  });

  it('takes over a damaged lock', async () => {
    await writeFile(join(directory, 'plinth.pid'), 'nonsense');
    await (await lockDirectory(directory)).release();
  });
});

describe('port check', () => {
  it('says who has the port', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await assert.rejects(checkPortFree('127.0.0.1', port), (error) => {
      assert.ok(error instanceof StartupError);
      assert.match(
        error.message,
        process.platform === 'linux' ? new RegExp(`process ${process.pid} `) : /already listens/,
      );
      return true;
    });
    server.close();
    await once(server, 'close');
    await checkPortFree('127.0.0.1', port);
  });

  it('names the address where a server listens, not the one that was asked for', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const place = process.platform === 'linux' ? `127\\.0\\.0\\.1:${port}` : 'already listens';
    await assert.rejects(checkPortFree('0.0.0.0', port), new RegExp(`listens on ${place}|${place}`));
    server.close();
    await once(server, 'close');
  });

  it('says that an address does not belong to this machine', async () => {
    await assert.rejects(checkPortFree('192.0.2.1', 6443), /not an address of this machine/);
  });
});
