import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeRequest, toBase64 } from '../support/certificate-requests.js';
import { TestIdentity } from '../support/test-authority.js';
import { ApiClient, type ApiResponse } from './support/api-client.js';
import { type FieldLines, sendFields } from './support/send-fields.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';

const group = 'rbac.authorization.k8s.io';
const rbac = `/apis/${group}/v1`;
const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const reviews = '/apis/authorization.k8s.io/v1';
const { alice, bob } = tokens;
const apply = 'application/apply-patch+yaml';

let cluster: TestCluster;
let admin: ApiClient;
let users: TestIdentity;
const clients: ApiClient[] = [];

async function make(path: string, body: unknown): Promise<ApiResponse> {
  const answer = await admin.post(path, body);
  assert.equal(answer.status, 201, answer.text);
  return answer;
}

/** Lets a user do something, in a namespace or everywhere. */
async function grant(name: string, user: string, rules: readonly object[], namespace?: string): Promise<void> {
  const base = namespace === undefined ? rbac : `${rbac}/namespaces/${namespace}`;
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  await make(`${base}/${kind.toLowerCase()}s`, { metadata: { name }, rules });
  await make(`${base}/${kind.toLowerCase()}bindings`, {
    metadata: { name },
    roleRef: { apiGroup: group, kind, name },
    subjects: [{ kind: 'User', apiGroup: group, name: user }],
  });
}

/** A client with a certificate for a subject. */
async function agent(subject: readonly Record<string, string[]>[]): Promise<ApiClient> {
  const identity = await users.issue({ subject: [...subject] });
  const client = new ApiClient(cluster.first.url, {
    ca: cluster.pki.authority,
    cert: identity.chain,
    key: identity.key,
  });
  clients.push(client);
  return client;
}

const nodeAgent = (name: string) => agent([{ O: ['system:nodes'] }, { CN: [`system:node:${name}`] }]);

function forbidden(answer: ApiResponse, what: string): void {
  assert.equal(answer.status, 403, `${what}: ${answer.status} ${answer.text}`);
  assert.equal(answer.body.reason, 'Forbidden', what);
  assert.notEqual(answer.body.message, '', what);
}

before(async () => {
  cluster = await TestCluster.start({ servers: 0 });
  users = await TestIdentity.root('users');
  const file = (name: string, text: string) => {
    const path = join(cluster.directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await cluster.addServer(undefined, [
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    `--client-ca-file=${file('users.pem', users.cert)}`,
    `--service-account-signing-key-file=${file('sa.key', String(privateKey.export({ type: 'pkcs8', format: 'pem' })))}`,
    '--enable-bootstrap-token-auth',
    '--log-level=debug',
  ]);
  admin = cluster.first.client;
  for (const name of ['a', 'b']) {
    await make('/api/v1/namespaces', { metadata: { name } });
    await make(`/api/v1/namespaces/${name}/secrets`, { metadata: { name: 'first' } });
    for (const map of ['one', 'two', 'three']) {
      await make(`/api/v1/namespaces/${name}/configmaps`, { metadata: { name: map } });
    }
  }
});
after(async () => {
  for (const client of clients) client.close();
  await cluster?.stop();
});

describe('whether something exists', () => {
  before(async () => {
    const metadata = { name: 'present' };
    await make('/api/v1/namespaces', { metadata });
    await make('/api/v1/namespaces/a/secrets', { metadata });
    await make('/api/v1/namespaces/a/serviceaccounts', { metadata });
    await make('/api/v1/namespaces/a/pods', { metadata, spec: { containers: [{ name: 'c', image: 'i' }] } });
    await make(`${rbac}/clusterroles`, { metadata, rules: [] });
  });

  const targets: readonly (readonly [string, string, unknown?])[] = [
    ['GET', '/api/v1/namespaces/a/secrets/NAME'],
    ['HEAD', '/api/v1/namespaces/a/secrets/NAME'],
    ['PUT', '/api/v1/namespaces/a/secrets/NAME', { metadata: { name: 'NAME' } }],
    ['PATCH', '/api/v1/namespaces/a/secrets/NAME', {}],
    ['DELETE', '/api/v1/namespaces/a/secrets/NAME'],
    ['DELETE', '/api/v1/namespaces/a/secrets/NAME?dryRun=All'],
    ['POST', '/api/v1/namespaces/a/secrets', { metadata: { name: 'NAME' } }],
    ['GET', '/api/v1/namespaces/a/secrets?watch=1&fieldSelector=metadata.name%3DNAME'],
    [
      'GET',
      '/api/v1/namespaces/a/secrets?resourceVersion=1&resourceVersionMatch=Exact&fieldSelector=metadata.name%3DNAME',
    ],
    ['GET', '/api/v1/namespaces/a/secrets/NAME/status'],
    ['POST', '/api/v1/namespaces/a/pods/NAME/eviction', {}],
    ['POST', '/api/v1/namespaces/a/serviceaccounts/NAME/token', {}],
    ['GET', '/api/v1/namespaces/NAME'],
    ['GET', '/api/v1/namespaces/NAME/secrets'],
    ['POST', '/api/v1/namespaces/NAME/secrets', { metadata: { name: 'x' } }],
    ['DELETE', '/api/v1/namespaces/NAME/secrets'],
    ['GET', `${rbac}/clusterroles/NAME`],
    ['GET', '/apis/NAME/v1/things'],
    ['GET', '/apis/networking.k8s.io/v1/NAME'],
  ];
  for (const [method, path, body] of targets) {
    it(`is not told to those without the right: ${method} ${path}`, async () => {
      const isServed = path.startsWith('/apis/NAME') || path.endsWith('/v1/NAME');
      // One that is there and one that isn't, with names of the same length.
      const names = isServed ? ['apps', 'spps'] : ['present', 'missing'];
      const seen = new Set<string>();
      for (const name of names) {
        const raw = JSON.stringify(body)?.replaceAll('NAME', name);
        const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
        const options = { token: bob, contentType, ...(raw === undefined ? {} : { raw }) };
        const answer = await admin.send(method, path.replaceAll('NAME', name), options);
        assert.equal(answer.status, 403, answer.text);
        const { date: _, ...headers } = answer.headers;
        seen.add(JSON.stringify([headers, answer.text.replaceAll(name, 'NAME')]));
      }
      assert.equal(seen.size, 1, [...seen].join('\n'));
    });
  }
});

describe('a right to update alone', () => {
  before(async () => {
    const rules = [
      { verbs: ['get', 'update', 'patch'], apiGroups: [''], resources: ['configmaps'] },
      { verbs: ['get', 'update', 'patch'], apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
      { verbs: ['get', 'update', 'patch'], apiGroups: [group], resources: ['roles', 'rolebindings'] },
    ];
    await grant('updater', 'alice', rules, 'a');
    await eventually(
      async () => (await admin.get('/api/v1/namespaces/a/configmaps/one', { token: alice })).status === 200,
      'the right is in force',
    );
  });

  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'new' } };
  const role = { apiVersion: `${group}/v1`, kind: 'Role', metadata: { name: 'new' }, rules: [] };
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new' } };
  const leases = '/apis/coordination.k8s.io/v1/namespaces/a/leases/new';
  const ways: readonly (readonly [string, string, string, object, string | undefined])[] = [
    ['a PUT', 'PUT', leases, lease, undefined],
    ['a PUT that is a dry run', 'PUT', `${leases}?dryRun=All`, lease, undefined],
    ['a PUT of a role', 'PUT', `${rbac}/namespaces/a/roles/new`, role, undefined],
    ['an apply', 'PATCH', '/api/v1/namespaces/a/configmaps/new?fieldManager=x', map, apply],
    [
      'an apply that is a dry run',
      'PATCH',
      '/api/v1/namespaces/a/configmaps/new?fieldManager=x&dryRun=All',
      map,
      apply,
    ],
    ['an apply by force', 'PATCH', '/api/v1/namespaces/a/configmaps/new?fieldManager=x&force=true', map, apply],
  ];
  for (const [what, method, path, body, contentType] of ways) {
    it(`does not create by ${what}`, async () => {
      const options = {
        token: alice,
        raw: JSON.stringify(body),
        ...(contentType === undefined ? {} : { contentType }),
      };
      const answer = await admin.send(method, path, options);
      forbidden(answer, what);
      assert.match(answer.body.message, /User "alice" cannot create resource/);
      assert.equal((await admin.get(path.split('?')[0] as string)).status, 404);
    });
  }

  it('updates what is there, and creates once it is a right to create too', async () => {
    const options = { token: alice, contentType: apply };
    const there = { ...map, metadata: { name: 'one' }, data: { a: 'b' } };
    const path = '/api/v1/namespaces/a/configmaps';
    const updated = await admin.send('PATCH', `${path}/one?fieldManager=x`, { ...options, raw: JSON.stringify(there) });
    assert.equal(updated.status, 200, updated.text);
    const rules = [{ verbs: ['create'], apiGroups: [''], resources: ['configmaps'] }];
    await grant('creator', 'alice', rules, 'a');
    const raw = JSON.stringify(map);
    const created = () => admin.send('PATCH', `${path}/new?fieldManager=x&dryRun=All`, { ...options, raw });
    await eventually(async () => (await created()).status === 201, 'the right to create counts');
  });
});

describe('impersonation', () => {
  before(async () => {
    const rules = [{ verbs: ['impersonate'], apiGroups: [''], resources: ['users'], resourceNames: ['carol'] }];
    await grant('impersonator', 'alice', rules);
    await eventually(async () => {
      const answer = await admin.get('/api/v1/nodes', { token: alice, headers: { 'impersonate-user': 'carol' } });
      return /User "carol"/.test(answer.body.message);
    }, 'alice may be carol');
  });

  const attempts: Readonly<Record<string, FieldLines>> = {
    'another user': [['Impersonate-User', 'root']],
    'a user of the right length': [['Impersonate-User', 'carol2']],
    'a user in another case': [['Impersonate-User', 'Carol']],
    'a user with a blank in it': [['Impersonate-User', 'ca rol']],
    'a privileged group': [
      ['Impersonate-User', 'carol'],
      ['Impersonate-Group', 'system:masters'],
    ],
    'a group that everybody is in': [
      ['Impersonate-User', 'carol'],
      ['Impersonate-Group', 'system:authenticated'],
    ],
    'a uid': [
      ['Impersonate-User', 'carol'],
      ['Impersonate-Uid', '1'],
    ],
    'an extra field': [
      ['Impersonate-User', 'carol'],
      ['Impersonate-Extra-Scopes', 'all'],
    ],
    'a service account': [['Impersonate-User', 'system:serviceaccount:a:default']],
    'a component': [['Impersonate-User', 'system:kube-controller-manager']],
    'an agent': [
      ['Impersonate-User', 'system:node:n1'],
      ['Impersonate-Group', 'system:nodes'],
    ],
    nobody: [['Impersonate-User', 'system:anonymous']],
    themselves: [['Impersonate-User', 'alice']],
  };
  for (const http of [1, 2] as const) {
    for (const [what, lines] of Object.entries(attempts)) {
      it(`of ${what} needs a right to that, over HTTP/${http}`, async () => {
        const credentials = { ca: cluster.pki.authority, token: alice };
        const { status, body } = await sendFields(http, `${cluster.first.url}/api/v1/secrets`, credentials, lines);
        assert.equal(status, 403, JSON.stringify(body));
        assert.match(body.message, /User "alice" cannot impersonate resource/);
      });
    }

    it(`of half a user is refused, over HTTP/${http}`, async () => {
      const credentials = { ca: cluster.pki.authority, token: alice };
      for (const lines of [
        [['Impersonate-Group', 'system:masters']],
        [['Impersonate-Uid', '1']],
        [['Impersonate-Extra-Scopes', 'x']],
        [
          ['Impersonate-User', 'carol'],
          ['Impersonate-User', 'root'],
        ],
        [
          ['Impersonate-User', ''],
          ['Impersonate-Group', 'system:masters'],
        ],
      ] as FieldLines[]) {
        const { status } = await sendFields(http, `${cluster.first.url}/api/v1/secrets`, credentials, lines);
        assert.equal(status, 400, JSON.stringify(lines));
      }
    });
  }
});

describe('rights by way of roles', () => {
  before(async () => {
    const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete', 'deletecollection'];
    const resources = ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'];
    await grant('role-writer', 'bob', [{ verbs, apiGroups: [group], resources }]);
    await eventually(async () => (await admin.get(`${rbac}/clusterroles`, { token: bob })).status === 200, 'in force');
  });

  const all = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }];
  const adminLabel = { 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' };
  const role = (name: string, rest: object) => ({
    apiVersion: `${group}/v1`,
    kind: 'ClusterRole',
    metadata: { name },
    ...rest,
  });
  const bind = (kind: string, name: string, version = 'v1') => ({
    apiVersion: `${group}/${version}`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'up' },
    roleRef: { apiGroup: group, kind, name },
    subjects: [{ kind: 'User', apiGroup: group, name: 'bob' }],
  });

  it('are not taken by a role that is collected into admin', async () => {
    const collected = role('collected', { rules: all });
    const answer = await admin.post(
      `${rbac}/clusterroles`,
      { ...collected, metadata: { name: 'collected', labels: adminLabel } },
      { token: bob },
    );
    forbidden(answer, 'a role with more than bob has');
    // A role of others that has more gets no label from bob either.
    await make(`${rbac}/clusterroles`, role('powerful', { rules: all }));
    for (const [type, body] of [
      ['merge', { metadata: { labels: adminLabel } }],
      ['strategic-merge', { metadata: { labels: adminLabel } }],
      ['json', [{ op: 'add', path: '/metadata/labels', value: adminLabel }]],
    ] as const) {
      forbidden(await admin.patch(`${rbac}/clusterroles/powerful`, type, body, { token: bob }), type);
    }
    const applied = await admin.send('PATCH', `${rbac}/clusterroles/powerful?fieldManager=bob&force=true`, {
      raw: JSON.stringify(role('powerful', { metadata: { name: 'powerful', labels: adminLabel } })),
      contentType: apply,
      token: bob,
    });
    forbidden(applied, 'apply');
    const own = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: {} }] } };
    forbidden(await admin.post(`${rbac}/clusterroles`, role('collector', own), { token: bob }), 'a rule that collects');
    await make(`${rbac}/clusterroles`, role('empty', { rules: [] }));
    forbidden(await admin.patch(`${rbac}/clusterroles/empty`, 'merge', own, { token: bob }), 'patch of such a rule');
  });

  it('are not taken by a binding, in any version and by any way', async () => {
    for (const version of ['v1', 'v1beta1', 'v1alpha1']) {
      const path = `/apis/${group}/${version}/clusterrolebindings`;
      const served = (await admin.get(`/apis/${group}/${version}`)).status === 200;
      if (!served) continue;
      const body = bind('ClusterRole', 'cluster-admin', version);
      for (const query of ['', '?dryRun=All', '?fieldValidation=Ignore']) {
        forbidden(await admin.post(`${path}${query}`, body, { token: bob }), `${version} ${query}`);
      }
      const { apiGroup: _, ...short } = body.roleRef;
      forbidden(await admin.post(path, { ...body, roleRef: short }, { token: bob }), `${version} without a group`);
      forbidden(await admin.put(`${path}/up`, body, { token: bob }), `${version} PUT`);
      const raw = JSON.stringify(body);
      const options = { raw, contentType: apply, token: bob };
      forbidden(await admin.send('PATCH', `${path}/up?fieldManager=b`, options), `${version} apply`);
    }
    const odd = [
      {
        ...bind('ClusterRole', 'cluster-admin'),
        roleRef: { apiGroup: '', kind: 'ClusterRole', name: 'cluster-admin' },
      },
      {
        ...bind('ClusterRole', 'cluster-admin'),
        roleRef: { apiGroup: 'other', kind: 'ClusterRole', name: 'cluster-admin' },
      },
      bind('clusterrole', 'cluster-admin'),
      bind('ClusterRole', 'cluster-admin '),
      bind('ClusterRole', ''),
    ];
    for (const body of odd) {
      const { status } = await admin.post(`${rbac}/clusterrolebindings`, body, { token: bob });
      assert.ok([403, 404, 422].includes(status), `${JSON.stringify(body.roleRef)}: ${status}`);
    }
    assert.equal((await admin.get(`${rbac}/clusterrolebindings/up`)).status, 404);
  });

  it('are not taken by joining a binding of others or by changing whose role it is', async () => {
    const path = `${rbac}/clusterrolebindings/cluster-admin`;
    const subject = { kind: 'User', apiGroup: group, name: 'bob' };
    const json = [{ op: 'add', path: '/subjects/-', value: subject }];
    forbidden(await admin.patch(path, 'json', json, { token: bob }), 'json');
    forbidden(await admin.patch(path, 'merge', { subjects: [subject] }, { token: bob }), 'merge');
    const whole = (await admin.get(path, { token: bob })).body;
    forbidden(await admin.put(path, { ...whole, subjects: [subject] }, { token: bob }), 'put');
    const own = { ...bind('ClusterRole', 'role-writer'), metadata: { name: 'own' } };
    assert.equal((await admin.post(`${rbac}/clusterrolebindings`, own, { token: bob })).status, 201);
    const change = { roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'cluster-admin' } };
    const changed = await admin.patch(`${rbac}/clusterrolebindings/own`, 'merge', change, { token: bob });
    assert.ok([403, 422].includes(changed.status), changed.text);
    assert.equal((await admin.get(`${rbac}/clusterrolebindings/own`)).body.roleRef.name, 'role-writer');
  });

  it('are not asked for in the name of others', async () => {
    const spec = {
      user: 'admin',
      groups: ['system:masters'],
      resourceAttributes: { verb: 'get', resource: 'secrets' },
    };
    forbidden(await admin.post(`${reviews}/subjectaccessreviews`, { spec }, { token: bob }), 'review of others');
    const local = {
      metadata: { namespace: 'a' },
      spec: { ...spec, resourceAttributes: { ...spec.resourceAttributes, namespace: 'a' } },
    };
    forbidden(
      await admin.post(`${reviews}/namespaces/a/localsubjectaccessreviews`, local, { token: bob }),
      'in a namespace',
    );
    const self = await admin.post(`${reviews}/selfsubjectaccessreviews`, { spec }, { token: bob });
    assert.ok(self.status >= 400 || self.body.status.allowed === false, self.text);
    const token = { spec: { token: tokens.admin } };
    forbidden(await admin.post('/apis/authentication.k8s.io/v1/tokenreviews', token, { token: bob }), 'token review');
  });
});

describe('lists that go on', () => {
  const path = (namespace: string, resource = 'configmaps') => `/api/v1/namespaces/${namespace}/${resource}`;

  it('go on where the right is, with what they were begun with', async () => {
    const rules = [{ verbs: ['list'], apiGroups: [''], resources: ['configmaps'] }];
    await grant('lister', 'alice', rules, 'b');
    await eventually(async () => (await admin.get(path('b'), { token: alice })).status === 200, 'in force');
    const begin = async (where: string, token?: string) => {
      const { body } = await admin.get(`${where}${where.includes('?') ? '&' : '?'}limit=1`, { token });
      assert.ok(body.metadata.continue, where);
      return encodeURIComponent(body.metadata.continue);
    };
    const own = await begin(path('b'), alice);
    const goOn = (where: string, token: string) => admin.get(`${where}?limit=1&continue=${token}`, { token: alice });
    assert.equal((await goOn(path('b'), own)).status, 200);
    for (const where of [path('a'), '/api/v1/configmaps', path('b', 'secrets'), '/api/v1/secrets']) {
      forbidden(await goOn(where, own), where);
    }
    // What an administrator was given says nothing about what alice may read.
    await make(path('b', 'secrets'), { metadata: { name: 'more' } });
    for (const where of [
      '/api/v1/configmaps',
      path('a'),
      path('b', 'secrets'),
      `${path('b')}?labelSelector=a%21%3Db`,
    ]) {
      const { status, text } = await goOn(path('b'), await begin(where));
      assert.equal(status, 400, `${where}: ${text}`);
    }
    const decoded = Buffer.from(decodeURIComponent(own), 'base64url').toString('latin1');
    const moved = Buffer.from(decoded.replace('"ns":"b"', '"ns":"a"'), 'latin1').toString('base64url');
    for (const bad of [moved, 'e30', `${own}AAAA`, own.slice(0, -2), '%00', '..%2f..', 'a'.repeat(20_000)]) {
      assert.equal((await goOn(path('b'), bad)).status, 400, bad.slice(0, 40));
    }
  });
});

describe('certificates for more than one is', () => {
  const usages = ['digital signature', 'key encipherment', 'client auth'];
  const signer = 'k8s.io/apiserver-client';
  const condition = { type: 'Approved', status: 'True', reason: 'x', message: 'x' };

  async function ask(name: string, subject: string, more: object = {}, token: string = alice): Promise<ApiResponse> {
    const spec = { request: toBase64(await makeRequest({ subject })), signerName: signer, usages, ...more };
    return admin.post(
      requests,
      { metadata: { name }, spec, status: { conditions: [condition], certificate: 'eA==' } },
      { token },
    );
  }

  before(async () => {
    const resources = [
      'certificatesigningrequests',
      'certificatesigningrequests/approval',
      'certificatesigningrequests/status',
    ];
    const verbs = ['create', 'get', 'list', 'update', 'patch'];
    await grant('requester', 'alice', [{ verbs, apiGroups: ['certificates.k8s.io'], resources }]);
    await eventually(async () => (await admin.get(requests, { token: alice })).status === 200, 'in force');
  });

  it('are not asked for', async () => {
    for (const [name, subject] of [
      ['masters', 'CN=alice, O=system:masters'],
      ['masters-last', 'CN=alice, O=devs, O=system:masters'],
      ['masters-multi', 'CN=alice+O=system:masters'],
    ] as const) {
      forbidden(await ask(name, subject), subject);
      assert.equal((await admin.get(`${requests}/${name}`)).status, 404);
    }
  });

  it('do not come from a false name, or approved', async () => {
    const claimed = { username: 'admin', uid: 'admin-uid', groups: ['system:masters'], extra: { a: ['b'] } };
    const { status, body } = await ask('false-name', 'CN=alice', claimed);
    assert.equal(status, 201);
    assert.equal(body.spec.username, 'alice');
    assert.deepEqual(body.spec.groups, ['devs', 'system:authenticated']);
    assert.equal(body.spec.extra, undefined);
    assert.deepEqual(body.status, {});
  });

  it('are not approved, signed or changed without the right to that', async () => {
    const { body } = await ask('own', 'CN=alice');
    const path = `${requests}/own`;
    const approved = { ...body, status: { conditions: [condition] } };
    forbidden(await admin.put(`${path}/approval`, approved, { token: alice }), 'approval');
    forbidden(await admin.patch(`${path}/approval`, 'merge', { status: approved.status }, { token: alice }), 'patch');
    const signed = { ...body, status: { certificate: Buffer.from(users.cert).toString('base64') } };
    forbidden(await admin.put(`${path}/status`, signed, { token: alice }), 'signing');
    // By the wrong door: what belongs to another path is left as it is.
    const wrong = await admin.put(
      path,
      { ...approved, spec: { ...body.spec, groups: ['system:masters'] } },
      { token: alice },
    );
    assert.ok([200, 422].includes(wrong.status), wrong.text);
    await admin.put(`${path}/status`, approved, { token: alice });
    await admin.patch(`${path}/status`, 'merge', { status: { conditions: [condition] } }, { token: alice });
    const now = (await admin.get(path)).body;
    assert.deepEqual(now.status, {});
    assert.deepEqual(now.spec, body.spec);
  });
});

describe('agents of nodes', () => {
  const pod = (name: string, nodeName: string, secret: string) => ({
    metadata: { name },
    spec: {
      nodeName,
      serviceAccountName: `account-${nodeName}`,
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', secret: { secretName: secret } }],
    },
  });
  let one: ApiClient;
  let uids: Record<string, string>;

  before(async () => {
    uids = {};
    for (const node of ['n1', 'n2']) {
      await make('/api/v1/nodes', { metadata: { name: node } });
      await make('/api/v1/namespaces/a/secrets', { metadata: { name: `secret-${node}` }, data: { key: 'dmFsdWU=' } });
      await make('/api/v1/namespaces/a/serviceaccounts', { metadata: { name: `account-${node}` } });
      const made = await make('/api/v1/namespaces/a/pods', pod(`pod-${node}`, node, `secret-${node}`));
      uids[node] = made.body.metadata.uid;
    }
    one = await nodeAgent('n1');
    await eventually(
      async () => (await one.get('/api/v1/namespaces/a/secrets/secret-n1')).status === 200,
      'the node reads what its pod needs',
    );
  });

  it('read no secret that no pod of theirs needs, by any way', async () => {
    const secrets = '/api/v1/namespaces/a/secrets';
    for (const path of [
      `${secrets}/secret-n2`,
      `${secrets}/absent`,
      secrets,
      '/api/v1/secrets',
      `${secrets}?fieldSelector=metadata.name%3Dsecret-n2`,
      `${secrets}?watch=1&fieldSelector=metadata.name%3Dsecret-n2`,
      `${secrets}?watch=1`,
      `${secrets}?labelSelector=a%3Db`,
      `${secrets}?fieldSelector=metadata.name%21%3Dsecret-n1`,
      `/api/v1/secrets?fieldSelector=metadata.name%3Dsecret-n1`,
      `/api/v1/namespaces/b/secrets/secret-n1`,
    ]) {
      forbidden(await one.get(path), path);
    }
    const [there, absent] = await Promise.all(['secret-n2', 'absent'].map((name) => one.get(`${secrets}/${name}`)));
    assert.equal(there?.text.replaceAll('secret-n2', 'X'), absent?.text.replaceAll('absent', 'X'));
    forbidden(await one.patch(`${secrets}/secret-n1`, 'merge', { data: {} }), 'a write of what it reads');
  });

  it('get no token for an account or a pod of another node', async () => {
    const token = (account: string, name: string, uid: string | undefined) =>
      one.post(`/api/v1/namespaces/a/serviceaccounts/${account}/token`, {
        spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid } },
      });
    assert.equal((await token('account-n1', 'pod-n1', uids.n1)).status, 201);
    forbidden(await token('account-n2', 'pod-n2', uids.n2), 'of another node');
    forbidden(await token('account-n1', 'pod-n2', uids.n2), 'bound to a pod of another node');
    forbidden(await token('absent', 'pod-n1', uids.n1), 'of nobody');
    const unbound = await one.post('/api/v1/namespaces/a/serviceaccounts/account-n1/token', { spec: {} });
    forbidden(unbound, 'bound to nothing');
  });

  it('bring no secret to themselves with a pod of their own, and move no pod', async () => {
    const bring = pod('bring', 'n1', 'secret-n2');
    forbidden(await one.post('/api/v1/namespaces/a/pods', bring), 'a pod that needs a secret');
    const mirror = { ...bring, metadata: { name: 'bring', annotations: { 'kubernetes.io/config.mirror': 'x' } } };
    forbidden(await one.post('/api/v1/namespaces/a/pods', mirror), 'a mirror pod that needs a secret');
    const binding = { metadata: { name: 'pod-n2' }, target: { kind: 'Node', name: 'n1' } };
    forbidden(await one.post('/api/v1/namespaces/a/pods/pod-n2/binding', binding), 'binding');
    forbidden(await one.patch('/api/v1/namespaces/a/pods/pod-n2/status', 'merge', { status: {} }), 'status of others');
    forbidden(await one.delete('/api/v1/namespaces/a/pods/pod-n2'), 'deletion');
    forbidden(await one.patch('/api/v1/nodes/n2', 'merge', { metadata: { labels: { a: 'b' } } }), 'another node');
    forbidden(await one.patch('/api/v1/nodes/n2/status', 'merge', { status: {} }), 'status of another node');
  });

  it('are those whose whole name says so', async () => {
    const subjects: readonly Record<string, string[]>[][] = [
      [{ CN: ['system:node:n1'] }],
      [{ O: ['system:nodes'] }, { CN: ['n1'] }],
      [{ O: ['system:nodes'] }, { CN: ['system:node:'] }],
      [{ O: ['system:nodes'] }, { CN: ['system:node:N1'] }],
      [{ O: ['System:Nodes'] }, { CN: ['system:node:n1'] }],
      [{ O: ['system:nodes'] }, { CN: ['system:node:n1\0'] }],
      [{ O: ['system:nodes'] }, { CN: ['system:node:n2/../n1'] }],
    ];
    for (const subject of subjects) {
      const client = await agent(subject);
      const { status } = await client.get('/api/v1/namespaces/a/secrets/secret-n1');
      assert.ok([401, 403].includes(status), `${JSON.stringify(subject)}: ${status}`);
    }
  });
});

describe('secrets that make tokens', () => {
  it('give no group outside of those for bootstrapping', async () => {
    for (const groups of ['system:masters', 'system:bootstrappers:a,system:masters', 'system:bootstrappers:a ,x']) {
      const path = '/api/v1/namespaces/control-system/secrets/bootstrap-token-abcdef';
      await admin.delete(path);
      const stringData = {
        'token-id': 'abcdef',
        'token-secret': '0123456789abcdef',
        'usage-bootstrap-authentication': 'true',
        'auth-extra-groups': groups,
      };
      const metadata = { name: 'bootstrap-token-abcdef' };
      const type = 'bootstrap.k8s.io/token';
      const made = await admin.post('/api/v1/namespaces/control-system/secrets', { metadata, type, stringData });
      assert.ok([201, 422].includes(made.status), made.text);
      const answer = await admin.get('/api/v1/secrets', { token: 'abcdef.0123456789abcdef' });
      assert.equal(answer.status, 401, groups);
    }
  });

  it('die with what they are for', async () => {
    await make('/api/v1/namespaces/a/serviceaccounts', { metadata: { name: 'short' } });
    const path = '/api/v1/namespaces/a/serviceaccounts/short';
    const { body } = await make(`${path}/token`, { spec: {} });
    const { token } = body.status;
    assert.equal((await admin.get('/api/v1/secrets', { token })).status, 403);
    assert.equal((await admin.delete(path)).status, 200);
    await eventually(async () => (await admin.get('/api/v1/secrets', { token })).status === 401, 'refused', 5_000);
    // The same name again is another account.
    await make('/api/v1/namespaces/a/serviceaccounts', { metadata: { name: 'short' } });
    assert.equal((await admin.get('/api/v1/secrets', { token })).status, 401);
  });
});

describe('the log', () => {
  it('has the lines that the server wrote, whatever is sent', async () => {
    const forged = '2026-01-01T00:00:00.000Z ERROR forged';
    const text = encodeURIComponent(`x\n${forged}\r\n\u2028\u001b[2K`);
    const liar = await agent([{ CN: [`eve\n${forged}`] }]);
    for (const client of [admin, liar]) {
      await client.get(`/api/v1/namespaces/a/secrets/${text}`);
      await client.get(`/${text}`);
      await client.get(`/api/v1/configmaps?labelSelector=${text}&fieldSelector=${text}&continue=${text}`);
      await client.post(`/api/v1/namespaces/a/configmaps?fieldManager=${text}`, { metadata: { name: 'x' } });
      await client.post('/api/v1/namespaces/a/configmaps', { metadata: { name: `x\n${forged}` } });
      await client.post('/api/v1/namespaces/a/configmaps', {}, { headers: { 'user-agent': 'x\t2026 ERROR forged' } });
      await client.get('/api/v1/secrets', {
        token: `x.${Buffer.from(`{"iss":"x\n${forged}"}`).toString('base64url')}.x`,
      });
    }
    await make('/api/v1/namespaces/a/secrets', {
      metadata: { name: 'known' },
      stringData: { key: 'very-secret-value' },
    });
    const { log } = cluster.first;
    assert.ok(log.includes('credentials refused'));
    for (const line of log.split('\n')) assert.doesNotMatch(line, /^.{0,3}2026-01-01|^\s*2026 ERROR/, line);
    assert.ok(!log.includes('\u001b') && !log.includes('\u2028'));
    for (const secret of [...Object.values(tokens), 'very-secret-value', 'PRIVATE KEY', '0123456789abcdef']) {
      assert.ok(!log.includes(secret), 'a secret is in the log');
    }
  });
});
