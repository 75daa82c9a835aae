import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { Http2Client } from './support/http2-client.js';
import { childrenOf, isRunning, openFiles } from './support/processes.js';
import { eventually, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

const count = 3;
const configMaps = '/api/v1/namespaces/default/configmaps';
let cluster: TestCluster;

before(async () => {
  cluster = await TestCluster.start({ servers: 1, flags: [`--workers=${count}`] });
  await allUp(cluster.first);
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

async function allUp(server: TestServer, workers = count): Promise<void> {
  const wanted = Array.from({ length: workers }, () => 1);
  await eventually(async () => {
    const up = [...(await byWorker(server, 'plinth_worker_up')).values()];
    return up.length === workers && up.every((value, i) => value === wanted[i]);
  }, 'all workers to be up');
}

function pidOf(server: TestServer): number {
  return server.process.pid as number;
}

describe('workers', () => {
  it('share the port for both HTTP versions, and each answers everything', async () => {
    const server = cluster.first;
    for (let i = 0; i < 4 * count; i++) {
      const one = cluster.clientFor(server, { token: tokens.admin });
      const two = await Http2Client.connect(server.url, cluster.pki.authority, tokens.admin);
      for (const path of ['/healthz', '/livez', '/readyz', '/api/v1/namespaces/default']) {
        assert.equal((await one.get(path)).status, 200, path);
        assert.equal((await two.send('GET', path)).status, 200, path);
      }
      one.close();
      await two.close();
    }
    const answered = await byWorker(server, 'apiserver_request_total');
    assert.deepEqual([...answered.keys()].sort(), ['1', '2', '3']);
    for (const [worker, requests] of answered) assert.ok(requests >= 16, `worker ${worker} answered ${requests}`);
  });

  it('see writes of the others, in watches too', async () => {
    const clients = Array.from({ length: count }, () => cluster.clientFor(cluster.first, { token: tokens.admin }));
    const { body } = await (clients[0] as (typeof clients)[0]).get(configMaps);
    const from = body.metadata.resourceVersion;
    const watches = await Promise.all(
      clients.map((c) =>
        c.watch(`${configMaps}?watch=true&resourceVersion=${from}&fieldSelector=metadata.name=shared`),
      ),
    );
    const writer = cluster.clientFor(cluster.first, { token: tokens.admin });
    const created = await writer.post(configMaps, { metadata: { name: 'shared' } });
    assert.equal(created.status, 201);
    for (const client of clients) assert.equal((await client.get(`${configMaps}/shared`)).status, 200);
    for (const watch of watches) {
      const event = await watch.next();
      assert.equal(event?.object.metadata.resourceVersion, created.body.metadata.resourceVersion);
      watch.close();
    }
    for (const client of [...clients, writer]) client.close();
  });

  it('are scraped as one, whichever answers', async () => {
    const seen = new Set<string>();
    for (let i = 0; i < 2 * count; i++) {
      const text = await scrape(cluster.first);
      const families = text.split('\n').filter((line) => line.startsWith('# TYPE '));
      assert.equal(new Set(families).size, families.length, 'each family once');
      const series = text
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => line.slice(0, line.lastIndexOf(' ')));
      assert.equal(new Set(series).size, series.length, 'each series once');
      const starts = series.filter((line) => line.startsWith('process_start_time_seconds'));
      assert.equal(starts.length, count + 1, 'what belongs to a process is shown for each, the parent too');
      seen.add(String(series.filter((line) => line.startsWith('plinth_worker_up')).length));
    }
    assert.deepEqual([...seen], [String(count)]);
  });

  it('are scraped in protobuf as one, with native histograms', async () => {
    const client = cluster.clientFor(cluster.first, { token: tokens.admin });
    const family = 'proto=io.prometheus.client.MetricFamily';
    const accept = `application/vnd.google.protobuf;${family};encoding=delimited`;
    const { headers, text } = await client.get('/metrics', { headers: { accept } });
    client.close();
    assert.match(String(headers['content-type']), /^application\/vnd\.google\.protobuf; /);
    for (let worker = 1; worker <= count; worker++) assert.ok(text.includes(`\n\u0006worker\u0012\u0001${worker}`));
    assert.ok(text.includes(`1${'\0'.repeat(6)}\ufffd7`), 'the zero threshold of 2^-128, which no other form has');
  });

  it('leave what the database is like to the process that looks after it', async () => {
    const epochs = await byWorker(cluster.first, 'storage_epoch');
    assert.deepEqual([...epochs.values()], [1]);
  });

  it('show their queues and flows as one, whichever answers', async () => {
    for (const page of ['dump_priority_levels', 'dump_queues', 'dump_requests?includeRequestDetails=1']) {
      const heads = new Set<string>();
      for (let i = 0; i < count; i++) {
        const { status, text } = await cluster.first.client.get(`/debug/api_priority_and_fairness/${page}`);
        assert.equal(status, 200);
        const [head = [], ...rows] = text
          .trim()
          .split('\n')
          .map((line) => line.split(/, */));
        assert.equal(head.at(-1), 'Worker');
        heads.add(head.join());
        const named = rows.map((row) => row.at(-1));
        const levels = rows.filter(([level]) => level === 'workload-low').map((row) => row.at(-1));
        if (page === 'dump_priority_levels')
          assert.deepEqual(
            levels,
            Array.from({ length: count }, (_, n) => String(n + 1)),
          );
        else assert.ok(named.every((worker) => Number(worker) >= 1 && Number(worker) <= count));
      }
      assert.equal(heads.size, 1);
    }
  });

  it('are replaced when they crash, while the others go on', async () => {
    const server = cluster.first;
    const before = childrenOf(pidOf(server));
    assert.equal(before.length, count);
    process.kill(before[1] as number, 'SIGKILL');
    for (let i = 0; i < 10; i++) {
      const client = cluster.clientFor(server, { token: tokens.admin });
      assert.equal((await client.get('/readyz')).status, 200);
      client.close();
    }
    await eventually(async () => {
      const restarts = [...(await byWorker(server, 'plinth_worker_restarts_total')).values()];
      return restarts.reduce((sum, value) => sum + value, 0) === 1;
    }, 'the restart to be counted');
    await allUp(server);
    assert.match(server.log, /a worker ended and is restarted worker=\d reason=SIGKILL/);
    assert.match(server.log, /serving worker=\d/);
    assert.equal(childrenOf(pidOf(server)).length, count);
  });

  it('share the clients that connected while one of them was away', async () => {
    const server = cluster.first;
    const listed = async (): Promise<number[]> => {
      const counts = new Map<number, number>();
      for (const line of (await scrape(server)).split('\n')) {
        const worker = /^apiserver_request_total\{.*resource="podtemplates".*worker="(\d)"/.exec(line)?.[1];
        if (worker !== undefined) counts.set(Number(worker), Number(line.split(' ').at(-1)));
      }
      return Array.from({ length: count }, (_, i) => counts.get(i + 1) ?? 0);
    };
    const clients = Array.from({ length: 3 * count }, () => cluster.clientFor(server, { token: tokens.admin }));
    const two = await Http2Client.connect(server.url, cluster.pki.authority, tokens.admin);
    const [stuck] = childrenOf(pidOf(server));
    process.kill(stuck as number, 'SIGKILL');
    const ask = async (): Promise<void> => {
      for (const client of clients) {
        assert.equal((await client.get('/api/v1/namespaces/default/podtemplates')).status, 200);
      }
    };
    try {
      await ask();
      await allUp(server);
      // The old connections end with their next answer; what follows reaches all.
      await ask();
      await ask();
      const before = await listed();
      await ask();
      const now = await listed();
      const gained = now.map((value, i) => value - (before[i] as number));
      assert.ok(
        gained.every((requests) => requests > 0),
        `the workers answered ${gained}`,
      );
      await eventually(() => two.session.destroyed, 'the HTTP/2 connection to end');
    } finally {
      for (const client of clients) client.close();
      await two.close();
    }
  });

  it('that die with a connection in their hands leave it to another', async () => {
    const server = cluster.first;
    const [stuck] = childrenOf(pidOf(server));
    const clients = Array.from({ length: count }, () => cluster.clientFor(server, { token: tokens.admin }));
    // Each worker in turn gets one; the stopped one can neither take nor refuse it.
    process.kill(stuck as number, 'SIGSTOP');
    try {
      let answered = 0;
      const answers = clients.map(async (client) => {
        const { status } = await client.get('/livez');
        answered++;
        return status;
      });
      await eventually(() => answered === count - 1, 'the other workers to answer');
      process.kill(stuck as number, 'SIGKILL');
      assert.deepEqual(await Promise.all(answers), Array(count).fill(200));
    } finally {
      if (isRunning(stuck as number)) process.kill(stuck as number, 'SIGKILL');
      for (const client of clients) client.close();
    }
    await allUp(server);
  });

  it('that hang are killed, so that their clients go to another', { timeout: 120_000 }, async () => {
    const server = cluster.first;
    const clients = Array.from({ length: count }, () => cluster.clientFor(server, { token: tokens.admin }));
    const watches = await Promise.all(clients.map((client) => client.watch(`${configMaps}?watch=true`)));
    const ends = watches.map(async (watch) => {
      for (;;) {
        const event = await watch.next(60_000).catch((error: Error) => {
          if (error.message.startsWith('no watch event')) throw error;
          return undefined;
        });
        if (event === undefined) return;
      }
    });
    const [stuck] = childrenOf(pidOf(server));
    process.kill(stuck as number, 'SIGSTOP');
    try {
      await Promise.race(ends);
      await eventually(() => !isRunning(stuck as number), 'the worker that hangs to be killed');
    } finally {
      if (isRunning(stuck as number)) process.kill(stuck as number, 'SIGKILL');
      for (const client of clients) client.close();
      await Promise.all(ends);
    }
    const reported = /a worker does not answer and is killed worker=\d silentMs=30000/;
    await eventually(() => reported.test(server.log), 'a word in the log');
    await allUp(server);
  });

  it('are started again when there was no room for them', async () => {
    const server = cluster.first;
    const pid = pidOf(server);
    const limit = (files: number | string) => execFileSync('prlimit', ['--pid', String(pid), `--nofile=${files}:`]);
    const usual = /Max open files\s+(\d+)/.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1] as string;
    const [worker] = childrenOf(pid);
    limit(openFiles(pid) - 5);
    try {
      process.kill(worker as number, 'SIGKILL');
      await eventually(
        () => /a worker ended and is restarted worker=\d reason="[^"]*EMFILE/.test(server.log),
        'a failed start',
      );
    } finally {
      limit(usual);
    }
    await allUp(server);
    assert.equal(childrenOf(pid).length, count);
  });

  it('that are stopped one by one finish and are replaced; nothing piles up in the parent', async () => {
    const server = cluster.first;
    const pid = pidOf(server);
    const files = openFiles(pid);
    for (let round = 0; round < 3; round++) {
      const [worker] = childrenOf(pid);
      process.kill(worker as number, 'SIGTERM');
      await eventually(() => !isRunning(worker as number), 'the worker to end');
      await allUp(server);
    }
    assert.match(server.log, /a worker ended and is restarted worker=\d reason="exit code 0" waitMs=0/);
    await eventually(() => openFiles(pid) <= files, `not more than ${files} open files`);
  });
});
