import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { selfSubjectAccessReview } from '../../src/objects/apis/authorization/v1/subject-access-review.types.js';
import type { ApiClient, ApiRequest } from './support/api-client.js';
import { Kubectl } from './support/kubectl.js';
import { decodeObject, encodeObject, ProtobufClient, protobuf } from './support/protobuf-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster, tokens } from './support/test-cluster.js';

const group = 'authorization.k8s.io';
const reviews = `/apis/${group}/v1`;
const rbac = '/apis/rbac.authorization.k8s.io/v1';

let cluster: TestCluster;
let admin: ApiClient;

before(async () => {
  cluster = await sharedCluster('rbac');
  admin = cluster.first.client;
  const rules = [
    { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods', 'pods/log'] },
    { verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['one'] },
    { verbs: ['create'], apiGroups: [group], resources: ['localsubjectaccessreviews'] },
  ];
  await created(`${rbac}/namespaces/default/roles`, { metadata: { name: 'reader' }, rules });
  await created(`${rbac}/namespaces/default/rolebindings`, {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'devs' }],
  });
  await created(`${rbac}/clusterroles`, {
    metadata: { name: 'extra' },
    rules: [{ verbs: ['get'], nonResourceURLs: ['/metrics', '/logs/*'] }],
  });
  await created(`${rbac}/clusterrolebindings`, {
    metadata: { name: 'extra' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'extra' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
  });
  const isInForce = async () => (await admin.get('/metrics', { token: tokens.alice })).status === 200;
  await eventually(isInForce, 'the policy of the test');
});

after(() => cluster?.stop());

async function created(path: string, body: unknown): Promise<void> {
  const answer = await admin.post(path, body);
  assert.equal(answer.status, 201, answer.text);
}

async function review(resource: string, spec: unknown, options: ApiRequest = {}) {
  return admin.post(`${reviews}/${resource}`, { spec }, options);
}

const asAlice = { token: tokens.alice };

describe('access reviews of oneself', () => {
  it('answer like the request itself', async () => {
    const cases: readonly (readonly [object, boolean])[] = [
      [{ namespace: 'default', verb: 'list', resource: 'pods' }, true],
      [{ namespace: 'default', verb: 'list', resource: 'pods', version: 'v1' }, true],
      [{ namespace: 'other', verb: 'list', resource: 'pods' }, false],
      [{ verb: 'list', resource: 'pods' }, false],
      [{ namespace: 'default', verb: 'get', resource: 'pods', subresource: 'log' }, true],
      [{ namespace: 'default', verb: 'get', resource: 'pods', subresource: 'exec' }, false],
      [{ namespace: 'default', verb: 'get', resource: 'secrets', name: 'one' }, true],
      [{ namespace: 'default', verb: 'get', resource: 'secrets', name: 'two' }, false],
      [{ namespace: 'default', verb: 'get', resource: 'secrets' }, false],
      [{ namespace: 'default', verb: 'list', resource: 'pods', group: 'apps' }, false],
    ];
    for (const [resourceAttributes, allowed] of cases) {
      const { status, body } = await review('selfsubjectaccessreviews', { resourceAttributes }, asAlice);
      assert.equal(status, 201);
      assert.equal(body.status.allowed, allowed, JSON.stringify(resourceAttributes));
      assert.equal(body.kind, 'SelfSubjectAccessReview');
      assert.deepEqual(body.spec, { resourceAttributes });
    }
    for (const [path, allowed] of [
      ['/metrics', true],
      ['/logs/a/b', true],
      ['/log', false],
    ] as const) {
      const spec = { nonResourceAttributes: { path, verb: 'get' } };
      assert.equal((await review('selfsubjectaccessreviews', spec, asAlice)).body.status.allowed, allowed, path);
    }
  });

  it('say why', async () => {
    const resourceAttributes = { namespace: 'default', verb: 'list', resource: 'pods' };
    const { body } = await review('selfsubjectaccessreviews', { resourceAttributes }, asAlice);
    const reason = 'RBAC: allowed by RoleBinding "reader/default" of Role "reader" to Group "devs"';
    assert.deepEqual(body.status, { allowed: true, denied: false, reason });
    const { body: denied } = await review('selfsubjectaccessreviews', { resourceAttributes }, { token: tokens.bob });
    assert.deepEqual(denied.status, { allowed: false, denied: false });
  });

  it('name the module that had no opinion, with its reason', async () => {
    const { client } = cluster.first;
    const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
    const apiGroup = 'rbac.authorization.k8s.io';
    const made = await client.post(bindings, {
      metadata: { name: 'to-nowhere' },
      subjects: [{ kind: 'User', name: 'dangler', apiGroup }],
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'gone' },
    });
    assert.equal(made.status, 201, made.text);
    const asked = { user: 'dangler', resourceAttributes: { verb: 'list', resource: 'pods' } };
    await eventually(async () => {
      const { body } = await review('subjectaccessreviews', asked, {});
      return body.status.reason === 'rbac: RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found';
    }, 'the binding counts');
    assert.equal((await client.delete(`${bindings}/to-nowhere`)).status, 200);
  });

  it('take selectors of newer clients, in good form', async () => {
    const ask = (attributes: object) =>
      review('selfsubjectaccessreviews', { resourceAttributes: { verb: 'list', resource: 'pods', ...attributes } });
    const selectors = {
      fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }] },
      labelSelector: { rawSelector: 'a=b' },
    };
    const accepted = await ask(selectors);
    assert.equal(accepted.status, 201);
    assert.deepEqual(accepted.body.spec.resourceAttributes, { verb: 'list', resource: 'pods', ...selectors });
    const path = 'spec.resourceAttributes.';
    const broken: readonly (readonly [object, string])[] = [
      [{ fieldSelector: {} }, `${path}fieldSelector.requirements`],
      [
        { labelSelector: { rawSelector: 'a', requirements: [{ key: 'a', operator: 'Exists' }] } },
        `${path}labelSelector.rawSelector`,
      ],
      [
        { labelSelector: { requirements: [{ key: 'a b', operator: 'Exists' }] } },
        `${path}labelSelector.requirements[0].key`,
      ],
      [
        { labelSelector: { requirements: [{ key: 'a', operator: 'In' }] } },
        `${path}labelSelector.requirements[0].values`,
      ],
      [
        { fieldSelector: { requirements: [{ key: 'a', operator: 'Exists', values: ['b'] }] } },
        `${path}fieldSelector.requirements[0].values`,
      ],
      [
        { fieldSelector: { requirements: [{ key: '', operator: 'Like', values: ['b'] }] } },
        `${path}fieldSelector.requirements[0].key`,
      ],
    ];
    const newer = await ask({ fieldSelector: { requirements: [{ key: 'a', operator: 'Like', values: ['b'] }] } });
    assert.equal(newer.status, 201);
    assert.match(newer.body.status.evaluationError, /fieldSelector ignored due to parse error$/);
    for (const [attributes, field] of broken) {
      const { status, body } = await ask(attributes);
      assert.equal(status, 422, JSON.stringify(attributes));
      assert.deepEqual(
        body.details.causes.map((cause: { field: string }) => cause.field),
        [field],
      );
    }
  });

  it('refuse what is no question', async () => {
    const cases: readonly (readonly [unknown, string, RegExp])[] = [
      [{ spec: {} }, 'spec', /: Invalid value: null: exactly one of nonResourceAttributes or/],
      [
        { spec: { resourceAttributes: { verb: 'get' }, nonResourceAttributes: { path: '/x', verb: 'get' } } },
        'spec',
        /exactly one of nonResourceAttributes or resourceAttributes must be specified$/,
      ],
      [
        { metadata: { labels: { a: 'b' } }, spec: { resourceAttributes: { verb: 'get' } } },
        'metadata',
        /must be empty$/,
      ],
    ];
    for (const [body, field, message] of cases) {
      const answer = await admin.post(`${reviews}/selfsubjectaccessreviews`, body);
      assert.equal(answer.status, 422, answer.text);
      assert.match(answer.body.message, message);
      assert.match(answer.body.message, /^\.authorization\.k8s\.io "" is invalid: /);
      assert.equal(answer.body.details.causes[0].field, field);
      assert.deepEqual(Object.keys(answer.body.details).sort(), ['causes', 'group']);
    }
    assert.equal((await admin.get(`${reviews}/selfsubjectaccessreviews`)).status, 405);
  });

  it('judge no user with more groups and attributes than any directory has', async () => {
    const many = Array.from({ length: 10_001 }, (_, i) => `v${i}`);
    const resourceAttributes = { verb: 'get', resource: 'pods' };
    for (const [field, value] of Object.entries({ groups: many, extra: { key: many } })) {
      const spec = { user: 'alice', resourceAttributes, [field]: value };
      const { status, body } = await admin.post(`${reviews}/subjectaccessreviews`, { spec });
      assert.equal(status, 422);
      assert.match(String(body.message), new RegExp(`spec\\.${field}: Too many: `));
    }
  });

  it('speak protobuf', async () => {
    const sent = new ProtobufClient(cluster.first.url, cluster.pki.authority, tokens.alice);
    const fields = { verb: 'list', resource: 'pods', namespace: 'default' };
    const body = encodeObject(selfSubjectAccessReview, { spec: { resourceAttributes: fields } } as object);
    const options = { body, contentType: protobuf, accept: protobuf };
    const answer = await sent.send('POST', `${reviews}/selfsubjectaccessreviews`, options);
    assert.equal(answer.status, 201, answer.bytes.toString());
    const { kind, status } = decodeObject(selfSubjectAccessReview, answer.bytes);
    assert.equal(kind, 'SelfSubjectAccessReview');
    assert.equal(status.allowed, true);
    assert.match(status.reason, /^RBAC: allowed by /);
  });

  it('are for every authenticated user', async () => {
    const spec = { resourceAttributes: { verb: 'get', resource: 'pods' } };
    assert.equal((await review('selfsubjectaccessreviews', spec, { token: tokens.bob })).status, 201);
    const anonymous = cluster.clientFor(cluster.first);
    assert.equal((await anonymous.post(`${reviews}/selfsubjectaccessreviews`, { spec })).status, 403);
    anonymous.close();
  });
});

describe('access reviews of others', () => {
  const resourceAttributes = { namespace: 'default', verb: 'list', resource: 'pods' };

  it('judge the user with the groups of the question', async () => {
    const ask = async (spec: object) => (await review('subjectaccessreviews', spec)).body.status.allowed;
    assert.equal(await ask({ groups: ['devs'], resourceAttributes }), true);
    assert.equal(await ask({ user: 'anybody', groups: ['devs'], resourceAttributes }), true);
    // This server does not know the groups of alice's token.
    assert.equal(await ask({ user: 'alice', resourceAttributes }), false);
    const everything = { ...resourceAttributes, verb: '*', resource: '*' };
    assert.equal(await ask({ user: 'x', groups: ['system:masters'], resourceAttributes: everything }), true);
    const path = { nonResourceAttributes: { path: '/metrics', verb: 'get' } };
    assert.equal(await ask({ user: 'alice', uid: 'u', extra: { 'a.b/c': ['d'] }, ...path }), true);
  });

  it('need a subject, and the right to ask', async () => {
    const nobody = await review('subjectaccessreviews', { resourceAttributes });
    assert.equal(nobody.status, 422);
    assert.match(
      nobody.body.message,
      /spec\.user: Invalid value: "": at least one of user or group must be specified$/,
    );
    const denied = await review('subjectaccessreviews', { user: 'bob', resourceAttributes }, asAlice);
    assert.equal(denied.status, 403);
  });

  it('can be asked in a namespace by users with the right there', async () => {
    const local = (namespace: string, spec: object, options: ApiRequest = asAlice) =>
      admin.post(`${reviews}/namespaces/${namespace}/localsubjectaccessreviews`, { spec }, options);
    const answer = await local('default', { groups: ['devs'], resourceAttributes });
    assert.equal(answer.status, 201, answer.text);
    assert.equal(answer.body.status.allowed, true);
    assert.equal(answer.body.metadata.namespace, 'default');
    assert.equal((await local('other', { user: 'bob', resourceAttributes })).status, 403);
    const about = (namespace: string) =>
      local('default', { user: 'bob', resourceAttributes: { ...resourceAttributes, namespace } });
    const mismatch = await about('other');
    assert.equal(mismatch.status, 422);
    assert.match(
      mismatch.body.message,
      /resourceAttributes\.namespace: Invalid value: "other": must match metadata\.namespace$/,
    );
    const nowhere = await about('');
    assert.equal(nowhere.status, 422);
    assert.match(nowhere.body.message, /Invalid value: "": must match metadata\.namespace$/);
    const path = await local('default', { user: 'bob', nonResourceAttributes: { path: '/x', verb: 'get' } });
    assert.match(
      path.body.message,
      /spec\.nonResourceAttributes: .*\{"Path":"\/x","Verb":"get"\}: disallowed on this kind of request$/,
    );
    const named = { metadata: { labels: { a: 'b' }, name: 'x' }, spec: { user: 'bob', resourceAttributes } };
    assert.match(
      (await admin.post(`${reviews}/namespaces/default/localsubjectaccessreviews`, named)).body.message,
      /metadata: Invalid value: \{"name":"x","namespace":"default","labels":\{"a":"b"\}\}: must be empty except for namespace$/,
    );
    // A review may name a missing namespace.
    const gone = { ...resourceAttributes, namespace: 'nowhere' };
    assert.equal((await local('nowhere', { user: 'bob', resourceAttributes: gone }, {})).status, 201);
  });
});

describe('rules reviews', () => {
  it('list what one may do in a namespace', async () => {
    const { status, body } = await review('selfsubjectrulesreviews', { namespace: 'default' }, asAlice);
    assert.equal(status, 201);
    assert.equal(body.status.incomplete, false);
    const rules = body.status.resourceRules as { resources: string[]; resourceNames?: string[] }[];
    assert.ok(rules.some(({ resources }) => resources.includes('pods/log')));
    assert.ok(rules.some(({ resourceNames }) => resourceNames?.[0] === 'one'));
    const urls = (body.status.nonResourceRules as { nonResourceURLs: string[] }[]).flatMap((r) => r.nonResourceURLs);
    assert.ok(urls.includes('/logs/*'));
    const { body: other } = await review('selfsubjectrulesreviews', { namespace: 'other' }, asAlice);
    assert.ok(!JSON.stringify(other).includes('pods/log'));
  });

  it('are answered without the metadata of the question', async () => {
    const question = { metadata: { name: 'x', labels: { a: 'b' } }, spec: { namespace: 'default' } };
    const { body } = await admin.post(`${reviews}/selfsubjectrulesreviews`, question, asAlice);
    assert.deepEqual(body.metadata, {});
  });

  it('need a namespace', async () => {
    const { status, body } = await review('selfsubjectrulesreviews', {}, asAlice);
    assert.equal(status, 400);
    assert.equal(body.message, 'no namespace on request');
  });
});

describe('kubectl auth can-i', () => {
  it('asks in all its ways', () => {
    const kubectl = new Kubectl(cluster.first.kubeconfig);
    const ask = (...args: string[]) => {
      const { code, stdout } = kubectl.run(['auth', 'can-i', ...args]);
      return `${stdout.trim()} ${code}`;
    };
    const alice = ['--as=alice', '--as-group=devs'];
    assert.equal(ask('delete', 'nodes'), 'yes 0');
    assert.equal(ask('list', 'pods', ...alice), 'yes 0');
    assert.equal(ask('list', 'pods', '-A', ...alice), 'no 1');
    assert.equal(ask('get', 'pods', '--subresource=log', ...alice), 'yes 0');
    assert.equal(ask('get', 'secrets/one', ...alice), 'yes 0');
    assert.equal(ask('get', 'secrets/two', ...alice), 'no 1');
    assert.equal(ask('get', '/logs/x', ...alice, '--as-group=system:authenticated'), 'yes 0');
    assert.equal(ask('create', 'deployments.apps', ...alice), 'no 1');
    const list = kubectl.ok(['auth', 'can-i', '--list', ...alice, '--as-group=system:authenticated']);
    assert.match(list, /pods\/log +\[\] +\[\] +\[get list\]/);
    assert.match(list, /secrets +\[\] +\[one\] +\[get\]/);
    assert.match(list, /\[\/metrics\]/);
  });
});
