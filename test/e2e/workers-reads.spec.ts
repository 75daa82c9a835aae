import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { childrenOf } from './support/processes.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';

const workers = 2;
const mostConnections = 2;
const configMaps = '/api/v1/namespaces/default/configmaps';
let cluster: TestCluster;

before(async () => {
  const flags = [`--workers=${workers}`, '--workers-read-directly', `--database-pool-size=${mostConnections}`];
  cluster = await TestCluster.start({ servers: 1, flags });
});
after(() => cluster?.stop());

/** The number of connections of a process to a port of this machine. */
function connectionsTo(pid: number, port: number): number {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const inodes = new Set<string>();
  for (const line of readFileSync(`/proc/${pid}/net/tcp`, 'utf8').split('\n').slice(1)) {
    const [, , remote, , , , , , , inode] = line.trim().split(/\s+/);
    if (remote?.endsWith(`:${hex}`) && inode !== undefined) inodes.add(`socket:[${inode}]`);
  }
  const folder = `/proc/${pid}/fd`;
  const opened = readdirSync(folder).flatMap((fd) => {
    try {
      return [readlinkSync(`${folder}/${fd}`)];
    } catch {
      return [];
    }
  });
  return opened.filter((target) => inodes.has(target)).length;
}

describe('workers that read over connections of their own', () => {
  it('answer with what any of them wrote, and keep to their number of connections', async () => {
    const server = cluster.first;
    const clients = Array.from({ length: 8 }, () => cluster.clientFor(server, { token: tokens.admin }));
    const [first] = clients;
    assert.ok(first);
    await Promise.all(
      clients.map(async (client, i) => {
        for (let round = 0; round < 10; round++) {
          const name = `c-${i}-${round}`;
          assert.equal((await client.post(configMaps, { metadata: { name } })).status, 201);
          const reader = clients[(i + round) % clients.length] ?? client;
          assert.equal((await reader.get(`${configMaps}/${name}`)).status, 200);
        }
      }),
    );
    const port = Number(new URL(cluster.databaseUrl).port);
    let counts: readonly number[] = [];
    // The last worker may have come later than the clients.
    const haveAllRead = async () => {
      const late = cluster.clientFor(server, { token: tokens.admin });
      assert.equal((await late.get(`${configMaps}/c-0-0`)).status, 200);
      late.close();
      counts = childrenOf(server.process.pid as number).map((pid) => connectionsTo(pid, port));
      return counts.length === workers && counts.every((count) => count >= 1);
    };
    await eventually(haveAllRead, 'connections of each worker');
    for (const count of counts) assert.ok(count <= mostConnections, counts.join());
    for (const client of clients) client.close();
  });

  it('read again when all connections were cut', async () => {
    const client = cluster.clientFor(cluster.first, { token: tokens.admin });
    const admin = new pg.Client({ connectionString: cluster.databaseUrl });
    await admin.connect();
    try {
      await client.post(configMaps, { metadata: { name: 'kept' } });
      const { rowCount } = await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid()`,
      );
      assert.ok((rowCount ?? 0) >= 3, String(rowCount));
      assert.equal((await client.get(`${configMaps}/kept`)).status, 200);
      const write = async () => (await client.post(configMaps, { metadata: { name: 'later' } })).status !== 503;
      await eventually(write, 'a write after the cut');
      assert.equal((await client.get(`${configMaps}/later`)).status, 200);
    } finally {
      await admin.end();
      client.close();
    }
  });
});
