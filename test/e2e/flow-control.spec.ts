import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { WebhookServer } from '../support/webhook-server.js';
import { Http2Client, responseOf } from './support/http2-client.js';
import { eventually, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

const flowGroup = '/apis/flowcontrol.apiserver.k8s.io/v1';
const levels = `${flowGroup}/prioritylevelconfigurations`;
const schemas = `${flowGroup}/flowschemas`;
const configMaps = '/api/v1/namespaces/default/configmaps';
const dumps = '/debug/api_priority_and_fairness';
const schemaHeader = 'x-kubernetes-pf-flowschema-uid';
const levelHeader = 'x-kubernetes-pf-prioritylevel-uid';

let cluster: TestCluster;
let server: TestServer;
let hooks: WebhookServer;
/** Names of ConfigMaps whose writes a webhook holds, in the order of their arrival. */
const reached: string[] = [];
const holds = new Map<string, () => void>();

before(async () => {
  hooks = await WebhookServer.start();
  hooks.on('/hold', async ({ review }) => {
    const name: string = review.request.name;
    reached.push(name);
    if (name.startsWith('held-')) await new Promise<void>((resolve) => holds.set(name, resolve));
    return { allowed: true };
  });
  const flags = ['--authorization-mode=RBAC', '--max-requests-inflight=8', '--max-mutating-requests-inflight=4'];
  cluster = await TestCluster.start({ servers: 2, flags });
  server = cluster.first;
  await post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'writers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: ['alice', 'bob'].map((name) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name })),
  });
  await post('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'hold' },
    webhooks: [
      {
        name: 'hold.example.com',
        clientConfig: { url: hooks.url('/hold'), caBundle: hooks.caBundle },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 30,
      },
    ],
  });
  const isAllowed = async () =>
    (await cluster.second.client.get(configMaps, { token: tokens.bob })).status === 200 &&
    (await server.client.get(configMaps, { token: tokens.bob })).status === 200;
  await eventually(isAllowed, 'the binding to count');
});

after(async () => {
  for (const release of holds.values()) release();
  await cluster?.stop();
  await hooks?.stop();
});

async function post(path: string, body: unknown) {
  const answer = await server.client.post(path, body);
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

function write(name: string, token: string, to: TestServer = server) {
  return to.client.post(configMaps, { metadata: { name } }, { token });
}

/** Waits until the webhook holds the write, and returns the function that releases it. */
async function held(name: string): Promise<() => void> {
  await eventually(() => holds.has(name), `${name} to be held`);
  return holds.get(name) as () => void;
}

/** The row of a level in the dump of the levels, by column. */
async function rowOf(level: string, of: TestServer = server): Promise<Record<string, string> | undefined> {
  const { text } = await of.client.get(`${dumps}/dump_priority_levels`);
  return rows(text).find(({ PriorityLevelName }) => PriorityLevelName === level);
}

function rows(text: string): Record<string, string>[] {
  const [head = [], ...others] = text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(',').map((cell) => cell.trim()));
  return others.map((cells) => Object.fromEntries(head.map((name, i) => [name, cells[i] ?? ''])));
}

function hasCounts(level: string, executing: number, waiting: number): Promise<unknown> {
  return eventually(async () => {
    const row = await rowOf(level);
    return row?.ExecutingRequests === String(executing) && row.WaitingRequests === String(waiting);
  }, `${executing} requests with seats and ${waiting} in queues of ${level}`);
}

/**
 * Resolves with a wait until the level has given out one more seat. A seat that is not used is taken back after a
 * second.
 */
async function nextSeat(): Promise<() => Promise<unknown>> {
  const given = async () => Number((await rowOf('lane'))?.DispatchedRequests);
  const before = await given();
  return () => eventually(async () => (await given()) > before, 'a seat in the lane');
}

/** A level of one seat that cannot borrow, and a schema that sends the ConfigMaps of alice and bob to it. */
async function makeLevel(name: string, limitResponse: unknown, precedence: number) {
  const level = await post(levels, {
    metadata: { name },
    spec: {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 1, lendablePercent: 0, borrowingLimitPercent: 0, limitResponse },
    },
  });
  const schema = await post(schemas, {
    metadata: { name },
    spec: {
      priorityLevelConfiguration: { name },
      matchingPrecedence: precedence,
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: ['alice', 'bob'].map((user) => ({ kind: 'User', user: { name: user } })),
          resourceRules: [{ verbs: ['*'], apiGroups: [''], resources: ['configmaps'], namespaces: ['default'] }],
        },
      ],
    },
  });
  for (const one of cluster.servers) {
    await eventually(async () => {
      const { headers } = await one.client.get(configMaps, { token: tokens.alice });
      return headers[schemaHeader] === schema.metadata.uid;
    }, `${name} to be in effect`);
  }
  return { level, schema };
}

async function removeLevel(name: string): Promise<void> {
  for (const path of [`${schemas}/${name}`, `${levels}/${name}`]) {
    assert.equal((await server.client.delete(path)).status, 200);
  }
  for (const one of cluster.servers) {
    await eventually(async () => (await rowOf(name, one)) === undefined, `${name} to be forgotten`);
  }
}

// Enough queues that two users hardly ever share one.
const queue = { type: 'Queue', queuing: { queues: 10_000_000, handSize: 1, queueLengthLimit: 1 } };

describe('flow control', { timeout: 240_000 }, () => {
  it('has its default objects, each of its schemas with a level', async () => {
    const names = (body: { items: { metadata: { name: string } }[] }) =>
      body.items.map(({ metadata }) => metadata.name);
    await eventually(async () => {
      const { body } = await server.client.get(schemas);
      const isFound = (item: { status?: { conditions?: { type: string; status: string }[] } }) =>
        item.status?.conditions?.some(({ type, status }) => type === 'Dangling' && status === 'False') === true;
      return body.items.length === 11 && body.items.every(isFound);
    }, 'the schemas with their conditions');
    const { body } = await server.client.get(levels);
    assert.deepEqual(names(body), [
      'catch-all',
      'exempt',
      'global-default',
      'leader-election',
      'node-high',
      'system',
      'workload-high',
      'workload-low',
    ]);
    for (const { metadata } of body.items) {
      assert.equal(metadata.annotations['apf.kubernetes.io/autoupdate-spec'], 'true');
      assert.equal(metadata.generation, 1);
    }
  });

  it('shows schemas in tables in the order in which they are asked, and in lists by name', async () => {
    const listed = (await server.client.get(schemas)).body.items.map(
      (one: { metadata: { name: string } }) => one.metadata.name,
    );
    assert.deepEqual(listed, [...listed].sort());
    for (const query of ['', '?pretty=true']) {
      const headers = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
      const { body } = await server.client.get(`${schemas}${query}`, { headers });
      const rows: [number, string][] = body.rows.map(({ cells }: { cells: [string, string, number] }) => [
        cells[2],
        cells[0],
      ]);
      assert.equal(rows.length, listed.length);
      assert.deepEqual(
        rows,
        [...rows].sort(([a, x], [b, y]) => a - b || (x < y ? -1 : 1)),
      );
      assert.notDeepEqual(
        rows.map(([, name]) => name),
        listed,
      );
    }
  });

  it('names schema and level of every answer in headers', async () => {
    const uidOf = async (path: string) => (await server.client.get(path)).body.metadata.uid;
    const expected = [await uidOf(`${schemas}/global-default`), await uidOf(`${levels}/global-default`)];
    const exempt = [await uidOf(`${schemas}/exempt`), await uidOf(`${levels}/exempt`)];
    const probes = [await uidOf(`${schemas}/probes`), await uidOf(`${levels}/exempt`)];
    for (const [path, token, uids] of [
      [configMaps, tokens.alice, expected],
      [`${configMaps}/none`, tokens.alice, expected],
      ['/version', tokens.alice, expected],
      ['/nothing', tokens.alice, expected],
      [configMaps, tokens.admin, exempt],
      ['/readyz', tokens.alice, probes],
    ] as const) {
      const { headers } = await server.client.get(path, { token });
      assert.deepEqual([headers[schemaHeader], headers[levelHeader]], uids, path);
    }
    const watch = await server.client.watch(`${configMaps}?watch=true&resourceVersion=1`, { token: tokens.alice });
    assert.deepEqual([watch.headers[schemaHeader], watch.headers[levelHeader]], expected);
    watch.close();
  });

  it('lets requests wait, one flow behind itself, and refuses those beyond the queue', async () => {
    await makeLevel('lane', queue, 50);
    const first = write('held-1', tokens.alice);
    const release = await held('held-1');
    const second = write('a-2', tokens.alice);
    await hasCounts('lane', 1, 1);
    const refused = await write('a-3', tokens.alice);
    assert.equal(refused.status, 429);
    assert.equal(refused.headers['retry-after'], '1');
    assert.equal(refused.body.reason, 'TooManyRequests');
    // Bob need not wait for a webhook that answers alice.
    assert.equal((await write('b-1', tokens.bob)).status, 201);
    await hasCounts('lane', 1, 1);
    // The requests wait for a quarter of a minute, so a busy machine sends all of them in time.
    const [during, other, elsewhere, ready, requestDump, queueDump] = await Promise.all([
      server.client.get('/metrics'),
      // The other process has a seat of its own, and other levels have theirs.
      write('other', tokens.alice, cluster.second),
      server.client.get('/version', { token: tokens.alice }),
      server.client.get('/readyz', { token: tokens.alice }),
      server.client.get(`${dumps}/dump_requests?includeRequestDetails=1`),
      server.client.get(`${dumps}/dump_queues`),
    ]);
    release();
    assert.deepEqual(
      (await Promise.all([first, second])).map(({ status }) => status),
      [201, 201],
    );
    assert.deepEqual(
      reached.filter((name) => ['held-1', 'a-2', 'b-1'].includes(name)),
      ['held-1', 'b-1', 'a-2'],
    );
    assert.deepEqual([other.status, elsewhere.status, ready.status], [201, 200, 200]);
    for (const name of ['next_s_bounds', 'next_discounted_s_bounds']) {
      for (const bound of ['min', 'max']) {
        const sample = new RegExp(`apiserver_flowcontrol_${name}\\{priority_level="lane",bound="${bound}"\\} `);
        assert.match(during.text, sample);
      }
    }
    const lane = rows(requestDump.text).filter(({ PriorityLevelName }) => PriorityLevelName === 'lane');
    assert.deepEqual(
      lane.map(({ FlowDistingsher, RequestIndexInQueue, Verb }) => [FlowDistingsher, RequestIndexInQueue, Verb]).sort(),
      [
        ['alice', '-1', 'create'],
        ['alice', '0', 'create'],
      ],
    );
    // The seats of kept requests, and those in use.
    const shown = rows(queueDump.text).filter(({ PriorityLevelName }) => PriorityLevelName === 'lane');
    assert.ok(shown.length >= 1024 && shown.length <= 1026, String(shown.length));
    assert.equal(shown.filter(({ PendingRequests }) => PendingRequests === '1').length, 1);
    const { text } = await server.client.get('/metrics');
    const labels = 'priority_level="lane",flow_schema="lane"';
    assert.match(
      text,
      new RegExp(`apiserver_flowcontrol_rejected_requests_total\\{${labels},reason="queue-full"\\} 1\n`),
    );
    assert.match(text, new RegExp(`apiserver_flowcontrol_current_executing_requests\\{${labels}\\} 0\n`));
    assert.match(
      text,
      new RegExp(`apiserver_flowcontrol_request_wait_duration_seconds_count\\{${labels},execute="true"\\}`),
    );
    assert.match(text, new RegExp(`apiserver_flowcontrol_watch_count_samples_count\\{${labels}\\} [1-9]`));
    assert.match(text, /apiserver_flowcontrol_latest_s\{priority_level="lane"\} [0-9.e-]+\n/);
    assert.match(text, /apiserver_flowcontrol_nominal_limit_seats\{priority_level="lane"\} 1\n/);
    assert.match(text, /apiserver_flowcontrol_current_limit_seats\{priority_level="global-default"\} \d+\n/);
  });

  it('holds up nobody else while a webhook lets large requests wait, whose thread stays free', async () => {
    const large = (name: string, token: string) =>
      server.client.post(configMaps, { metadata: { name }, data: { text: 'x'.repeat(100_000) } }, { token });
    const first = large('held-large', tokens.alice);
    const release = await held('held-large');
    await hasCounts('lane', 1, 0);
    assert.equal((await large('b-large', tokens.bob)).status, 201);
    assert.equal((await write('b-small', tokens.bob)).status, 201);
    release();
    assert.equal((await first).status, 201);
    await hasCounts('lane', 0, 0);
    for (const name of ['held-large', 'b-large']) {
      assert.equal((await server.client.delete(`${configMaps}/${name}`)).status, 200);
    }
  });

  it('frees the place of a client that leaves, and refuses what waits too long', async () => {
    const first = write('held-2', tokens.alice);
    const release = await held('held-2');
    const client = await Http2Client.connect(server.url, cluster.pki.authority, tokens.alice);
    const waiting = client.open('GET', configMaps);
    waiting.on('error', () => undefined);
    await hasCounts('lane', 1, 1);
    waiting.close(8);
    await hasCounts('lane', 1, 0);
    assert.equal((await rowOf('lane'))?.CancelledRequests, '1');
    // A request waits for a quarter of its own time limit.
    const late = await server.client.get(`${configMaps}?timeoutSeconds=2`, { token: tokens.alice });
    assert.equal(late.status, 429);
    assert.equal((await rowOf('lane'))?.TimedoutRequests, '1');
    release();
    assert.equal((await first).status, 201);
    // A client may disconnect as often as it likes.
    assert.doesNotMatch(server.log, /request failed/);
    await client.close();
  });

  it('gives a seat on while a body does not come, and back when it does', async () => {
    const client = await Http2Client.connect(server.url, cluster.pki.authority, tokens.alice);
    const isSeated = await nextSeat();
    const slow = client.open('POST', configMaps, { 'content-type': 'application/json' }, false);
    await isSeated();
    const others = await Promise.all([write('b-2', tokens.bob), write('a-4', tokens.alice)]);
    assert.deepEqual(
      others.map(({ status }) => status),
      [201, 201],
    );
    slow.end(JSON.stringify({ metadata: { name: 'slow' } }));
    assert.equal((await responseOf(slow))[':status'], 201);
    await hasCounts('lane', 0, 0);
    await client.close();
  });

  it('gives a seat on while a client does not read its list, and the list is whole in the end', async () => {
    for (let i = 0; i < 6; i++) {
      await post(configMaps, { metadata: { name: `long-${i}` }, data: { text: String(i).repeat(200_000) } });
    }
    const client = await Http2Client.connect(server.url, cluster.pki.authority, tokens.alice);
    // Nobody reads from the stream, so its window stays closed.
    const unread = client.open('GET', configMaps);
    await once(unread, 'response');
    const others = await Promise.all([write('b-6', tokens.bob), write('a-6', tokens.alice)]);
    assert.deepEqual(
      others.map(({ status }) => status),
      [201, 201],
    );
    let text = '';
    for await (const chunk of unread) text += String(chunk);
    const { items } = JSON.parse(text);
    assert.ok(items.length >= 6);
    assert.equal(
      items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === 'long-5').data.text.length,
      200_000,
    );
    await hasCounts('lane', 0, 0);
    await client.close();
    for (let i = 0; i < 6; i++) assert.equal((await server.client.delete(`${configMaps}/long-${i}`)).status, 200);
  });

  it('gives the seat of a watch back once it is set up', async () => {
    const watch = await server.client.watch(`${configMaps}?watch=true`, { token: tokens.alice });
    assert.equal((await watch.next())?.type, 'ADDED');
    await hasCounts('lane', 0, 0);
    assert.equal((await write('seen', tokens.alice)).status, 201);
    watch.close();
  });

  it('lets a deleted level finish its requests, and sorts new ones elsewhere', async () => {
    const first = write('held-3', tokens.alice);
    const release = await held('held-3');
    const second = write('a-5', tokens.alice);
    await hasCounts('lane', 1, 1);
    assert.equal((await server.client.delete(`${levels}/lane`)).status, 200);
    await eventually(async () => (await rowOf('lane'))?.IsQuiescing === 'true', 'the level to end');
    const elsewhere = await server.client.get(configMaps, { token: tokens.alice });
    const { body } = await server.client.get(`${levels}/global-default`);
    assert.equal(elsewhere.headers[levelHeader], body.metadata.uid);
    release();
    assert.deepEqual(
      (await Promise.all([first, second])).map(({ status }) => status),
      [201, 201],
    );
    await eventually(async () => {
      const { status } = (await server.client.get(`${schemas}/lane`)).body;
      const dangling = status.conditions?.find(({ type }: { type: string }) => type === 'Dangling');
      return dangling?.status === 'True' && dangling.reason === 'NotFound';
    }, 'the schema to be marked');
    for (const one of cluster.servers) {
      await eventually(async () => (await rowOf('lane', one)) === undefined, 'the level to be forgotten');
    }
    assert.equal((await server.client.delete(`${schemas}/lane`)).status, 200);
  });

  it('refuses at once where nobody waits', async () => {
    await makeLevel('no-queue', { type: 'Reject' }, 40);
    const first = write('held-4', tokens.alice);
    const release = await held('held-4');
    const refused = await write('b-3', tokens.bob);
    assert.equal(refused.status, 429);
    release();
    assert.equal((await first).status, 201);
    const { text } = await server.client.get('/metrics');
    assert.match(
      text,
      /rejected_requests_total\{priority_level="no-queue",flow_schema="no-queue",reason="concurrency-limit"\} 1\n/,
    );
    await removeLevel('no-queue');
  });

  it('keeps its default objects: what is the server’s stays so, what is the operator’s too', async () => {
    const change = (name: string, body: object) => server.client.patch(`${levels}/${name}`, 'merge', body);
    const shares = (nominalConcurrencyShares: number) => ({ spec: { limited: { nominalConcurrencyShares } } });
    const annotations = { 'apf.kubernetes.io/autoupdate-spec': 'false' };
    assert.equal((await change('system', shares(31))).status, 200);
    assert.equal((await change('node-high', { ...shares(41), metadata: { annotations } })).status, 200);
    assert.equal((await server.client.delete(`${levels}/workload-low`)).status, 200);
    assert.equal((await change('catch-all', shares(6))).status, 422);
    const odd = { metadata: { name: 'odd', annotations: { 'apf.kubernetes.io/autoupdate-spec': 'true' } } };
    const { spec } = (await server.client.get(`${levels}/system`)).body;
    await post(levels, { ...odd, spec });
    // Every start checks the default objects.
    await cluster.addServer();
    await eventually(async () => {
      const { items } = (await server.client.get(levels)).body;
      const found = new Map<string, number>(
        items.map((item: { metadata: { name: string }; spec: { limited?: { nominalConcurrencyShares: number } } }) => [
          item.metadata.name,
          item.spec.limited?.nominalConcurrencyShares,
        ]),
      );
      return (
        found.get('system') === 30 &&
        found.get('node-high') === 41 &&
        found.get('workload-low') === 100 &&
        !found.has('odd')
      );
    }, 'the objects to be looked after');
  });

  it('shows its state to those who may see it only', async () => {
    for (const name of ['dump_priority_levels', 'dump_queues', 'dump_requests']) {
      assert.equal((await server.client.get(`${dumps}/${name}`)).status, 200);
      assert.equal((await server.client.get(`${dumps}/${name}`, { token: tokens.alice })).status, 403);
    }
  });
});
