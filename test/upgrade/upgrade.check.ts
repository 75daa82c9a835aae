import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { ApiClient } from '../e2e/support/api-client.js';
import { eventually, TestCluster, type TestServer, tokens } from '../e2e/support/test-cluster.js';
import { TcpBalancer } from '../support/tcp-balancer.js';
import { Load } from './load.js';
import {
  firstPackedCommit,
  installRelease,
  migrationsOf,
  nextMinor,
  type Release,
  withFunction,
  withMigration,
} from './releases.js';

/**
 * Rolls two servers and the control loops from one packed release to another under load, and back:
 * `npm run check:upgrade -- --from COMMIT --to COMMIT`. Exits with 1 if a write or an event got lost.
 */
const { values } = parseArgs({ options: { from: { type: 'string' }, to: { type: 'string', default: 'HEAD' } } });

const log = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** A cluster of the older release on a database that only this one has migrated. */
async function startOld(old: Release): Promise<TestCluster> {
  const cluster = await TestCluster.start({
    servers: 0,
    mainFile: old.mainFile,
    flags: ['--shutdown-delay-duration=1s'],
    route: async (postgres) => {
      const admin = new pg.Client({ connectionString: postgres.adminUrl });
      await admin.connect();
      await admin.query('create database upgrade');
      await admin.end();
      const databaseUrl = new URL(postgres.adminUrl);
      databaseUrl.pathname = '/upgrade';
      return { databaseUrl: databaseUrl.href, stop: async () => {} };
    },
  });
  await migrate(cluster);
  await cluster.addServer();
  await cluster.addServer();
  return cluster;
}

async function migrate(cluster: TestCluster): Promise<void> {
  const [code] = await once(cluster.startProgram('migrate', []), 'exit');
  if (code !== 0) throw new Error(`migrate ended with ${code}`);
}

async function balance(cluster: TestCluster): Promise<TcpBalancer> {
  const ports = cluster.servers.map(({ url }) => Number(new URL(url).port));
  return TcpBalancer.start(ports, async (port) => {
    const client = new ApiClient(`https://127.0.0.1:${port}`, { ca: cluster.pki.authority, token: tokens.admin });
    try {
      return (await client.get('/readyz')).status === 200;
    } finally {
      client.close();
    }
  });
}

/** One rolling restart, and its faults. */
async function roll(old: Release, next: Release): Promise<string[]> {
  const changesTables = migrationsOf(next) > migrationsOf(old);
  log(`\n${old.version} (${old.commit}) to ${next.version} (${next.commit})${changesTables ? ', tables change' : ''}`);
  const faults: string[] = [];
  const cluster = await startOld(old);
  const balancer = await balance(cluster);
  try {
    const connect = () =>
      new ApiClient(`https://127.0.0.1:${balancer.port}`, { ca: cluster.pki.authority, token: tokens.admin });
    const load = new Load(connect);
    const replace = async (server: TestServer): Promise<void> => {
      const port = Number(new URL(server.url).port);
      await cluster.restartServer(server);
      await eventually(() => balancer.readyPorts.includes(port), 'the balancer to see the server');
      await load.goesOn();
    };
    let loops = cluster.startControllers();
    const replaceLoops = async (): Promise<void> => {
      loops.kill('SIGTERM');
      if (loops.exitCode === null && loops.signalCode === null) await once(loops, 'exit');
      loops = cluster.startControllers();
    };
    await load.start();
    await load.goesOn();

    cluster.useProgram(next.mainFile);
    await migrate(cluster);
    log('  migrated while the old release serves');
    await load.goesOn();
    for (const server of [...cluster.servers]) {
      await replace(server);
      log('  a server replaced');
    }
    await replaceLoops();
    faults.push(...(await loopsWork(cluster, 'after')));
    log('  the control loops replaced');

    cluster.useProgram(old.mainFile);
    if (changesTables) {
      const refusal = await cluster.addServer().then(
        () => 'it starts',
        (error: Error) => error.message,
      );
      const [line = refusal] = /the database has schema version .*/.exec(refusal) ?? [];
      log(`  the old release again: ${line.trim()}`);
      if (!/this program knows only \d+/.test(refusal)) faults.push(`the old release does not refuse: ${refusal}`);
      await load.goesOn();
    } else {
      await replace(cluster.first);
      log('  a server back on the old release');
      await replaceLoops();
      faults.push(...(await loopsWork(cluster, 'back')));
      log('  the control loops back on the old release');
      cluster.useProgram(next.mainFile);
      for (const server of [...cluster.servers]) await replace(server);
      log('  both servers on the new release again');
    }
    const { faults: lost, ...counts } = await load.stop(cluster.first.client);
    log(`  ${counts.writes} writes, ${counts.events} events of watches, ${counts.reconnects} watches continued`);
    return [...faults, ...lost];
  } finally {
    await balancer.stop();
    await cluster.stop();
  }
}

/** The deployment must get its replica set. */
async function loopsWork(cluster: TestCluster, name: string): Promise<string[]> {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const deployment = { metadata: { name }, spec: { replicas: 1, selector: { matchLabels: labels }, template } };
  const apps = '/apis/apps/v1/namespaces/default';
  const { status, text } = await cluster.second.client.post(`${apps}/deployments`, deployment);
  if (status !== 201) return [`deployment ${name}: ${status} ${text}`];
  const made = async () =>
    (await cluster.second.client.get(`${apps}/replicasets?labelSelector=app=${name}`)).body.items[0];
  return eventually(made, 'a replica set').then(
    () => [],
    (error: Error) => [`${name}: ${error.message}`],
  );
}

const place = mkdtempSync(join(tmpdir(), 'plinth-upgrade-'));
try {
  const old = installRelease(place, values.from ?? firstPackedCommit());
  const next = installRelease(place, values.to, nextMinor);
  // Whatever the difference between the two commits, both kinds of releases are tried: one with a migration, and one
  // without.
  const changesTables = migrationsOf(next) > migrationsOf(old);
  const further = changesTables ? withFunction(next, place) : withMigration(next, place);
  const faults = [...(await roll(old, next)), ...(await roll(next, further))];
  for (const fault of faults.slice(0, 20)) log(`FAULT ${fault}`);
  log(faults.length === 0 ? '\nnothing was lost' : `\n${faults.length} faults`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  rmSync(place, { recursive: true, force: true });
}
