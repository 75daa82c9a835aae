import assert from 'node:assert/strict';
import { after, afterEach, describe, it } from 'node:test';
import {
  CoreV1Api,
  type Informer,
  KubeConfig,
  makeInformer,
  type ObjectCache,
  type V1ConfigMap,
} from '@kubernetes/client-node';
import pg from 'pg';
import { fence } from '../../src/storage/postgres/fence.js';
import { databaseFindings } from '../../src/tools/cli/doctor/database.js';
import type { Finding } from '../../src/tools/cli/doctor/finding.js';
import { PgBouncer } from '../support/pgbouncer.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import type { TestPostgres, TestStandby } from '../support/test-postgres.js';
import type { ApiResponse } from './support/api-client.js';
import { eventually, type Route, TestCluster, type TestServer } from './support/test-cluster.js';
import { type ConfigMap, Contents, LoadWriter, Mirror, summary } from './support/versioned-load.js';

const path = '/api/v1/namespaces/default/configmaps';
const leap = 1_000_000_000n;

interface Stage {
  readonly cluster: TestCluster;
  readonly standby: TestStandby;
  readonly stop: () => Promise<void>;
}

/** A cluster whose primary has a standby, and a proxy to the database that can be moved from one to the other. */
async function prepare(pooled: boolean): Promise<Stage & { readonly move: () => void }> {
  let proxy: TcpProxy | undefined;
  const route = async (postgres: TestPostgres, databaseUrl: string): Promise<Route> => {
    const moving = await TcpProxy.start(postgres.port);
    proxy = moving;
    if (!pooled) return { databaseUrl: moving.through(databaseUrl), stop: () => moving.stop() };
    // The pooler hides from the servers that its own connections break and then lead elsewhere.
    const pooler = await PgBouncer.start(moving.through(postgres.adminUrl));
    return {
      databaseUrl: pooler.through(databaseUrl),
      stop: async () => {
        await pooler.stop();
        await moving.stop();
      },
    };
  };
  const cluster = await TestCluster.start({ servers: 2, route, pooler: 'none' });
  const standby = await cluster.postgres.createStandby();
  return {
    cluster,
    standby,
    move: () => {
      proxy?.moveTo(standby.port);
      proxy?.cut();
    },
    stop: async () => {
      await cluster.stop();
      await standby.stop();
    },
  };
}

function informerOn(cluster: TestCluster, server: number): Informer<V1ConfigMap> & ObjectCache<V1ConfigMap> {
  const config = new KubeConfig();
  config.loadFromFile(cluster.servers[server]?.kubeconfig as string);
  const api = config.makeApiClient(CoreV1Api);
  return makeInformer(config, path, () => api.listNamespacedConfigMap({ namespace: 'default' }));
}

async function create(cluster: TestCluster, server: number, name: string): Promise<bigint | undefined> {
  const answer = await cluster.servers[server]?.client.post(path, { metadata: { name } }).catch(() => undefined);
  return answer?.status === 201 ? BigInt(answer.body.metadata.resourceVersion) : undefined;
}

async function metric(cluster: TestCluster, server: number, name: string, labels = '[^}]*'): Promise<number> {
  const { text } = (await cluster.servers[server]?.client.get('/metrics')) ?? { text: '' };
  return Number(new RegExp(`^${name}(?:\\{${labels}\\})? (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

async function stateAt(cluster: TestCluster, server: number, query: string): Promise<string[] | undefined> {
  const answer = await cluster.servers[server]?.client.get(`${path}${query}`);
  return (answer?.body.items as ConfigMap[] | undefined)?.map(summary).sort();
}

describe('a fail-over', () => {
  let stage: (Stage & { readonly move: () => void }) | undefined;
  const informers: Informer<V1ConfigMap>[] = [];
  let running = false;

  afterEach(async () => {
    running = false;
    for (const informer of informers.splice(0)) await informer.stop();
    await stage?.stop();
    stage = undefined;
  });

  for (const pooled of [false, true]) {
    const where = pooled ? ', behind a pooler that hides it' : '';
    it(`to a standby that lagged ends old versions with 410 and hands none out twice${where}`, async () => {
      stage = await prepare(pooled);
      const { cluster, standby } = stage;
      const handedOut = new Map<bigint, string>();
      const remember = (version: bigint | undefined, name: string): bigint => {
        assert.ok(version !== undefined, `${name} was not written`);
        assert.equal(handedOut.get(version), undefined, `version ${version} of ${name} was handed out before`);
        handedOut.set(version, name);
        return version;
      };
      const kept = remember(await create(cluster, 0, 'kept'), 'kept');
      running = true;
      const seen = [informerOn(cluster, 0), informerOn(cluster, 1)];
      for (const informer of seen) {
        informers.push(informer);
        informer.on('error', () => {
          if (running) setTimeout(() => void informer.start().catch(() => undefined), 100);
        });
        await informer.start();
      }
      await standby.caughtUp();
      standby.detach();
      // Acknowledged, but known only to the first server and its clients.
      let newest = kept;
      for (let i = 0; i < 50; i++) newest = remember(await create(cluster, 0, `lost${i}`), `lost${i}`);
      await eventually(() => seen.every((informer) => informer.get('lost49', 'default') !== undefined), 'informers');
      const watch = await cluster.first.client.watch(`${path}?watch=1&resourceVersion=${newest}`);

      await cluster.postgres.shutDown('immediate');
      await standby.promote();
      stage.move();

      // The second server has not written yet, so it does not know how far the first one got.
      for (const [server, name] of [
        [1, 'next-b'],
        [0, 'next-a'],
      ] as const) {
        const version = await eventually(() => create(cluster, server, name), `${name} after the fail-over`, 60_000);
        assert.ok(remember(version, name) > newest + leap / 2n, `${version} is not beyond ${newest}`);
      }
      const ended = await watch.next(60_000);
      assert.equal(ended?.type, 'ERROR', JSON.stringify(ended));
      assert.equal(ended?.object.code, 410);
      for (const server of cluster.servers) {
        for (const version of handedOut.keys()) {
          if (version > newest) continue;
          const { status, text } = await server.client.get(
            `${path}?resourceVersion=${version}&resourceVersionMatch=Exact`,
          );
          assert.equal(status, 410, text);
          const late = await server.client.watch(`${path}?watch=1&resourceVersion=${version}`);
          const first = late.status === 200 ? (await late.next())?.object.code : late.status;
          assert.equal(first, 410, `watch from ${version}`);
          late.close();
        }
        const { body } = await server.client.get(path);
        const names = body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
        assert.deepEqual(names.sort(), ['kept', 'next-a', 'next-b']);
      }
      for (const informer of seen) {
        await eventually(
          () =>
            informer
              .list('default')
              .map((item) => item.metadata?.name)
              .sort()
              .join() === 'kept,next-a,next-b',
          'the informer to show the history that goes on',
        );
      }
      // The loss of acknowledged writes is reported.
      assert.ok((await metric(cluster, 0, 'storage_missing_versions_total')) >= 50);
      assert.match(cluster.first.log, /lacks versions that were handed out/);
      assert.equal(await metric(cluster, 0, 'storage_epoch'), 2);
      assert.equal(await metric(cluster, 1, 'storage_epoch'), 2);
    });
  }

  it('under load gives every version one content, and memory shows the history that goes on', async () => {
    stage = await prepare(true);
    const { cluster, standby } = stage;
    const contents = new Contents();
    const writers = [0, 0, 1, 1].map((server, i) => new LoadWriter(cluster, server, `w${i}`, contents, path));
    const mirrors = [0, 1].map((server) => new Mirror(cluster, server, contents, path));
    const written = (least: number) =>
      eventually(() => writers.every(({ acknowledged }) => acknowledged >= least), `${least} writes`, 90_000);
    const going = [...writers, ...mirrors].map((client) => client.run());
    try {
      await written(20);
      await standby.caughtUp();
      standby.detach();
      const kept = contents.newest;
      // Committed and delivered, but unknown to the standby.
      await written(60);
      await cluster.postgres.shutDown('immediate');
      const lost = contents.newest;
      assert.ok(lost > kept);
      await standby.promote();
      stage.move();
      for (const writer of writers) writer.acknowledged = 0;
      await written(20);
      for (const writer of writers) writer.stop();
      await Promise.all(going.slice(0, writers.length));

      assert.ok(contents.newest > lost + leap / 2n);
      const expected = await stateAt(cluster, 0, '');
      for (const [server, mirror] of mirrors.entries()) {
        // From then on the informer makes no lists, so the counted lists are those of the test.
        await eventually(() => String(mirror.state) === String(expected), 'the watch to show it, too');
        const hits = async () =>
          (await metric(cluster, server, 'plinth_watch_cache_reads_total', 'resource="configmaps",result="hit"')) || 0;
        await eventually(async () => {
          const before = await hits();
          return (await stateAt(cluster, server, '')) !== undefined && (await hits()) > before;
        }, 'the cache to be filled again');
        const before = await hits();
        for (const query of ['', '?resourceVersion=0', `?resourceVersion=${contents.newest}`]) {
          assert.deepEqual(await stateAt(cluster, server, query), expected, `a list${query} of server ${server}`);
        }
        assert.equal(await hits(), before + 3, 'lists come from memory');
        assert.ok(mirror.restarts > 0, 'a watch went on over lost versions');
        for (const version of [kept + 1n, lost]) {
          for (const match of [`resourceVersionMatch=Exact`, 'watch=1']) {
            const client = cluster.servers[server]?.client as TestServer['client'];
            const answer = await client.watch(`${path}?${match}&resourceVersion=${version}`);
            const code = answer.status === 200 ? (await answer.next())?.object.code : answer.status;
            assert.equal(code, 410, `${match} of ${version}`);
            answer.close();
          }
        }
      }
    } finally {
      for (const client of [...writers, ...mirrors]) client.stop();
      await Promise.all(going);
    }
    assert.deepEqual(contents.contradictions, []);
  });

  it('that loses nothing lets watches go on', async () => {
    stage = await prepare(false);
    const { cluster, standby } = stage;
    const before = await create(cluster, 0, 'before');
    const watch = await cluster.second.client.watch(`${path}?watch=1&resourceVersion=${before}`);
    await create(cluster, 0, 'last');
    await watch.take(1);
    await standby.caughtUp();
    await cluster.postgres.shutDown('fast');
    await standby.promote();
    stage.move();
    const next = await eventually(() => create(cluster, 0, 'next'), 'a write after the fail-over', 60_000);
    assert.ok(next > leap, 'somebody may have seen more');
    const [event] = await watch.take(1, 60_000);
    assert.equal(event?.type, 'ADDED');
    assert.equal(event?.object.metadata.name, 'next');
    watch.close();
    const old = await cluster.first.client.get(`${path}?resourceVersion=${before}&resourceVersionMatch=Exact`);
    assert.equal(old.status, 200);
    assert.equal(await metric(cluster, 0, 'storage_missing_versions_total'), 0);
    assert.equal(await metric(cluster, 0, 'storage_epoch'), 1);
  });

  it('to the standby that a server with workers reads from leaves its watches without a gap', async () => {
    stage = await prepare(false);
    const { cluster, standby } = stage;
    const replica = new URL(cluster.databaseUrl);
    replica.port = String(standby.port);
    const reader = await cluster.addServer(undefined, ['--workers=2', `--read-database-url=${replica}`]);
    const { body } = await reader.client.get(path);
    const from = body.metadata.resourceVersion;
    const watches = await Promise.all([0, 1].map(() => reader.client.watch(`${path}?watch=1&resourceVersion=${from}`)));
    const written: string[] = [];
    for (let i = 0; i < 20; i++) {
      written.push(`w${i}`);
      await create(cluster, i % 3, `w${i}`);
      const { body: list } = await reader.client.get(path);
      assert.equal(list.items.length, i + 1, 'a list shows what was written before it');
    }
    const by = 'by="replica",worker="\\d"';
    const last = cluster.servers.indexOf(reader);
    await eventually(async () => (await metric(cluster, last, 'storage_replica_reads_total', by)) > 0, 'replica reads');

    await standby.caughtUp();
    const needs = { databaseUrl: cluster.databaseUrl, listenDatabaseUrl: undefined, connections: 5 };
    const verdict = async (readDatabaseUrl: string) => {
      const findings = await databaseFindings({ ...needs, readDatabaseUrl }, () => Date.now());
      const { verdict, text, remedy } = findings.find(({ check }) => check === 'read replica') as Finding;
      return `${verdict}: ${text} -> ${remedy}`;
    };
    assert.match(await verdict(replica.href), /^ok: it had what the primary wrote/);
    assert.match(await verdict(cluster.databaseUrl), /^error: the read replica is not a standby -> name a standby/);
    const empty = replica.href.replace(/plinth_test_\w+/, 'nowhere');
    assert.match(await verdict(empty), /^error: database "nowhere" does not exist -> create .* in --read-database-url/);

    await cluster.postgres.shutDown('fast');
    await standby.promote();
    stage.move();
    const after = async () => (await create(cluster, 0, 'after')) !== undefined;
    await eventually(after, 'a write after the fail-over');
    for (const watch of watches) {
      const names = [];
      for (let i = 0; i <= written.length; i++) names.push((await watch.next(60_000))?.object.metadata.name);
      assert.deepEqual(names, [...written, 'after']);
      watch.close();
    }
    assert.equal((await reader.client.get(path)).body.items.length, written.length + 1);
    assert.match(reader.log, /the read replica is not read/);
  });

  it('that has not happened yet: a standby serves nothing, and several hosts lead to the primary', async () => {
    stage = await prepare(false);
    const { cluster, standby } = stage;
    await create(cluster, 0, 'a');
    await standby.caughtUp();
    // The proxy leads to the standby before its promotion: writes fail, and no old version is returned.
    stage.move();
    const write = () => cluster.first.client.post(path, { metadata: { name: 'b' } });
    // A write that was under way when the connections were cut may have been committed.
    await write();
    // Not at once: the server notices the end of each old connection when it uses the connection.
    const saysSo = async (ask: () => Promise<ApiResponse>) => {
      const { status, text, body } = await ask();
      assert.ok(status >= 500, text);
      return status === 503 && /the database is a standby and takes no writes/.test(body.message);
    };
    await eventually(() => saysSo(write), 'a write to be told why it is refused');
    await eventually(() => saysSo(() => cluster.second.client.get(`${path}/a`)), 'a read to be told, too');
    await eventually(async () => (await cluster.first.client.get('/readyz')).status === 500, 'readiness to fail');
    // A server that knows both hosts finds the one that accepts writes.
    const direct = new URL(cluster.databaseUrl);
    const both = cluster.databaseUrl.replace(direct.host, `127.0.0.1:${standby.port},${direct.host}`);
    const server = await cluster.addServer(undefined, [`--database-url=${both}?target_session_attrs=read-write`]);
    const written = await server.client.post(path, { metadata: { name: 'c' } });
    assert.equal(written.status, 201, written.text);
    await cluster.postgres.shutDown('immediate');
    await standby.promote();
    await eventually(
      async () => (await server.client.post(path, { metadata: { name: 'd' } })).status === 201,
      'a write to the promoted host',
      60_000,
    );
  });
});

describe('a restore of an older backup', () => {
  let cluster: TestCluster | undefined;
  after(() => cluster?.stop());

  it('is safe to serve after the fence', async () => {
    cluster = await TestCluster.start({ servers: 1, pooler: 'none' });
    const started = cluster;
    await create(cluster, 0, 'kept');
    const database = new URL(cluster.databaseUrl).pathname.slice(1);
    await cluster.first.stop();
    const admin = new pg.Client({ connectionString: cluster.postgres.adminUrl });
    await admin.connect();
    // The same server at the same address: only its content shows that time went back.
    await admin.query(`create database backup template ${database}`);
    cluster.servers.splice(0);
    await cluster.addServer();
    const lost: bigint[] = [];
    for (let i = 0; i < 20; i++) lost.push((await create(cluster, 0, `lost${i}`)) ?? 0n);
    await cluster.first.stop();
    cluster.servers.splice(0);
    await admin.query(`drop database ${database}`);
    await admin.query(`alter database backup rename to ${database}`);
    await admin.end();

    const result = await fence(cluster.databaseUrl, { bump: leap, force: false });
    assert.ok(result.head > (lost.at(-1) ?? 0n) + leap / 2n);
    await cluster.addServer();
    const { client } = cluster.first;
    assert.equal((await client.get(path)).body.items.length, 1);
    for (const version of lost) {
      const late = await client.watch(`${path}?watch=1&resourceVersion=${version}`);
      assert.equal(late.status === 200 ? (await late.next())?.object.code : late.status, 410);
      late.close();
    }
    const next = await create(started, 0, 'next');
    assert.ok((next ?? 0n) > result.head);
  });
});
