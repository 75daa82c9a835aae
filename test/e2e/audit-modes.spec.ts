import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { ReviewWebhook } from '../support/review-webhook.js';
import { WebhookServer } from '../support/webhook-server.js';
import { ExtensionScene } from './support/extension-scene.js';
import { groupPath } from './support/extension-server.js';
import { eventually, type TestServer, tokens } from './support/test-cluster.js';

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever was written
type Event = any;

const maps = '/api/v1/namespaces/default/configmaps';
const flavours = `${groupPath}/namespaces/default/flavours`;
const secretWord = 'Xq8-never-in-the-trail';

/**
 * Paths of the audit trail that the default modes do not use: requests that wait for a webhook, that are refused, that
 * time out, that change to another protocol, or that an extension server answers.
 */
describe('the audit trail in its other modes', { timeout: 240_000 }, () => {
  let scene: ExtensionScene;
  let webhook: ReviewWebhook;
  let hooks: WebhookServer;
  let strict: TestServer;
  let server: TestServer;
  /** Requests have a short time limit. */
  let hasty: TestServer;
  /** Writes to its standard output, and makes requests wait for a webhook of its own, which may fail. */
  let patient: TestServer;
  let gate: ReviewWebhook;
  const releases: (() => void)[] = [];
  const path = (name: string) => join(scene.cluster.directory, name);
  const write = (name: string, rules: readonly object[], more: object = {}) =>
    writeFileSync(path(name), JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules, ...more }));

  before(async () => {
    webhook = await ReviewWebhook.start();
    webhook.answer = () => ({ body: {} });
    hooks = await WebhookServer.start();
    hooks.on('/hold', async () => {
      await new Promise<void>((resolve) => releases.push(resolve));
      return { allowed: true };
    });
    scene = await ExtensionScene.start([], 1);
    await scene.register();
    writeFileSync(path('webhook.json'), webhook.config());
    write('strict.yaml', [{ level: 'Metadata', users: ['alice'] }]);
    write(
      'all.yaml',
      [
        { level: 'None', users: ['system:apiserver'] },
        { level: 'None', nonResourceURLs: ['/readyz*', '/metrics'] },
        { level: 'RequestResponse' },
      ],
      { omitStages: ['RequestReceived'], omitManagedFields: true },
    );
    const noted = [
      `--audit-policy-file=${path('all.yaml')}`,
      `--audit-log-path=${path('all.log')}`,
      '--audit-log-mode=blocking-strict',
    ];
    gate = await ReviewWebhook.start();
    gate.answer = () => ({ body: {} });
    writeFileSync(path('gate.json'), gate.config());
    [strict, server, hasty, patient] = await Promise.all([
      scene.cluster.addServer(undefined, [
        `--audit-policy-file=${path('strict.yaml')}`,
        `--audit-webhook-config-file=${path('webhook.json')}`,
        '--audit-webhook-mode=blocking-strict',
        '--audit-webhook-initial-backoff=10ms',
      ]),
      scene.cluster.addServer(undefined, noted),
      scene.cluster.addServer(undefined, [...noted, '--request-timeout=5s']),
      scene.cluster.addServer(undefined, [
        `--audit-policy-file=${path('strict.yaml')}`,
        '--audit-log-path=-',
        `--audit-webhook-config-file=${path('gate.json')}`,
        '--audit-webhook-mode=blocking',
        '--audit-webhook-initial-backoff=10ms',
      ]),
    ]);
    await server.client.post('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
      metadata: { name: 'hold' },
      webhooks: [
        {
          name: 'hold.example.com',
          clientConfig: { url: hooks.url('/hold'), caBundle: hooks.caBundle },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
          objectSelector: { matchLabels: { hold: 'yes' } },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          timeoutSeconds: 30,
        },
      ],
    });
  });
  after(async () => {
    for (const release of releases) release();
    await scene?.stop();
    await hooks?.stop();
    await webhook?.stop();
    await gate?.stop();
  });

  const events = (agent: string): readonly Event[] =>
    existsSync(path('all.log'))
      ? readFileSync(path('all.log'), 'utf8')
          .split('\n')
          .slice(0, -1)
          .filter((line) => line.includes(agent))
          .map((line) => JSON.parse(line))
          .filter(({ userAgent }: Event) => userAgent === agent)
      : [];
  const ended = (agent: string) =>
    eventually(() => events(agent).find(({ stage }) => stage === 'ResponseComplete'), `the event of ${agent}`);

  it('lets a request wait until its events are posted', async () => {
    const { status, headers } = await strict.client.get('/version', { token: tokens.alice });
    assert.equal(status, 200);
    const mine = () =>
      webhook.received
        .flatMap(({ body }) => body.items as Event[])
        .filter(({ auditID }) => auditID === headers['audit-id']);
    // The response came after the events, so there is nothing to wait for.
    assert.deepEqual(
      mine().map(({ stage }) => stage),
      ['RequestReceived', 'ResponseComplete'],
    );
    assert.equal(mine()[1].annotations['authorization.k8s.io/decision'], 'allow');
  });

  it('refuses a request whose arrival can’t be posted, and does nothing of it', async () => {
    webhook.answer = () => 'cut';
    const made = await strict.client.post(maps, { metadata: { name: 'unnoted' } }, { token: tokens.alice });
    assert.equal(made.status, 500, made.text);
    assert.equal(made.body.reason, 'InternalError');
    // Requests that the policy does not record don't need the webhook.
    assert.equal((await strict.client.get(`${maps}/unnoted`)).status, 404);
    const { text } = await strict.client.get('/metrics');
    assert.match(text, /apiserver_audit_requests_rejected_total [1-9]/);
    assert.match(text, /apiserver_audit_dropped_events_total\{backend="webhook",reason="failure"\} [1-9]/);
    await eventually(() => /audit events are lost backend=webhook/.test(strict.log), 'the report of the loss');
    webhook.answer = () => ({ body: {} });
    assert.equal((await strict.client.get('/version', { token: tokens.alice })).status, 200);
  });

  it('lets a request wait for a slow webhook, and go on without a dead one; the standard output has all events', async () => {
    let release = () => {};
    const isOpen = new Promise<void>((resolve) => {
      release = resolve;
    });
    gate.answer = async () => {
      await isOpen;
      return { body: {} };
    };
    let isAnswered = false;
    const slow = patient.client.get('/version', { token: tokens.alice }).finally(() => {
      isAnswered = true;
    });
    await eventually(() => gate.received.length > 0, 'the event of the arrival');
    // Other requests are not recorded, and wait for nothing.
    for (let i = 0; i < 5; i++) assert.equal((await patient.client.get('/version')).status, 200);
    assert.equal(isAnswered, false);
    release();
    const ids = [(await slow).headers['audit-id']];
    gate.answer = () => 'cut';
    const dead = await patient.client.post(maps, { metadata: { name: 'unheard' } }, { token: tokens.alice });
    assert.equal(dead.status, 201, dead.text);
    ids.push(dead.headers['audit-id']);
    gate.answer = () => ({ body: {} });
    const back = await patient.client.delete(`${maps}/unheard`, undefined, { token: tokens.alice });
    assert.equal(back.status, 200, back.text);
    ids.push(back.headers['audit-id']);
    const counted = async () => {
      const { text } = await patient.client.get('/metrics');
      const number = (name: string) => Number(new RegExp(`^apiserver_audit_${name} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
      return [
        number('event_total'),
        number('delivered_events_total\\{backend="log"\\}'),
        number('delivered_events_total\\{backend="webhook"\\}'),
        number('dropped_events_total\\{backend="webhook",reason="failure"\\}'),
      ];
    };
    // Each of the three has an arrival and an end.
    assert.deepEqual(await counted(), [6, 6, 4, 2]);
    await eventually(() => /audit events are lost backend=webhook/.test(patient.log), 'the report of the loss');
    const all = () =>
      patient.output
        .split('\n')
        .filter((line) => line.startsWith('{"kind":"Event"'))
        .map((line) => JSON.parse(line) as Event);
    await eventually(() => all().length === 6, 'the events on the standard output');
    assert.deepEqual(
      all().map(({ auditID, stage }) => `${auditID} ${stage}`),
      ids.flatMap((id) => [`${id} RequestReceived`, `${id} ResponseComplete`]),
    );
    const posted = new Set(gate.received.flatMap(({ body }) => body.items as Event[]).map(({ auditID }) => auditID));
    assert.deepEqual([...posted].sort(), [...ids].sort());
  });

  it('notes a request that ran out of time, and one that a full level refused', async () => {
    let count = 0;
    const agent = () => `audit-modes/late-${count}`;
    // Until the server knows the webhook.
    await eventually(async () => {
      const held = { metadata: { name: `late-${++count}`, labels: { hold: 'yes' } } };
      return (await hasty.client.post(maps, held, { headers: { 'user-agent': agent() } })).status === 504;
    }, 'a request that runs out of time');
    const event = await ended(agent());
    const { status, reason, code } = event.responseStatus;
    assert.deepEqual({ status, reason, code }, { status: 'Failure', reason: 'Timeout', code: 504 });
    assert.equal(event.requestObject.metadata.name, `late-${count}`);
    assert.equal(events(agent()).length, 1);

    const flow = '/apis/flowcontrol.apiserver.k8s.io/v1';
    const limited = { nominalConcurrencyShares: 1, lendablePercent: 0, borrowingLimitPercent: 0 };
    const level = { type: 'Limited', limited: { ...limited, limitResponse: { type: 'Reject' } } };
    const spec = {
      priorityLevelConfiguration: { name: 'full' },
      matchingPrecedence: 30,
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'bob' } }],
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }],
        },
      ],
    };
    for (const [kind, body] of [
      ['prioritylevelconfigurations', { metadata: { name: 'full' }, spec: level }],
      ['flowschemas', { metadata: { name: 'full' }, spec }],
    ] as const) {
      assert.equal((await server.client.post(`${flow}/${kind}`, body)).status, 201);
    }
    const uid = (await server.client.get(`${flow}/flowschemas/full`)).body.metadata.uid;
    const header = 'x-kubernetes-pf-flowschema-uid';
    const options = { token: tokens.bob, headers: { 'user-agent': 'audit-modes/full' } };
    await eventually(
      async () => (await server.client.get(maps, { token: tokens.bob })).headers[header] === uid,
      'the schema to be in effect',
    );
    // All requests at once: the level has few seats, so some are refused.
    const statuses = await eventually(async () => {
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, i) => server.client.post(maps, { metadata: { name: `full-${i}` } }, options)),
      );
      const found = answers.map(({ status }) => status);
      return found.includes(429) && found;
    }, 'a refusal');
    await eventually(
      () => events('audit-modes/full').filter(({ responseStatus }) => responseStatus.code === 429).length > 0,
      'the events of the refusals',
    );
    const refused = events('audit-modes/full').find(({ responseStatus }) => responseStatus.code === 429);
    assert.ok(statuses.includes(429));
    assert.deepEqual([refused.user.username, refused.responseStatus.reason], ['bob', 'TooManyRequests']);
    assert.equal(refused.annotations?.['authorization.k8s.io/decision'], undefined);
  });

  it('notes the beginning and the end of a watch over WebSocket', async () => {
    const agent = 'audit-modes/socket';
    const socket = new WebSocket(`${server.url.replace('https', 'wss')}${maps}?watch=1`, {
      ca: scene.cluster.pki.authority,
      headers: { authorization: `Bearer ${tokens.admin}`, 'user-agent': agent },
    });
    await once(socket, 'open');
    const stages = () => events(agent).map(({ stage, responseStatus }) => [stage, responseStatus.code]);
    await eventually(() => stages().length > 0, 'the beginning');
    assert.deepEqual(stages(), [['ResponseStarted', 101]]);
    socket.close();
    await eventually(() => stages().length > 1, 'the end');
    assert.deepEqual(stages()[1], ['ResponseComplete', 101]);
    const [first, last] = events(agent);
    assert.equal(first.auditID, last.auditID);
    assert.equal(first.verb, 'watch');
  });

  it('notes what an extension server answered, under one id in both trails', async () => {
    const headers = { 'user-agent': 'audit-modes/remote', 'audit-id': 'joined-1' };
    scene.extension.behaviours.set(flavours, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'audit-id': 'not-ours' });
      response.end('{"kind":"FlavourList","items":[]}');
    });
    await eventually(async () => (await server.client.get(flavours)).status === 200, 'the extension server');
    const answer = await server.client.get(flavours, { headers });
    assert.equal(answer.headers['audit-id'], 'joined-1');
    const event = await ended('audit-modes/remote');
    assert.deepEqual([event.auditID, event.responseStatus.code, event.user.username], ['joined-1', 200, 'admin']);
    assert.equal(event.objectRef.resource, 'flavours');
    const made = { ...headers, 'audit-id': 'x'.repeat(500) };
    await server.client.get(flavours, { headers: made });
    const sent = scene.extension.last(flavours)?.headers['audit-id'];
    assert.match(String(sent), /^[0-9a-f-]{36}$/);
  });

  it('leaves managed fields and tokens out, whatever the way to them', async () => {
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'managed' }, data: { a: 'b' } };
    const headers = { 'user-agent': 'audit-modes/managed' };
    const options = { raw: JSON.stringify(applied), contentType: 'application/apply-patch+yaml', headers };
    const { body } = await server.client.send('PATCH', `${maps}/managed?fieldManager=me`, options);
    assert.equal(body.metadata.managedFields.length, 1);
    for (const accept of ['application/json', 'application/vnd.kubernetes.protobuf']) {
      await server.client.get(maps, { headers: { ...headers, accept } });
    }
    const large = Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`k${i}`, `v${i}`]));
    const posted = await server.client.post(maps, { metadata: { name: 'wide' }, data: large }, { headers });
    assert.equal(posted.status, 201);
    await eventually(() => events('audit-modes/managed').length === 4, 'the events');
    for (const { responseObject } of events('audit-modes/managed')) {
      assert.ok(responseObject !== undefined);
      assert.doesNotMatch(JSON.stringify(responseObject), /managedFields/);
    }
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: secretWord } };
    const as = { headers: { 'user-agent': 'audit-modes/review', accept: 'application/yaml' } };
    await server.client.post('/apis/authentication.k8s.io/v1/tokenreviews', review, as);
    await ended('audit-modes/review');
    const text = readFileSync(path('all.log'), 'utf8');
    assert.ok(!text.includes(secretWord));
  });

  it('makes no second line of what a client sends', async () => {
    const before = readFileSync(path('all.log'), 'utf8').split('\n').length;
    const agent = 'audit-modes/\u0085\u2028"},{"kind":"Event","user":{"username":"forged"}}';
    const uri = `${maps}/x%0a%7B%22kind%22%3A%22Event%22%7D%0d`;
    await server.client.get(uri, { headers: { 'user-agent': Buffer.from(agent).toString('latin1') } });
    const lines = await eventually(() => {
      const found = readFileSync(path('all.log'), 'utf8')
        .split('\n')
        .slice(before - 1, -1);
      return found.some((line) => line.includes('forged')) && found;
    }, 'the event');
    for (const line of lines) assert.notEqual(JSON.parse(line).user?.username, 'forged');
  });
});
