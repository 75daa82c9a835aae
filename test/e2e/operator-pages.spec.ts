import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { OtlpReceiver } from '../support/otlp-receiver.js';
import { readScrape, sumOf } from '../support/scrape.js';
import { holdFor, WebhookServer } from '../support/webhook-server.js';
import { eventually, freePort, TestCluster, tokens } from './support/test-cluster.js';

const maps = '/api/v1/namespaces/default/configmaps';
const webhookMs = 400;
let folder: string;
let receiver: OtlpReceiver;
let hooks: WebhookServer;
let cluster: TestCluster;
let controllersUrl: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'plinth-tracing-'));
  receiver = await OtlpReceiver.start();
  hooks = await WebhookServer.start();
  const tracing = (name: string, rate: number) => {
    const file = join(folder, name);
    const lines = [
      'apiVersion: apiserver.config.k8s.io/v1',
      'kind: TracingConfiguration',
      `endpoint: ${receiver.endpoint}`,
      `samplingRatePerMillion: ${rate}`,
    ];
    writeFileSync(file, lines.join('\n'));
    return `--tracing-config-file=${file}`;
  };
  const port = await freePort();
  controllersUrl = `http://127.0.0.1:${port}`;
  cluster = await TestCluster.start({
    servers: 1,
    flags: [
      '--authorization-mode=RBAC',
      '--slow-request-threshold=200ms',
      '--slow-statement-threshold=150ms',
      '--logging-format=json',
      tracing('server.yaml', 0),
    ],
    controllers: true,
    controllerFlags: [`--controllers-metrics-bind-address=127.0.0.1:${port}`, tracing('loops.yaml', 1_000_000)],
  });
  hooks.on('/slow', () => holdFor(webhookMs).then(() => ({ allowed: true })));
  const webhook = {
    name: 'slow.hooks.test',
    clientConfig: { url: hooks.url('/slow'), caBundle: hooks.caBundle },
    rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    objectSelector: { matchLabels: { hook: 'slow' } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  const { status } = await cluster.first.client.post(path, { metadata: { name: 'slow' }, webhooks: [webhook] });
  assert.equal(status, 201);
  const seen = async () => {
    await cluster.first.client.post(`${maps}?dryRun=All`, slowMap('try'));
    return hooks.received.length > 0;
  };
  await eventually(seen, 'the webhook to be in force');
});
after(async () => {
  await cluster?.stop();
  await hooks?.stop();
  await receiver?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const slowMap = (name: string) => ({
  metadata: { name, labels: { hook: 'slow' } },
  data: { password: 'this-is-a-secret' },
});

describe('pages about the process', () => {
  it('are for those who may read them, monitoring among them', async () => {
    const { client } = cluster.first;
    const paths = ['/statusz', '/flagz', '/metrics', '/metrics/slis', '/debug/pprof/', '/debug/watch_cache'];
    for (const path of paths) {
      assert.equal((await client.get(path)).status, 200, path);
      assert.equal((await client.get(path, { token: tokens.alice })).status, 403, path);
    }
    const monitor = { headers: { 'Impersonate-User': 'prometheus', 'Impersonate-Group': 'system:monitoring' } };
    const answers = await Promise.all(paths.map(async (path) => (await client.get(path, monitor)).status));
    assert.deepEqual(answers, [200, 200, 200, 200, 403, 403]);
  });

  it('show state and flags, and no secrets', async () => {
    const { client } = cluster.first;
    assert.match((await client.get('/statusz')).text, /^apiserver statusz\n[\s\S]*\nUp: \d+ hr \d\d min \d\d sec\n/);
    const { text } = await client.get('/flagz');
    assert.match(text, /^apiserver flags\n/);
    assert.match(text, /\nauthorization-mode=RBAC\n/);
    assert.match(text, /\nslow-request-threshold=200ms\n/);
    const url = new URL(cluster.databaseUrl);
    assert.match(text, /\ndatabase-url=CLASSIFIED\n/);
    assert.ok(!text.includes(url.pathname.slice(1)) || url.password === '' || !text.includes(url.password));
  });

  it('are objects for those who ask for their kinds, without secrets too', async () => {
    const { client } = cluster.first;
    const get = (path: string, accept: string) => client.get(path, { headers: { accept } });
    const type = (kind: string, version = 'v1beta1') => `application/json;g=config.k8s.io;v=${version};as=${kind}`;
    const status = await get('/statusz', type('Statusz'));
    assert.equal(status.headers['content-type'], type('Statusz'));
    assert.equal(status.body.kind, 'Statusz');
    assert.equal(status.body.emulationVersion, '1.37');
    assert.ok(status.body.paths.includes('/flagz') && status.body.uptimeSeconds >= 0);
    const { flags } = (await get('/flagz', type('Flagz'))).body;
    assert.equal(flags['authorization-mode'], 'RBAC');
    assert.equal(flags['database-url'], 'CLASSIFIED');
    const old = await get('/flagz', type('Flagz', 'v1alpha1'));
    assert.equal(old.body.apiVersion, 'config.k8s.io/v1alpha1');
    assert.match(String(old.headers.warning), /deprecated/);
    assert.match(
      (await get('/statusz', 'application/yaml;g=config.k8s.io;v=v1beta1;as=Statusz')).text,
      /^kind: Statusz$/m,
    );
    for (const accept of ['application/json', type('Flagz'), type('Statusz', 'v2')]) {
      assert.equal((await get('/statusz', accept)).status, 406, accept);
    }
    assert.match((await get('/statusz', 'text/html,*/*;q=0.8')).text, /^apiserver statusz\n/);
  });

  it('show what the watch caches hold', async () => {
    const { client } = cluster.first;
    await client.get(`${maps}?resourceVersion=0`);
    const { text } = await client.get('/debug/watch_cache');
    assert.match(text, /^resource\tobjects\tbytes\twatchers\n/);
    assert.match(text, /\n[a-z.]+\t\d+\t\d+\t\d+\n/);
  });

  it('profile the processor and the memory, one at a time and for a limited time', async () => {
    const { client } = cluster.first;
    /** A profile, again if another one made the server refuse it. */
    const profile = async (seconds: number) => {
      let isOver = false;
      const cpu = client.get(`/debug/pprof/profile?seconds=${seconds}`).finally(() => {
        isOver = true;
      });
      let isRefused = false;
      while (!isOver && !isRefused) isRefused = (await client.get('/debug/pprof/heap?seconds=0.01')).status === 429;
      const answer = await cpu;
      return isRefused ? answer : undefined;
    };
    const answered = (await profile(2)) ?? (await profile(20)) ?? assert.fail('no second profile was refused');
    const { status, body, headers } = answered;
    assert.equal(status, 200);
    assert.ok(body.nodes.length > 0 && body.samples.length > 0);
    assert.match(headers['content-disposition'] ?? '', /\.cpuprofile"/);
    for (const kind of ['heap', 'allocs']) {
      const answer = await client.get(`/debug/pprof/${kind}?seconds=0.1`);
      assert.equal(answer.status, 200);
      assert.ok(answer.body.head !== undefined);
    }
    assert.match((await client.get('/debug/pprof/goroutine')).text, /^\d+ \w+/);
    for (const seconds of ['0', '-1', 'x', '100000']) {
      assert.equal((await client.get(`/debug/pprof/profile?seconds=${seconds}`)).status, 400, seconds);
    }
    assert.equal((await client.get('/debug/pprof/nothing')).status, 404);
    assert.equal((await client.post('/debug/pprof/profile', {})).status, 405);
  });

  it('are there for the control loops as well', async () => {
    const get = async (path: string) => {
      const response = await fetch(`${controllersUrl}${path}`);
      return { status: response.status, text: await response.text() };
    };
    await eventually(
      () =>
        get('/healthz').then(
          ({ status }) => status === 200,
          () => false,
        ),
      'the loops',
    );
    assert.match((await get('/statusz')).text, /^controller-manager statusz\n/);
    assert.match((await get('/flagz')).text, /\ndatabase-url=CLASSIFIED\n/);
    assert.equal((await get('/debug/pprof/profile?seconds=0.1')).status, 200);
    assert.equal((await get('/debug/pprof/profile?seconds=1000')).status, 400);
    const series = readScrape((await get('/metrics')).text);
    assert.equal(sumOf(series, 'kubernetes_build_info'), 1);
    assert.ok(sumOf(series, 'workqueue_adds_total') > 0);
  });
});

describe('health checks', () => {
  it('show each on its own how the process follows the database', async () => {
    const { client } = cluster.first;
    const { text } = await client.get('/readyz?verbose');
    for (const name of ['informer-sync', 'log-reader', 'database-lag']) {
      assert.ok(text.includes(`[+]${name} ok\n`), text);
      for (const path of ['readyz', 'livez']) {
        assert.deepEqual((await client.get(`/${path}/${name}`)).text, 'ok', `${path}/${name}`);
      }
    }
    assert.match((await client.get('/readyz?verbose&exclude=log-reader')).text, /\[\+\]log-reader excluded: ok/);
  });
});

describe('slow requests', () => {
  it('are logged with their phases, in JSON, without bodies and queries', async () => {
    const { client } = cluster.first;
    const headers = { 'audit-id': 'slow-one' };
    assert.equal((await client.post(`${maps}?fieldManager=hidden`, slowMap('slow'), { headers })).status, 201);
    const line = await eventually(
      () => cluster.first.log.split('\n').find((each) => each.includes('slow request') && each.includes('slow-one')),
      'the line in the log',
    );
    const entry = JSON.parse(line);
    assert.equal(entry.message, 'slow request');
    assert.deepEqual([entry.verb, entry.path, entry.code, entry.user], ['create', maps, 201, 'admin']);
    assert.ok(entry.durationMs >= webhookMs && entry.waitedMs >= webhookMs - 1, line);
    assert.ok(entry.phases.admission >= webhookMs - 1, line);
    for (const phase of ['authentication', 'authorization', 'body', 'work']) assert.ok(phase in entry.phases, line);
    assert.ok(!cluster.first.log.includes('this-is-a-secret') && !cluster.first.log.includes('hidden'));
  });
});

describe('slow statements', () => {
  const lineOf = (message: string, id: string) =>
    cluster.first.log.split('\n').find((each) => each.includes(message) && each.includes(id));

  /** Lets a read and a write wait for a lock for longer than the threshold. */
  async function holdUp(readId: string, writeId: string): Promise<void> {
    const { client } = cluster.first;
    const locker = new pg.Client({ connectionString: cluster.databaseUrl });
    await locker.connect();
    try {
      await locker.query('begin');
      await locker.query('lock table plinth.objects in access exclusive mode');
      const ask = (id: string) => ({ headers: { 'audit-id': id } });
      const requests = [
        client.get('/api/v1/namespaces/default', ask(readId)),
        client.post(maps, { metadata: { name: writeId } }, ask(writeId)),
      ];
      // Others, such as the control loops and a check of the number of objects, may wait too.
      const waiting = async (name: string) => {
        await locker.query('select pg_stat_clear_snapshot()');
        const { rowCount } = await locker.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
             and query ~ $1`,
          [`plinth\\.${name}\\(`],
        );
        return rowCount !== 0;
      };
      await eventually(() => waiting('get_objects'), 'a read waits for the lock');
      await eventually(() => waiting('write_batch'), 'a write waits for the lock');
      // What has taken as long counts as slow.
      await delay(200);
      await locker.query('rollback');
      assert.deepEqual(
        (await Promise.all(requests)).map(({ status }) => status),
        [200, 201],
      );
    } finally {
      await locker.end();
    }
    // The line of a request comes after those of its statements.
    for (const id of [readId, writeId]) {
      await eventually(() => lineOf('slow request', id), `the line of the request ${id} in the log`);
    }
  }

  it('are logged with the ids of their requests, reads and writes', async () => {
    // A statement of somebody else may have waited in place of the one that is meant, which came after it.
    for (let attempt = 1; ; attempt++) {
      const ids = [`slow-read-${attempt}`, `slow-write-${attempt}`] as const;
      await holdUp(...ids);
      const lines = ids.map((id) => lineOf('slow statement', id));
      if (lines.includes(undefined) && attempt < 5) continue;
      for (const [at, statement] of ['get-objects', 'write-batch'].entries()) {
        const line = lines[at] ?? assert.fail(`no line of ${ids[at]} in the log`);
        const entry = JSON.parse(line);
        assert.deepEqual([entry.statement, entry.failed], [statement, false]);
        assert.ok(entry.durationMs >= 150, line);
      }
      return;
    }
  });
});

describe('traces', () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const parentId = 'b7ad6b7169203331';

  it('show the phases, admission, storage and calls of a request whose client traces it', async () => {
    const { client } = cluster.first;
    const headers = { traceparent: `00-${traceId}-${parentId}-01`, tracestate: 'vendor=1' };
    assert.equal((await client.post(maps, slowMap('traced'), { headers })).status, 201);
    const own = () => receiver.spans.filter((span) => span.traceId === traceId);
    const root = await eventually(() => own().find(({ parentSpanId }) => parentSpanId === parentId), 'the root');
    assert.equal(root.service, 'apiserver');
    assert.equal(root.attributes['http.response.status_code'], 201);
    assert.equal(root.attributes['url.path'], maps);
    const named = (name: string) => own().find((span) => span.name === name) ?? assert.fail(`${name} is missing`);
    for (const name of ['authentication', 'authorization', 'body', 'admission', 'work']) {
      const span = named(name);
      assert.equal(span.parentSpanId, root.spanId, name);
      assert.ok(span.start >= root.start - 1 && span.end <= root.end + 1, name);
    }
    const plugin = named('admission ValidatingAdmissionWebhook');
    assert.equal(plugin.parentSpanId, root.spanId);
    const webhook = named('webhook slow.hooks.test');
    assert.equal(webhook.parentSpanId, plugin.spanId);
    assert.ok(webhook.end - webhook.start >= webhookMs - 1);
    const call = named('HTTP POST');
    assert.equal(call.parentSpanId, webhook.spanId);
    assert.equal(call.attributes['http.response.status_code'], 200);
    assert.equal(named('storage batch').attributes.resource, 'configmaps');
    const reported = hooks.received.find(({ review }) => review.request.name === 'traced');
    assert.equal(reported?.headers.traceparent, `00-${traceId}-${call.spanId}-01`);
    assert.equal(reported?.headers.tracestate, 'vendor=1');
  });

  it('are not made of other requests, nor of what is no trace', async () => {
    const { client } = cluster.first;
    // A new process, since the last spans of the earlier one may still be in transit.
    const unasked = '2af7651916cd43dd8448eb211c80319c';
    const before = receiver.spans.length;
    const noTrace = [
      'garbage',
      `00-${'0'.repeat(32)}-${parentId}-01`,
      `00-${unasked}-${parentId}-00`,
      'x'.repeat(9000),
    ];
    await client.get(maps);
    for (const traceparent of noTrace) assert.equal((await client.get(maps, { headers: { traceparent } })).status, 200);
    // A client that may not decide about traces gets none, because the rate is 0.
    const traceparent = `00-${unasked}-${parentId}-01`;
    const stranger = cluster.clientFor(cluster.first, {});
    assert.equal((await stranger.get('/version', { headers: { traceparent } })).status, 200);
    stranger.close();
    for (const token of [tokens.alice, 'no-token']) {
      const { status } = await client.get('/version', { headers: { traceparent }, token });
      assert.equal(status, token === 'no-token' ? 401 : 200);
    }
    // A later trace is sent later.
    const last = 'ffffffffffffffffffffffffffffffff';
    await client.get(maps, { headers: { traceparent: `00-${last}-${parentId}-01` } });
    await eventually(() => receiver.spans.some((span) => span.traceId === last), 'the last trace');
    const isUnasked = ({ service, traceId: id }: { readonly service: string; readonly traceId: string }) =>
      service === 'apiserver' && id !== last && id !== traceId;
    assert.deepEqual(receiver.spans.slice(before).filter(isUnasked), []);
  });

  it('go on in the thread for large requests, whose admission and calls are counted once', async () => {
    const { client } = cluster.first;
    const large = '1af7651916cd43dd8448eb211c80319c';
    const counted = async () => {
      const series = readScrape((await client.get('/metrics')).text);
      const of = (name: string, selector: Record<string, string>) => sumOf(series, name, selector);
      return [
        of('apiserver_admission_controller_admission_duration_seconds_count', {
          name: 'ValidatingAdmissionWebhook',
          operation: 'CREATE',
        }),
        of('apiserver_admission_webhook_request_total', { name: 'slow.hooks.test', code: '200' }),
        of('rest_client_requests_total', { code: '200', method: 'POST' }),
        of('apiserver_request_total', { verb: 'POST', resource: 'configmaps', code: '201' }),
      ];
    };
    const before = await counted();
    const data = Object.fromEntries(Array.from({ length: 8_000 }, (_, i) => [`k${i}`, 'value']));
    const headers = { traceparent: `00-${large}-${parentId}-01`, 'audit-id': 'large-one' };
    assert.equal((await client.post(maps, { ...slowMap('large'), data }, { headers })).status, 201);
    // The thread reports its counts a moment later.
    const expected = before.map((count) => count + 1);
    await eventually(async () => (await counted()).every((count, i) => count >= (expected[i] ?? 0)), 'the counts');
    assert.deepEqual(await counted(), expected);
    const own = () => receiver.spans.filter((span) => span.traceId === large);
    const root = await eventually(() => own().find(({ parentSpanId }) => parentSpanId === parentId), 'the root');
    const named = (name: string) => eventually(() => own().find((span) => span.name === name), `a span ${name}`);
    const thread = await named('thread for large requests');
    assert.equal(thread.parentSpanId, root.spanId);
    const plugin = await named('admission ValidatingAdmissionWebhook');
    assert.equal(plugin.parentSpanId, thread.spanId);
    const webhook = await named('webhook slow.hooks.test');
    const call = await named('HTTP POST');
    assert.equal(call.parentSpanId, webhook.spanId);
    assert.equal((await named('storage create')).parentSpanId, thread.spanId);
    const reported = hooks.received.find(({ review }) => review.request.name === 'large');
    assert.equal(reported?.headers.traceparent, `00-${large}-${call.spanId}-01`);
    const line = await eventually(
      () => cluster.first.log.split('\n').find((each) => each.includes('slow request') && each.includes('large-one')),
      'the line in the log',
    );
    assert.ok(JSON.parse(line).waitedMs >= webhookMs - 1, line);
  });

  it('are made of the rounds of control loops', async () => {
    assert.equal((await cluster.first.client.post('/api/v1/namespaces', { metadata: { name: 'traced' } })).status, 201);
    const loop = await eventually(
      () => receiver.spans.find(({ name, attributes }) => name.startsWith('loop ') && attributes.key === 'traced'),
      'the work of a loop',
    );
    assert.equal(loop.service, 'controller-manager');
    await eventually(
      () => receiver.spans.some(({ name, traceId: id }) => name.startsWith('storage ') && id === loop.traceId),
      'what the loop wrote',
    );
  });
});
