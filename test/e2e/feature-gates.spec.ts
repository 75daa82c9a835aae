import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient, WatchEvent } from './support/api-client.js';
import { create, isStatus, ok, ownCollection, withQuery } from './support/listing.js';
import { eventually, TestCluster, type TestServer } from './support/test-cluster.js';
import { follow, isBookmark, isEnd, listVersion, readAll, streaming, versionOf, watch } from './support/watching.js';

// The effects of each feature gate (specification 9.8) and of the watch cache's sizes, compared with a server with the
// defaults.

let cluster: TestCluster;
/** Everything at its default, and CBOR. */
let usual: ApiClient;
/** Every beta feature off, except parts of lists. */
let bare: ApiClient;
let bareServer: TestServer;
/** No parts of lists, and memory only for ConfigMaps. */
let whole: ApiClient;
let wholeServer: TestServer;

before(async () => {
  cluster = await TestCluster.start({
    servers: 1,
    flags: ['--authorization-mode=RBAC', '--feature-gates=CBORServingAndStorage=true'],
  });
  [bareServer, wholeServer] = await Promise.all([
    cluster.addServer(undefined, [
      '--feature-gates=AllBeta=false,APIListChunking=true,CBORServingAndStorage=false',
      '--feature-gates=ServerSideApply=true',
    ]),
    cluster.addServer(undefined, [
      '--feature-gates=APIListChunking=false,MutatingAdmissionPolicy=false',
      '--default-watch-cache-size=0',
      '--watch-cache-sizes=configmaps#10,secrets#0',
      '--deprecation-warnings=false',
      '--identity-lease-duration-seconds=1800',
      '--enable-admission-plugins=AlwaysAdmit',
    ]),
  ]);
  usual = cluster.first.client;
  bare = bareServer.client;
  whole = wholeServer.client;
});

after(() => cluster.stop());

async function threeObjects(): Promise<string> {
  const path = await ownCollection(usual);
  for (const name of ['a', 'b', 'c']) await create(usual, path, name);
  return path;
}

/** How many reads of a resource were answered from memory. */
async function hits(client: ApiClient, resource: string): Promise<number> {
  const { text } = await client.get('/metrics');
  const found = new RegExp(
    `^plinth_watch_cache_reads_total\\{resource="${resource}",result="hit"\\} (\\d+)$`,
    'm',
  ).exec(text);
  return Number(found?.[1] ?? 0);
}

describe('a feature gate that is off', () => {
  it('APIListChunking: every list is whole', async () => {
    const path = await threeObjects();
    const page = await ok(usual, withQuery(path, { limit: '1' }));
    assert.equal(page.items.length, 1);
    for (const query of [{ limit: '1' }, { limit: '1', continue: page.metadata.continue }, { limit: 'x' }]) {
      const list = await ok(whole, withQuery(path, query as Record<string, string>));
      assert.equal(list.items.length, 3);
      assert.equal(list.metadata.continue, undefined);
    }
  });

  it('RemainingItemCount: parts of lists do not say how much follows', async () => {
    const path = withQuery(await threeObjects(), { limit: '1' });
    assert.equal((await ok(usual, path)).metadata.remainingItemCount, 2);
    const { metadata } = await ok(bare, path);
    assert.equal('remainingItemCount' in metadata, false);
    assert.ok(metadata.continue);
  });

  it('ServerSideFieldValidation: unknown fields are dropped without a warning', async () => {
    const path = withQuery(await ownCollection(usual), { fieldValidation: 'Strict', dryRun: 'All' });
    const body = { metadata: { name: 'x' }, nonsense: 1 };
    isStatus(await usual.post(path, body), 400, 'BadRequest');
    const made = await bare.post(path, body);
    assert.equal(made.status, 201);
    assert.equal(made.headers.warning, undefined);
    // The gate also applies where the thread for large objects reads the body.
    const large = { ...body, data: { text: 'x'.repeat(900_000) } };
    assert.equal((await bare.post(path, large)).status, 201);
    assert.equal((await usual.post(path, large)).status, 400);
  });

  it('CBORServingAndStorage: clients get JSON, and are told to send it', async () => {
    const path = await ownCollection(usual);
    const headers = { accept: 'application/json;q=0.9,application/cbor;q=1' };
    const type = async (client: ApiClient, query: string) =>
      (await client.get(path + query, { headers })).headers['content-type'];
    assert.equal(await type(usual, ''), 'application/cbor');
    assert.equal(await type(bare, ''), 'application/json');
    assert.equal((await bare.get(path, { headers: { accept: 'application/cbor' } })).status, 406);
    for (const [method, contentType] of [
      ['POST', 'application/cbor'],
      ['PATCH', 'application/apply-patch+cbor'],
    ] as const) {
      const at = method === 'POST' ? path : `${path}/x?fieldManager=m`;
      const refused = await bare.send(method, at, { raw: Buffer.from('a0', 'hex'), contentType, headers });
      isStatus(refused, 415, 'UnsupportedMediaType');
      assert.doesNotMatch(refused.body.message, /cbor/);
    }
  });

  it('PodSecurity: the plugin does not run', async () => {
    const namespace = 'restricted';
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    assert.equal((await usual.post('/api/v1/namespaces', { metadata: { name: namespace, labels } })).status, 201);
    const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
    const pod = { metadata: { name: 'p' }, spec: { hostNetwork: true, containers: [{ name: 'c', image: 'i' }] } };
    assert.equal((await usual.post(path, pod)).status, 403);
    assert.equal((await bare.post(path, pod)).status, 201);
  });

  it('MutatingAdmissionPolicy: mutating policies are kept and not obeyed', async () => {
    const registration = '/apis/admissionregistration.k8s.io/v1';
    const name = 'marks';
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
    const expression = "Object{metadata: Object.metadata{labels: {'marked': 'yes'}}}";
    const spec = {
      matchConstraints: { resourceRules },
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
      reinvocationPolicy: 'Never',
    };
    // The policy and its binding are served as usual; they only have no effect.
    const policy = await whole.post(`${registration}/mutatingadmissionpolicies`, { metadata: { name }, spec });
    assert.equal(policy.status, 201, policy.text);
    const binding = { metadata: { name }, spec: { policyName: name } };
    assert.equal((await whole.post(`${registration}/mutatingadmissionpolicybindings`, binding)).status, 201);
    const path = '/api/v1/namespaces/default/configmaps?dryRun=All';
    const marked = async (client: ApiClient) =>
      (await client.post(path, { metadata: { name: 'm' } })).body.metadata.labels?.marked;
    // This gate is locked, so AllBeta=false does not affect it.
    for (const client of [usual, bare]) {
      await eventually(async () => (await marked(client)) === 'yes', 'the policy to be in force', 30_000);
    }
    assert.equal(await marked(whole), undefined);
    assert.equal((await whole.delete(`${registration}/mutatingadmissionpolicybindings/${name}`)).status, 200);
  });

  it('WatchList: sendInitialEvents is refused', async () => {
    const path = await threeObjects();
    isStatus(await bare.get(`${path}?watch=1&${streaming}`), 422, 'Invalid');
    const stream = await watch(usual, path, streaming);
    const events: WatchEvent[] = [];
    while (!events.some(isEnd)) events.push(...(await stream.take(1)));
    stream.close();
  });

  it('EfficientWatchResumption: quiet watches are told no newer versions', async () => {
    const quiet = await ownCollection(usual);
    const from = await listVersion(usual, quiet);
    const hasMore = (events: readonly WatchEvent[]) =>
      events.some((event) => isBookmark(event) && versionOf(event) > BigInt(from));
    await create(usual, await ownCollection(usual), 'elsewhere');
    await follow((query) => watch(usual, quiet, query), from, hasMore);
    const query = `resourceVersion=${from}&allowWatchBookmarks=true&timeoutSeconds=3`;
    assert.deepEqual(await readAll(await watch(bare, quiet, query)), []);
  });

  it('ConsistentListFromCache and ListFromCacheSnapshot: such lists are read from the database', async () => {
    const path = await threeObjects();
    const version = await listVersion(usual, path);
    const lists = [path, withQuery(path, { resourceVersion: version, resourceVersionMatch: 'Exact' })];
    // Fills the caches.
    const any = withQuery(path, { resourceVersion: '0' });
    const ready = async (client: ApiClient) => {
      for (let before = await hits(client, 'configmaps'); ; ) {
        await ok(client, any);
        if ((await hits(client, 'configmaps')) > before) return;
      }
    };
    await Promise.all([ready(usual), ready(bare)]);
    for (const list of lists) {
      const before = await Promise.all([usual, bare].map((client) => hits(client, 'configmaps')));
      for (const client of [usual, bare]) assert.equal((await ok(client, list)).items.length, 3);
      const now = await Promise.all([usual, bare].map((client) => hits(client, 'configmaps')));
      assert.deepEqual(
        now.map((count, i) => count - (before[i] as number)),
        [1, 0],
        list,
      );
    }
  });

  it('APIServerIdentity: the process keeps no lease; the others keep theirs for as long as they are told', async () => {
    const label = 'apiserver.kubernetes.io/identity';
    const durations = async () => {
      const { items } = await ok(usual, `/apis/coordination.k8s.io/v1/leases?labelSelector=${label}`);
      return items.map(({ spec }: { spec: { leaseDurationSeconds: number } }) => spec.leaseDurationSeconds).sort();
    };
    await eventually(async () => (await durations()).length >= 2, 'the leases');
    assert.deepEqual(await durations(), [1800, 3600]);
  });

  it('APIPriorityAndFairness: no answer names a flow, and the metrics know none', async () => {
    const header = 'x-kubernetes-pf-flowschema-uid';
    assert.ok((await usual.get('/version')).headers[header] !== undefined);
    assert.equal((await bare.get('/version')).headers[header], undefined);
    assert.doesNotMatch((await bare.get('/metrics')).text, /^apiserver_flowcontrol_/m);
    assert.equal((await bare.get('/debug/api_priority_and_fairness/dump_queues')).status, 404);
  });

  it('is in the metrics, with its stage', async () => {
    const { text } = await bare.get('/metrics');
    assert.match(text, /^kubernetes_feature_enabled\{name="WatchList",stage="BETA"\} 0$/m);
    assert.match(text, /^kubernetes_feature_enabled\{name="APIListChunking",stage="BETA"\} 1$/m);
    assert.match(text, /^kubernetes_feature_enabled\{name="ServerSideApply",stage=""\} 1$/m);
  });
});

describe('deprecated flags and values', () => {
  it('are warned of at the start, unless that is switched off', () => {
    assert.match(bareServer.log, /feature gate ServerSideApply is deprecated since release \d/);
    assert.doesNotMatch(wholeServer.log, /deprecated/);
  });
});

describe('sizes of the watch cache', () => {
  it('keep a resource of size 0 out of memory, in reads and watches alike', async () => {
    const secrets = (await ownCollection(usual)).replace('configmaps', 'secrets');
    const from = await listVersion(whole, secrets);
    const stream = await watch(whole, secrets, `resourceVersion=${from}&timeoutSeconds=20`);
    assert.equal((await usual.post(secrets, { metadata: { name: 's' } })).status, 201);
    assert.equal((await stream.next(30_000))?.object.metadata.name, 's');
    stream.close();
    for (const query of ['', '?resourceVersion=0', '?limit=5']) {
      assert.equal((await ok(whole, `${secrets}${query}`)).items.length, 1);
    }
    const { text } = await whole.get('/metrics');
    const held = text.split('\n').filter((line) => line.startsWith('plinth_watch_cache_objects{'));
    assert.ok(!held.some((line) => line.includes('"secrets"') || line.includes('"nodes"')), held.join('\n'));
    await ok(whole, '/api/v1/configmaps?resourceVersion=0');
    assert.equal(await hits(whole, 'secrets'), 0);
  });
});
