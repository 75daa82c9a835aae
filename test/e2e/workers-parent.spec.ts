import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { endWithUs } from '../support/child-guard.js';
import { mainFile } from '../support/main-file.js';
import { childrenOf, isRunning } from './support/processes.js';
import { eventually, freePort, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

let cluster: TestCluster;

before(async () => {
  cluster = await TestCluster.start({ servers: 0 });
});

after(() => cluster.stop());

/** Values of the series of a metric by the label `worker`, from one scrape on a connection of its own. */
async function byWorker(server: TestServer, metric: string): Promise<Map<string, number>> {
  const text = await scrape(server);
  const found = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (!line.startsWith(`${metric}{`)) continue;
    const worker = /worker="(\d+)"/.exec(line)?.[1];
    if (worker !== undefined) found.set(worker, (found.get(worker) ?? 0) + Number(line.split(' ').at(-1)));
  }
  return found;
}

async function scrape(server: TestServer): Promise<string> {
  const client = cluster.clientFor(server, { token: tokens.admin });
  try {
    const { status, text } = await client.get('/metrics');
    assert.equal(status, 200);
    return text;
  } finally {
    client.close();
  }
}

async function allUp(server: TestServer, workers: number): Promise<void> {
  const wanted = Array.from({ length: workers }, () => 1);
  await eventually(async () => {
    const up = [...(await byWorker(server, 'plinth_worker_up')).values()];
    return up.length === workers && up.every((value, i) => value === wanted[i]);
  }, 'all workers to be up');
}

function pidOf(server: TestServer): number {
  return server.process.pid as number;
}

describe('the parent of workers', () => {
  it('ends all in good order on SIGTERM, with exit code 0', async () => {
    const server = await cluster.addServer(undefined, ['--workers=2']);
    await allUp(server, 2);
    const workers = childrenOf(pidOf(server));
    await server.stop();
    cluster.servers.splice(cluster.servers.indexOf(server), 1);
    assert.equal(server.process.exitCode, 0);
    assert.deepEqual(workers.filter(isRunning), []);
    assert.equal(server.log.match(/ stopped worker=/g)?.length, 2, server.log);
  });

  it('leaves no orphans when it is killed', async () => {
    const server = await cluster.addServer(undefined, ['--workers=2']);
    await allUp(server, 2);
    const workers = childrenOf(pidOf(server));
    assert.equal(workers.length, 2);
    await server.stop('SIGKILL');
    cluster.servers.splice(cluster.servers.indexOf(server), 1);
    await eventually(() => workers.every((pid) => !isRunning(pid)), 'the workers to end');
  });

  it('ends when it is told to while the first one waits for the database', { timeout: 120_000 }, async () => {
    const flags = ['--workers=2', '--bind-address=127.0.0.1', `--secure-port=${await freePort()}`];
    const child = spawn(
      process.execPath,
      [
        mainFile,
        'serve',
        ...flags,
        `--tls-cert-file=${cluster.pki.serving.certificateFile}`,
        `--tls-private-key-file=${cluster.pki.serving.privateKeyFile}`,
      ],
      {
        env: { ...process.env, PLINTH_DATABASE_URL: 'postgresql://127.0.0.1:1/plinth' },
        stdio: ['ignore', 'inherit', 'pipe'],
      },
    );
    endWithUs(child);
    try {
      let output = '';
      const waits = new Promise<void>((resolve) => {
        child.stderr?.on('data', (chunk: Buffer) => {
          output += chunk.toString();
          if (output.includes('the start waits for the database')) resolve();
        });
      });
      await waits;
      child.kill('SIGTERM');
      const [code] = await once(child, 'close');
      assert.equal(code, 0, output);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('says once why it cannot start', async () => {
    const occupied = createServer().listen(0, '127.0.0.1');
    await once(occupied, 'listening');
    const { port } = occupied.address() as { port: number };
    const child = spawn(
      process.execPath,
      [
        mainFile,
        'serve',
        '--workers=3',
        '--bind-address=127.0.0.1',
        `--secure-port=${port}`,
        `--tls-cert-file=${cluster.pki.serving.certificateFile}`,
        `--tls-private-key-file=${cluster.pki.serving.privateKeyFile}`,
      ],
      { env: { ...process.env, PLINTH_DATABASE_URL: cluster.databaseUrl }, stdio: ['ignore', 'inherit', 'pipe'] },
    );
    try {
      let output = '';
      child.stderr?.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
      const [code] = await once(child, 'close');
      assert.equal(code, 1);
      assert.equal(output.match(/^plinth: .*EADDRINUSE/gm)?.length, 1, output);
    } finally {
      child.kill('SIGKILL');
      occupied.close();
    }
  });
});
