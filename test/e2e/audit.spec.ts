import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { connect as connectHttp2, constants } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { largeLimits } from '../../src/base/machinery/large-work.js';
import { replaceFile } from '../support/replace-file.js';
import { ReviewWebhook } from '../support/review-webhook.js';
import type { ApiRequest } from './support/api-client.js';
import { send } from './support/raw-http.js';
import { eventually, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever was written
type Event = any;

const space = '/api/v1/namespaces/noted';
const maps = `${space}/configmaps`;
const secrets = `${space}/secrets`;
/** A text that must never be in the trail. */
const secretWord = 'Xq7-never-in-the-trail';
const secretData = Buffer.from(secretWord).toString('base64');

const policy = [
  { level: 'None', resources: [{ group: '', resources: ['events'] }] },
  { level: 'None', nonResourceURLs: ['/readyz*', '/livez*', '/metrics'] },
  { level: 'Metadata', users: ['bob'] },
  { level: 'RequestResponse', omitStages: ['RequestReceived'] },
];

function policyText(rules: readonly object[], more: object = {}): string {
  return JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules, ...more });
}

describe('the audit trail', () => {
  let cluster: TestCluster;
  let webhook: ReviewWebhook;
  let flags: readonly string[];
  let server: TestServer;
  let other: TestServer;
  let owner: pg.Client;
  let reader: pg.Client;
  const path = (name: string) => join(cluster.directory, name);
  const write = (name: string, text: string) => replaceFile(path(name), text);

  before(async () => {
    cluster = await TestCluster.start({ servers: 0 });
    webhook = await ReviewWebhook.start();
    webhook.answer = () => ({ body: 'not JSON' });
    write('policy.yaml', policyText(policy));
    write('webhook.json', webhook.config({}, { 'tls-server-name': 'webhook.test' }));
    flags = [
      '--authorization-mode=RBAC',
      '--runtime-config=policy/v1beta1',
      `--audit-policy-file=${path('policy.yaml')}`,
      `--audit-log-path=${path('audit.log')}`,
      `--audit-webhook-config-file=${path('webhook.json')}`,
      '--audit-webhook-batch-max-wait=50ms',
      '--audit-webhook-initial-backoff=50ms',
      '--audit-database',
    ];
    [server, other] = await Promise.all([cluster.addServer(undefined, flags), cluster.addServer(undefined, flags)]);
    assert.equal((await server.client.post('/api/v1/namespaces', { metadata: { name: 'noted' } })).status, 201);
    owner = new pg.Client({ connectionString: cluster.databaseUrl });
    await owner.connect();
    reader = new pg.Client({ connectionString: cluster.databaseUrl });
    await reader.connect();
    const become = () =>
      reader.query('set role plinth_reader').then(
        () => true,
        () => false,
      );
    await eventually(become, 'the role of readers');
  });
  after(async () => {
    await reader?.end();
    await owner?.end();
    await cluster?.stop();
    await webhook?.stop();
  });

  const lines = (): readonly string[] =>
    existsSync(path('audit.log')) ? readFileSync(path('audit.log'), 'utf8').split('\n').slice(0, -1) : [];
  const events = (agent: string): readonly Event[] =>
    lines()
      .filter((line) => line.includes(agent))
      .map((line) => JSON.parse(line))
      .filter((event: Event) => event.userAgent === agent);

  let count = 0;
  /** Sends a request and returns its events, once one of them has the last stage. */
  async function noted(method: string, url: string, options: ApiRequest = {}, from: TestServer = server) {
    const agent = `audit-test/${++count}`;
    const headers = { 'user-agent': agent, ...options.headers };
    const response = await from.client.send(method, url, { ...options, headers });
    const found = await eventually(() => events(agent).some(isLast) && events(agent), `the end of ${method} ${url}`);
    const last = found.at(-1) as Event;
    if (response.headers['audit-id'] !== undefined) assert.equal(last.auditID, response.headers['audit-id']);
    return { response, found, last };
  }
  const isLast = ({ stage, responseStatus }: Event) =>
    stage === 'ResponseComplete' || stage === 'Panic' || responseStatus?.code === 401;

  it('notes writes with their objects and what became of them', async () => {
    const made = await noted('POST', maps, { body: { metadata: { name: 'a' }, data: { k: 'v' } } });
    assert.equal(made.response.status, 201);
    assert.equal(made.found.length, 1);
    const { last } = made;
    assert.equal(last.kind, 'Event');
    assert.equal(last.apiVersion, 'audit.k8s.io/v1');
    assert.equal(last.level, 'RequestResponse');
    assert.equal(last.verb, 'create');
    assert.equal(last.requestURI, maps);
    assert.deepEqual(last.user, {
      username: 'admin',
      uid: 'admin-uid',
      groups: ['system:masters', 'system:authenticated'],
    });
    assert.deepEqual(last.sourceIPs, ['127.0.0.1']);
    assert.deepEqual(last.objectRef, { resource: 'configmaps', namespace: 'noted', name: 'a', apiVersion: 'v1' });
    assert.deepEqual(last.responseStatus, { metadata: {}, code: 201 });
    assert.deepEqual(last.requestObject, {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'a' },
      data: { k: 'v' },
    });
    assert.deepEqual(last.responseObject, made.response.body);
    assert.match(last.requestReceivedTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    assert.ok(last.stageTimestamp >= last.requestReceivedTimestamp);
    assert.deepEqual(last.annotations, { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' });

    const generated = await noted('POST', maps, { body: { metadata: { generateName: 'gen-' } } });
    assert.equal(generated.last.objectRef.name, generated.response.body.metadata.name);
    const { uid, resourceVersion } = made.response.body.metadata;
    const next = { metadata: { name: 'a', uid, resourceVersion }, data: { k: 'w' } };
    const put = await noted('PUT', `${maps}/a`, { body: next }, other);
    assert.equal(put.response.status, 200, put.response.text);
    assert.deepEqual([put.last.objectRef.uid, put.last.objectRef.resourceVersion], [uid, resourceVersion]);
    const patched = await noted('PATCH', `${maps}/a`, {
      raw: '{"data":{"k":"x"}}',
      contentType: 'application/merge-patch+json',
    });
    assert.deepEqual(patched.last.requestObject, { data: { k: 'x' } });
    const applied = await noted('PATCH', `${maps}/b?fieldManager=me`, {
      raw: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n',
      contentType: 'application/apply-patch+yaml',
    });
    assert.deepEqual(applied.last.requestObject, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' } });
    const removed = await noted('DELETE', `${maps}/b`, { body: { propagationPolicy: 'Background' } });
    assert.deepEqual(removed.last.requestObject, { propagationPolicy: 'Background' });
    assert.deepEqual(removed.last.responseStatus, {
      metadata: {},
      status: 'Success',
      details: removed.response.body.details,
      code: 200,
    });
    const list = await noted('GET', maps, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });
    assert.deepEqual(list.last.responseObject, list.response.body);
    const yaml = await noted('GET', maps, { headers: { accept: 'application/yaml' } });
    assert.equal(yaml.last.responseObject.kind, 'ConfigMapList');
    const packed = await noted('GET', maps, { headers: { accept: 'application/vnd.kubernetes.protobuf' } });
    const names = (object: Event) => object.items.map(({ metadata }: Event) => metadata.name).sort();
    assert.deepEqual(names(packed.last.responseObject), names(yaml.last.responseObject));
    assert.equal(packed.last.responseObject.kind, 'ConfigMapList');
  });

  it('notes refusals of every kind', async () => {
    const missing = await noted('GET', `${maps}/none`);
    assert.deepEqual(missing.last.responseStatus, {
      metadata: {},
      status: 'Failure',
      message: 'configmaps "none" not found',
      reason: 'NotFound',
      details: { name: 'none', kind: 'configmaps' },
      code: 404,
    });
    assert.equal(missing.last.responseObject.reason, 'NotFound');
    const malformed = await noted('POST', maps, { raw: '{nonsense' });
    assert.equal(malformed.last.responseStatus.code, 400);
    assert.equal(malformed.last.requestObject, undefined);
    const denied = await noted('GET', maps, { token: tokens.alice });
    assert.equal(denied.last.responseStatus.reason, 'Forbidden');
    assert.match(denied.last.responseStatus.message, /^configmaps is forbidden: User "alice" cannot list/);
    assert.equal(denied.last.annotations['authorization.k8s.io/decision'], 'forbid');
    const refused = await noted('GET', maps, { token: 'no token of ours' });
    assert.equal(refused.response.headers['audit-id'], refused.last.auditID);
    assert.equal(refused.found.length, 1);
    assert.equal(refused.last.stage, 'ResponseStarted');
    assert.deepEqual(refused.last.user, {});
    assert.deepEqual(refused.last.responseStatus, {
      metadata: {},
      status: 'Failure',
      message: 'Unauthorized',
      reason: 'Unauthorized',
      code: 401,
    });
    const as = await noted('GET', `${maps}/a`, {
      headers: { 'impersonate-user': 'carol', 'impersonate-group': 'team' },
    });
    assert.equal(as.last.user.username, 'admin');
    assert.deepEqual(as.last.impersonatedUser, { username: 'carol', groups: ['team', 'system:authenticated'] });
    const old = await noted('GET', '/apis/policy/v1beta1/namespaces/noted/poddisruptionbudgets');
    assert.equal(old.last.annotations['k8s.io/deprecated'], 'true');
    assert.equal(old.last.annotations['k8s.io/removed-release'], '1.25');
    const unknown = await noted('GET', '/apis/none.example/v1/things');
    assert.equal(unknown.last.responseStatus.code, 404);
    const plain = await noted('GET', '/no/such/path');
    assert.equal(plain.last.objectRef, undefined);
    const encoded = await noted('GET', '/api/v1/namespaces/%zz/pods');
    assert.equal(encoded.last.responseStatus.code, 400);
    assert.equal(encoded.last.requestURI, '/api/v1/namespaces/%zz/pods');
    const before = lines().length;
    await send(server.url, cluster.pki.authority, ['GET /nonsense\u0001 HTTP/1.1\r\n', 'bad header\r\n\r\n']);
    const bytes = await eventually(
      () =>
        lines()
          .slice(before)
          .map((line) => JSON.parse(line))
          .find((event) => event.requestURI === ''),
      'the bytes that are no request',
    );
    assert.equal(bytes.responseStatus.code, 400);
  });

  it('takes over sane ids only, and addresses that are some', async () => {
    const given = async (id: string) => (await noted('GET', `${maps}/a`, { headers: { 'audit-id': id } })).last.auditID;
    assert.equal(await given('my-id.1'), 'my-id.1');
    for (const id of ['x'.repeat(10_000), 'with space', 'quote"', '{"a":1}', '-', 'a\u00e4']) {
      assert.match(await given(id), /^[0-9a-f-]{36}$/);
    }
    const forwarded = 'nonsense, 10.0.0.7, "],"x":["y, fe80::1%eth"0, ::ffff:10.0.0.8';
    const { last } = await noted('GET', `${maps}/a`, {
      headers: { 'x-forwarded-for': forwarded, 'x-real-ip': '10.1.1.1' },
    });
    assert.deepEqual(last.sourceIPs, ['10.0.0.7', 'fe80::1', '10.0.0.8', '10.1.1.1', '127.0.0.1']);
    const many = Array.from({ length: 3000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`).join(',');
    const long = await noted('GET', `${maps}/a`, { headers: { 'x-forwarded-for': many } });
    assert.equal(long.last.sourceIPs.length, 17);
    assert.equal(long.last.sourceIPs.at(-2), '10.0.11.183');
    const agent = `audit-test/long-${'u'.repeat(5000)}`;
    await server.client.get(`${maps}/a`, { headers: { 'user-agent': agent } });
    const cut = await eventually(() => events(`${agent.slice(0, 1024)}...TRUNCATED`)[0], 'the cut user agent');
    assert.equal(cut.verb, 'get');
  });

  it('notes the beginning and the end of watches, and clients that leave', async () => {
    const agent = 'audit-test/watch';
    const watch = await server.client.watch(`${maps}?watch=1&resourceVersion=0`, { headers: { 'user-agent': agent } });
    const stages = () => events(agent).map(({ stage }) => stage);
    await eventually(() => stages().includes('ResponseStarted'), 'the beginning of the watch');
    assert.deepEqual(stages(), ['ResponseStarted']);
    watch.close();
    await eventually(() => stages().length === 2, 'the end of the watch');
    const [begun, ended] = events(agent) as readonly Event[];
    assert.equal(ended.stage, 'ResponseComplete');
    assert.equal(begun.auditID, ended.auditID);
    assert.deepEqual(ended.responseStatus, { metadata: {}, code: 200 });

    // The body never arrives, and the client disconnects.
    const left = 'audit-test/left';
    const headers = {
      'user-agent': left,
      authorization: `Bearer ${tokens.admin}`,
      'content-length': '1000',
      expect: '100-continue',
    };
    const request = httpsRequest(`${server.url}${maps}`, { method: 'POST', ca: cluster.pki.authority, headers });
    request.on('error', () => undefined);
    request.on('continue', () => {
      request.write('{"metadata"', () => request.destroy());
    });
    request.flushHeaders();
    const event = await eventually(() => events(left)[0], 'the event of the client that left');
    assert.equal(event.verb, 'create');
    assert.equal(event.responseStatus.status, 'Failure');
    assert.match(event.responseStatus.message, /client left/);
  });

  it('notes long lists of which clients take a part only', async () => {
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, i) => [
        server.client.post(secrets, { metadata: { name: `long-${i}` }, data: { key: 'c2Vj'.repeat(15_000) } }),
        server.client.post(maps, { metadata: { name: `long-${i}` }, data: { key: 'x'.repeat(60_000) } }),
      ]).flat(),
    );
    for (const { status, text } of made) assert.equal(status, 201, text);
    const paths = [maps, secrets];
    for (const [i, path] of paths.entries()) {
      const { last } = await noted('HEAD', path);
      assert.equal(last.responseStatus.code, 200);
      const agent = `audit-test/part-${i}`;
      // Nothing is read, so at most the window of a stream is in transit.
      const session = connectHttp2(server.url, { ca: cluster.pki.authority });
      const authorization = `Bearer ${tokens.admin}`;
      const stream = session.request({ ':path': path, 'user-agent': agent, authorization });
      stream.on('error', () => undefined);
      stream.once('response', () => stream.close(constants.NGHTTP2_CANCEL));
      const event = await eventually(() => events(agent)[0], `the event of a part of ${path}`);
      session.close();
      for (const { responseObject, annotations } of [last, event]) {
        assert.equal(responseObject, undefined);
        assert.equal(annotations['audit.k8s.io/truncated'], 'true');
      }
      assert.match(event.responseStatus.message, /client left/);
      const rows = async () =>
        (await owner.query('select 1 from cluster.audit where user_agent = $1', [agent])).rowCount === 1;
      await eventually(rows, 'the event in the database');
    }
    for (const path of paths) for (let i = 0; i < 20; i++) await server.client.delete(`${path}/long-${i}`);
  });

  it('keeps values of secrets and tokens out, whatever the way', async () => {
    const body = {
      metadata: {
        name: 's',
        annotations: {
          'kubectl.kubernetes.io/last-applied-configuration': `{"x":"${secretWord}"}`,
          note: `the word is ${secretWord}`,
        },
      },
      stringData: { k: secretWord },
      data: { d: secretData },
    };
    const made = await noted('POST', secrets, { body });
    assert.equal(made.response.status, 201);
    assert.deepEqual(made.last.requestObject.data, { d: '(hidden)', k: '(hidden)' });
    assert.deepEqual(made.last.responseObject.data, { d: '(hidden)', k: '(hidden)' });
    const patches: readonly (readonly [string, unknown])[] = [
      ['application/merge-patch+json', { stringData: { m: secretWord }, other: secretWord }],
      ['application/strategic-merge-patch+json', { stringData: { m: secretWord } }],
      ['application/json-patch+json', [{ op: 'add', path: '/data/j', value: secretData }]],
      [
        'application/apply-patch+yaml',
        { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { y: secretWord } },
      ],
    ];
    for (const [contentType, patch] of patches) {
      const query = contentType.includes('apply') ? '?fieldManager=m&force=true' : '';
      const { last } = await noted('PATCH', `${secrets}/s${query}`, { raw: JSON.stringify(patch), contentType });
      assert.equal(last.responseStatus.code, 200, contentType);
      assert.ok(last.requestObject !== undefined);
    }
    await noted('PUT', `${secrets}/s`, { body: { ...body, data: { d: secretData } } });
    await noted('POST', secrets, { raw: `{"data": {"k": "${secretWord}"` });
    await noted('POST', secrets, { body: { metadata: { name: 't' }, data: { k: `${secretWord} is no base64` } } });
    for (const accept of [
      'application/json',
      'application/yaml',
      'application/vnd.kubernetes.protobuf',
      'application/json;as=Table;v=v1;g=meta.k8s.io',
    ]) {
      await noted('GET', `${secrets}/s?includeObject=Object`, { headers: { accept } });
      await noted('GET', `${secrets}?includeObject=Object`, { headers: { accept } });
    }
    const large = {
      metadata: { name: 'large' },
      stringData: { k: `${secretWord} ${'x'.repeat(2 * largeLimits.small)}` },
    };
    assert.equal((await noted('POST', secrets, { body: large })).response.status, 201);
    await noted('DELETE', `${secrets}/large`);
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: secretWord } };
    const reviewed = await noted('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { body: review });
    assert.equal(reviewed.last.requestObject.spec.token, '(hidden)');
    const holders = lines().filter((line) => line.includes(secretWord) || line.includes(secretData));
    assert.deepEqual(holders, []);
  });

  it('notes requests that the thread for large objects answers', async () => {
    const data = Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`k${i}`, `v${i}`]));
    assert.ok(JSON.stringify(data).length > 2 * largeLimits.small);
    const { response, last } = await noted('POST', maps, {
      body: { metadata: { name: 'large', labels: { l: 'x' } }, data },
    });
    assert.equal(response.status, 201);
    assert.deepEqual(last.requestObject.data, data);
    assert.deepEqual(last.responseObject, response.body);
    assert.deepEqual(last.objectRef, { resource: 'configmaps', namespace: 'noted', name: 'large', apiVersion: 'v1' });
    const bad = await noted('POST', maps, { body: { metadata: { name: 'UPPER' }, data } });
    const { status, reason, code, details } = bad.last.responseStatus;
    assert.deepEqual([status, reason, code, details.name], ['Failure', 'Invalid', 422, 'UPPER']);
  });

  it('shows who changed what to readers of the database, and no more', async () => {
    const { response, last } = await noted('PATCH', `${maps}/a`, {
      raw: '{"data":{"k":"by bob"}}',
      contentType: 'application/merge-patch+json',
      headers: { 'impersonate-user': 'bob', 'impersonate-group': 'system:masters', 'x-forwarded-for': '192.0.2.7' },
    });
    assert.equal(response.status, 200);
    const query = `select verb, username, impersonated_user, host(source_ips[1]) as source, resource_versions, code
      from cluster.audit where resource = 'configmaps' and namespace = 'noted' and name = 'a' and audit_id = $1`;
    const [row] = await eventually(async () => {
      const { rows } = await reader.query(query, [last.auditID]);
      return rows.length > 0 && rows;
    }, 'the row of the patch');
    const version = response.body.metadata.resourceVersion;
    assert.deepEqual(row, {
      verb: 'patch',
      username: 'admin',
      impersonated_user: 'bob',
      source: '192.0.2.7',
      resource_versions: [version],
      code: 200,
    });
    const joined = await owner.query(
      `select c.name, c.type, a.username from plinth.changes c join cluster.audit a on c.resource_version = any(a.resource_versions)
       where c.resource_version = $1`,
      [version],
    );
    assert.deepEqual(joined.rows, [{ name: 'a', type: 1, username: 'admin' }]);
    for (const denied of [
      'select event from plinth.audit_events',
      'delete from cluster.audit',
      'select event from cluster.audit',
    ]) {
      await assert.rejects(reader.query(denied), /permission denied|cannot delete|does not exist/);
    }
    const { rows } = await owner.query('select count(*)::int as n from plinth.audit_events where event::text like $1', [
      `%${secretWord}%`,
    ]);
    assert.deepEqual(rows, [{ n: 0 }]);
  });

  it('goes by a changed policy, and keeps it when the next one is unusable', async () => {
    write('policy.yaml', policyText([{ level: 'Metadata', userGroups: ['system:masters'] }]));
    const changed = () => [server, other].every(({ log }) => /now using the changed audit policy/.test(log));
    await eventually(changed, 'the changed policy');
    const first = await noted('GET', `${maps}/a`);
    assert.deepEqual(
      first.found.map(({ stage, level }) => `${stage} ${level}`),
      ['RequestReceived Metadata', 'ResponseComplete Metadata'],
    );
    assert.equal(first.last.responseObject, undefined);
    write('policy.yaml', policyText([{ level: 'All', verb: ['get'] }]));
    const refused = () =>
      [server, other].every(({ log }) => /the changed audit policy cannot be used.*rules\[0\]\.verb/.test(log));
    await eventually(refused, 'a word about the unusable policy');
    assert.equal((await noted('GET', `${maps}/a`)).last.level, 'Metadata');
    write('policy.yaml', policyText(policy));
  });

  it('loses nothing on the way to the backends, also when a process ends', async () => {
    // Some events still wait when the process is asked to stop.
    await Promise.all(
      Array.from({ length: 40 }, () => other.client.get(`${maps}/a`, { headers: { 'user-agent': 'audit-test/end' } })),
    );
    await other.stop();
    await server.stop();
    const inLog = lines().map((line) => JSON.parse(line).auditID);
    assert.equal(new Set(inLog).size > 60, true);
    const posted = webhook.received.flatMap(({ body }) => body.items as readonly Event[]);
    const key = ({ auditID, stage }: Event) => `${auditID} ${stage}`;
    const logged = lines()
      .map((line) => key(JSON.parse(line)))
      .sort();
    assert.deepEqual(posted.map(key).sort(), logged);
    assert.deepEqual(
      [...new Set(webhook.received.map(({ body }) => `${body.kind} ${body.apiVersion}`))],
      ['EventList audit.k8s.io/v1'],
    );
    assert.ok(!JSON.stringify(posted).includes(secretWord));
    const { rows } = await owner.query('select audit_id, stage from plinth.audit_events');
    assert.deepEqual(rows.map(({ audit_id, stage }) => `${audit_id} ${stage}`).sort(), logged);
    for (const { log } of [server, other]) assert.doesNotMatch(log, /audit events are lost|could not/);
  });
});
