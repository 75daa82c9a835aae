import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { connect } from 'node:tls';
import { readScrape, type ScrapedSeries, type Selector, select, sumOf } from '../support/scrape.js';
import { holdFor, WebhookServer } from '../support/webhook-server.js';
import type { WatchStream } from './support/api-client.js';
import { eventually, readRepositoryFile, TestCluster, tokens } from './support/test-cluster.js';

/**
 * The API server part of the public kubernetes-mixin: the metrics that its dashboards, alerts and recording rules read.
 * Labels that the collector adds (job, instance, cluster) are left out, and a rule that reads another rule is listed
 * with the metrics of that one.
 */

const read = { verb: /LIST|GET/ };
const write = { verb: /POST|PUT|PATCH|DELETE/ };
/** `subresource!~"proxy|attach|log|exec|portforward"` */
const short = { subresource: /(?!(?:proxy|attach|log|exec|portforward)$).*/ };
const total = 'apiserver_request_total';
const sli = 'apiserver_request_sli_duration_seconds';

interface Expression {
  /** The rule, alert or panel. */
  readonly of: string;
  readonly metric: string;
  readonly selector?: Selector;
  /** Labels that the expression groups or joins by. */
  readonly by?: readonly string[];
}

const expressions: readonly Expression[] = [
  ...['2..', '3..', '4..', '5..'].map((code) => ({
    of: 'code_verb:apiserver_request_total:increase1h',
    metric: total,
    selector: { verb: /LIST|GET|POST|PUT|PATCH|DELETE/, code: new RegExp(code) },
    by: ['code', 'verb'],
  })),
  ...[read, write].flatMap((verbs) => [
    { of: 'code_resource:apiserver_request_total:rate5m', metric: total, selector: verbs, by: ['code', 'resource'] },
    { of: 'apiserver_request:burnrate', metric: total, selector: { ...verbs, code: /5../ } },
    { of: 'apiserver_request:burnrate', metric: `${sli}_count`, selector: { ...verbs, ...short } },
    {
      of: 'cluster_quantile:apiserver_request_sli_duration_seconds:histogram_quantile',
      metric: `${sli}_bucket`,
      selector: { ...verbs, ...short },
      by: ['le', 'resource'],
    },
  ]),
  {
    of: 'cluster_verb_scope_le:apiserver_request_sli_duration_seconds_bucket:increase1h',
    metric: `${sli}_bucket`,
    by: ['verb', 'scope', 'le'],
  },
  {
    of: 'cluster_verb_scope:apiserver_request_sli_duration_seconds_count:increase1h',
    metric: `${sli}_bucket`,
    selector: { le: '+Inf' },
  },
  ...(
    [
      [read, /resource|/, /1(\.0)?/],
      [read, 'namespace', /5(\.0)?/],
      [read, 'cluster', /30(\.0)?/],
      [write, /.*/, /1(\.0)?/],
    ] as const
  ).map(([verbs, scope, le]) => ({
    of: 'apiserver_request:burnrate and apiserver_request:availability',
    metric: `${sli}_bucket`,
    selector: { ...verbs, ...short, scope, le },
  })),
  {
    of: 'KubeClientCertificateExpiration',
    metric: 'apiserver_client_certificate_expiration_seconds_bucket',
    by: ['le'],
  },
  { of: 'KubeClientCertificateExpiration', metric: 'apiserver_client_certificate_expiration_seconds_count' },
  { of: 'KubeAggregatedAPIErrors', metric: 'aggregator_unavailable_apiservice_total', by: ['name', 'reason'] },
  { of: 'KubeAggregatedAPIDown', metric: 'aggregator_unavailable_apiservice', by: ['name'] },
  { of: 'KubeAPITerminatedRequests', metric: 'apiserver_request_terminations_total' },
  { of: 'KubeVersionMismatch', metric: 'kubernetes_build_info', selector: { git_version: /v[0-9]*\.[0-9]*.*/ } },
  { of: 'KubeClientErrors', metric: 'rest_client_requests_total' },
  { of: 'KubeClientErrors', metric: 'rest_client_requests_total', selector: { code: /5../ } },
  { of: 'Work Queue Add Rate', metric: 'workqueue_adds_total', by: ['name'] },
  { of: 'Work Queue Depth', metric: 'workqueue_depth', by: ['name'] },
  { of: 'Work Queue Latency', metric: 'workqueue_queue_duration_seconds_bucket', by: ['name', 'le'] },
  { of: 'Memory', metric: 'process_resident_memory_bytes' },
  { of: 'CPU usage', metric: 'process_cpu_seconds_total' },
  { of: 'Goroutines', metric: 'go_goroutines' },
];

const addressLimit = 30;
const maps = '/api/v1/namespaces/default/configmaps';
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
let hooks: WebhookServer;
let cluster: TestCluster;
/** Before the first request. */
let quiet: ScrapedSeries[];

before(async () => {
  hooks = await WebhookServer.start();
  cluster = await TestCluster.start({ servers: 1, flags: [`--max-requests-per-address=${addressLimit}`] });
  quiet = await scrape();
  await traffic();
});
after(async () => {
  await cluster?.stop();
  await hooks?.stop();
});

async function scrape(path = '/metrics'): Promise<ScrapedSeries[]> {
  const { status, text } = await cluster.first.client.get(path);
  assert.equal(status, 200, text);
  return readScrape(text);
}

/** Requests of every kind and outcome. */
async function traffic(): Promise<void> {
  const { client, url } = cluster.first;
  const body = (name: string, labels = {}) => ({ metadata: { name, labels } });
  assert.equal((await client.post(maps, body('a'))).status, 201);
  assert.equal((await client.put(`${maps}/a`, body('a'))).status, 200);
  assert.equal((await client.patch(`${maps}/a`, 'merge', { data: { x: 'y' } })).status, 200);
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', ...body('b') };
  const apply = { body: applied, contentType: 'application/apply-patch+yaml' };
  assert.equal((await client.send('PATCH', `${maps}/b?fieldManager=test`, apply)).status, 201);
  assert.equal((await client.get(`${maps}/a`)).status, 200);
  assert.equal((await client.get(`${maps}/none`)).status, 404);
  assert.equal((await client.get(maps)).status, 200);
  assert.equal((await client.get('/api/v1/configmaps')).status, 200);
  assert.equal((await client.delete(`${maps}/b`)).status, 200);
  const { headers } = await client.get('/openapi/v2');
  assert.equal((await client.get('/openapi/v2', { headers: { 'if-none-match': headers.etag ?? '' } })).status, 304);
  const withCertificate = cluster.clientFor(cluster.first, cluster.adminCertificate);
  assert.equal((await withCertificate.get(`${maps}/a`)).status, 200);
  withCertificate.close();

  // A webhook with a fault.
  hooks.on('/broken', () => ({ http: 500, text: 'broken' }));
  hooks.on('/slow', () => holdFor(400).then(() => ({ allowed: true })));
  const webhook = (name: string) => ({
    name: `${name}.hooks.test`,
    clientConfig: { url: hooks.url(`/${name}`), caBundle: hooks.caBundle },
    rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    objectSelector: { matchLabels: { hook: name } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  });
  const configuration = { metadata: { name: 'test' }, webhooks: [webhook('broken'), webhook('slow')] };
  const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  assert.equal((await client.post(configurations, configuration)).status, 201);
  await eventually(async () => (await client.post(maps, body('c', { hook: 'broken' }))).status === 500, 'the webhook');
  assert.equal((await client.post(maps, body('slow', { hook: 'slow' }))).status, 201);

  // An extension server that is away.
  const spec = { group: 'away.test', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 };
  const service = { ...spec, service: { namespace: 'default', name: 'away' }, insecureSkipTLSVerify: true };
  assert.equal((await client.post(apiServices, { ...body('v1.away.test'), spec: service })).status, 201);
  const condition = { type: 'Available', status: 'False', reason: 'ServiceNotFound', message: 'there is none' };
  const status = { status: { conditions: [{ ...condition, lastTransitionTime: '2030-01-01T00:00:00Z' }] } };
  assert.equal((await client.patch(`${apiServices}/v1.away.test/status`, 'merge', status)).status, 200);
  await eventually(async () => (await client.get('/apis/away.test/v1/things')).status === 503, 'the extension server');

  // More requests than one client may have under way.
  const crowd = cluster.clientFor(cluster.first, { token: tokens.admin });
  const watches: WatchStream[] = [];
  while (watches.at(-1)?.status !== 429) {
    assert.ok(watches.length <= addressLimit, 'there is no limit');
    watches.push(await crowd.watch(`${maps}?watch=1&resourceVersion=0`));
  }
  const first = watches[0] ?? assert.fail();
  assert.equal((await first.next())?.type, 'ADDED');
  for (const watch of watches) watch.close();
  crowd.close();
  // The server may see only later that the watches are closed, and refuse this address until then.
  await eventually(async () => (await client.get('/metrics')).status === 200, 'the address may send requests again');

  // A connection without TLS.
  const { port } = new URL(url);
  const socket = connect({
    port: Number(port),
    host: '127.0.0.1',
    ca: 'x',
    maxVersion: 'TLSv1.1',
    minVersion: 'TLSv1',
  });
  await new Promise<void>((resolve) => {
    socket.on('error', () => resolve());
    socket.on('close', () => resolve());
  });
}

describe('metrics', () => {
  it('have every series that the public dashboards, alerts and rules for API servers read', async () => {
    const series = await eventually(async () => {
      const found = await scrape();
      return select(found, 'apiserver_request_terminations_total').length > 0 && found;
    }, 'the refused requests to be counted');
    const missing = expressions.filter(({ metric, selector, by = [] }) => {
      const found = select(series, metric, selector);
      return found.length === 0 || !found.every(({ labels }) => by.every((name) => labels[name] !== undefined));
    });
    assert.deepEqual(missing, []);
  });

  it('have what burn rates are made of before the first request, and a zero that the first failure rises from', async () => {
    for (const [selector, scopes] of [
      [read, ['resource', 'namespace', 'cluster']],
      [write, ['namespace']],
    ] as const) {
      // A client has asked whether the server is ready, perhaps before it was.
      const failures = select(quiet, total, { ...selector, code: /5../, subresource: /(?!\/readyz).*/ });
      assert.ok(failures.length > 0);
      assert.ok(failures.every(({ value }) => value === 0));
      for (const scope of scopes) {
        const buckets = select(quiet, `${sli}_bucket`, {
          ...selector,
          ...short,
          scope,
          le: /1(\.0)?|5(\.0)?|30(\.0)?/,
        });
        assert.ok(buckets.length > 0, scope);
      }
    }
    const asked = { verb: 'GET', resource: 'configmaps', scope: 'resource', code: '500' };
    assert.deepEqual(
      select(await scrape(), total, asked).map(({ value }) => value),
      [0],
    );
  });

  it('count what clients get, by few labels whatever clients send', async () => {
    const { client } = cluster.first;
    /**
     * Counts by metric, whatever the boundaries of its buckets are. The server's own requests meanwhile add a few, too.
     */
    const labelSets = (found: Awaited<ReturnType<typeof scrape>>) => {
      const sets = new Map<string, Set<string>>();
      for (const { name, labels } of found) {
        const set = sets.get(name) ?? new Set();
        sets.set(name, set.add(JSON.stringify({ ...labels, le: undefined })));
      }
      return sets;
    };
    const before = labelSets(await scrape());
    for (let i = 0; i < 50; i++) {
      await client.send('GET', `/unknown-${i}`, {});
      await client.get(`/api/v1/namespaces/ns-${i}/kind-${i}/name-${i}`);
      await client.get(`/api/v1/namespaces/ns-${i}/pods/name-${i}/sub-${i}`);
      await client.get(`/apis/group-${i}/v${i}/things`);
      await client.get(`/livez/check-${i}`);
      await client.get('/api/v1/namespaces/default', { headers: { 'user-agent': `agent-${i}` } });
    }
    const after = await scrape();
    for (const [name, { size }] of labelSets(after)) {
      assert.ok(size - (before.get(name)?.size ?? 0) < 25, `${name}: ${size}, ${before.get(name)?.size} before`);
    }
    assert.deepEqual(
      after.filter(({ labels }) => Object.values(labels).some((value) => /^[a-z]+-\d+$/.test(value))),
      [],
    );
  });

  it('are all on the page about metrics', async () => {
    const { text } = await cluster.first.client.get('/metrics');
    const page = readRepositoryFile('docs/metrics.md');
    const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
    assert.ok(names.length > 50);
    assert.deepEqual(
      names.filter((name) => !/^(?:nodejs|process)_/.test(name) && !page.includes(`| \`${name}\` |`)),
      [],
    );
  });

  it('name the verbs of requests as dashboards do', async () => {
    const series = await scrape();
    const verbs = new Set(select(series, total).map(({ labels }) => labels.verb));
    for (const verb of ['GET', 'LIST', 'POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'WATCH']) {
      assert.ok(verbs.has(verb), `${verb} in ${[...verbs].join(' ')}`);
    }
    assert.ok(sumOf(series, total, { verb: 'GET', subresource: '/readyz' }) > 0);
  });

  it('leave the time in webhooks out of what the server is to blame for', async () => {
    const series = await scrape();
    const selector = { verb: 'POST', resource: 'configmaps' };
    const all = sumOf(series, 'apiserver_request_duration_seconds_sum', selector);
    const own = sumOf(series, `${sli}_sum`, selector);
    assert.ok(all - own >= 0.4, `${all} ${own}`);
  });

  it('show sizes, sent events, objects, users, decisions and broken handshakes', async () => {
    // The first scrape starts the count of objects.
    const series = await eventually(async () => {
      const found = await scrape();
      return select(found, 'apiserver_storage_objects', { resource: 'configmaps' }).length > 0 && found;
    }, 'the count of objects');
    const { text } = await cluster.first.client.get('/api/v1/configmaps');
    const listed = { verb: 'LIST', resource: 'configmaps', scope: 'cluster' };
    assert.ok(sumOf(series, 'apiserver_response_sizes_sum', listed) >= text.length / 2);
    assert.ok(sumOf(series, 'apiserver_request_body_size_bytes_sum', { verb: 'POST', resource: 'configmaps' }) > 0);
    assert.ok(sumOf(series, 'apiserver_watch_events_total', { resource: 'configmaps' }) > 0);
    assert.ok(sumOf(series, 'apiserver_watch_events_sizes_sum', { resource: 'configmaps' }) > 100);
    assert.ok(sumOf(series, 'apiserver_storage_objects', { resource: 'namespaces' }) >= 3);
    const namespaces = { group: '', resource: 'namespaces' };
    assert.ok(sumOf(series, 'apiserver_resource_objects', namespaces) >= 3);
    assert.equal(sumOf(series, 'version_info', { component: 'kube', binary: '1.37.2', emulation: '1.37' }), 1);
    assert.ok(sumOf(series, 'apiserver_authorization_decisions_total', { decision: 'allowed' }) > 0);
    assert.equal(select(series, 'apiserver_audit_event_total').length, 1);
    assert.ok(sumOf(series, 'apiserver_storage_size_bytes') > 1e6);
    assert.ok(sumOf(series, 'authenticated_user_requests', { username: 'admin' }) > 0);
    assert.ok(sumOf(series, 'authentication_duration_seconds_count', { result: 'success' }) > 0);
    assert.ok(sumOf(series, 'authorization_attempts_total', { result: 'allowed' }) > 0);
    assert.ok(sumOf(series, 'authorization_duration_seconds_count', { result: 'allowed' }) > 0);
    assert.ok(sumOf(series, 'apiserver_tls_handshake_errors_total') > 0);
    const ofMaps = { group: '', resource: 'configmaps' };
    const lists = { ...ofMaps, storage: /watchcache|postgresql/ };
    assert.ok(sumOf(series, 'apiserver_storage_list_total', lists) >= 2);
    assert.ok(sumOf(series, 'apiserver_storage_list_fetched_objects_total', lists) >= 2);
    const fresh = { ...ofMaps, success: 'true', fallback: 'false' };
    assert.ok(sumOf(series, 'apiserver_watch_cache_consistent_read_total', fresh) > 0);
    for (const filter of ['authentication', 'authorization']) {
      assert.ok(sumOf(series, 'apiserver_request_filter_duration_seconds_count', { filter }) > 0, filter);
    }
    assert.ok(sumOf(series, 'field_validation_request_duration_seconds_count', { field_validation: '' }) >= 4);
    assert.ok(sumOf(series, 'authentication_token_cache_fetch_total', { status: 'ok' }) > 0);
    assert.equal(sumOf(series, 'authentication_token_cache_active_fetch_count', { status: 'in_flight' }), 0);
  });

  it('show the outcomes of health checks on a page of their own', async () => {
    const series = await scrape('/metrics/slis');
    assert.equal(sumOf(series, 'kubernetes_healthcheck', { name: 'ping', type: 'readyz' }), 1);
    assert.ok(sumOf(series, 'kubernetes_healthchecks_total', { name: 'ping', type: 'readyz', status: 'success' }) > 0);
    assert.deepEqual([...new Set(series.map(({ name }) => name))].sort(), [
      'kubernetes_healthcheck',
      'kubernetes_healthchecks_total',
    ]);
  });
});
