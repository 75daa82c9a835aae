import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient } from './support/api-client.js';
import { AttackScene, forbidden } from './support/attack-scene.js';
import { type FieldLines, sendFields } from './support/send-fields.js';
import { eventually, type TestCluster, tokens } from './support/test-cluster.js';

const group = 'rbac.authorization.k8s.io';
const rbac = `/apis/${group}/v1`;
const reviews = '/apis/authorization.k8s.io/v1';
const { alice, bob } = tokens;
const apply = 'application/apply-patch+yaml';

let scene: AttackScene;
let cluster: TestCluster;
let admin: ApiClient;

before(async () => {
  scene = await AttackScene.start();
  ({ cluster, admin } = scene);
  for (const name of ['a', 'b']) {
    await scene.make('/api/v1/namespaces', { metadata: { name } });
    await scene.make(`/api/v1/namespaces/${name}/secrets`, { metadata: { name: 'first' } });
    for (const map of ['one', 'two', 'three']) {
      await scene.make(`/api/v1/namespaces/${name}/configmaps`, { metadata: { name: map } });
    }
  }
});
after(() => scene?.stop());

describe('whether something exists', () => {
  before(async () => {
    const metadata = { name: 'present' };
    await scene.make('/api/v1/namespaces', { metadata });
    await scene.make('/api/v1/namespaces/a/secrets', { metadata });
    await scene.make('/api/v1/namespaces/a/serviceaccounts', { metadata });
    await scene.make('/api/v1/namespaces/a/pods', { metadata, spec: { containers: [{ name: 'c', image: 'i' }] } });
    await scene.make(`${rbac}/clusterroles`, { metadata, rules: [] });
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
      // One name that exists and one that does not, of the same length.
      const names = isServed ? ['apps', 'spps'] : ['present', 'missing'];
      const seen = new Set<string>();
      for (const name of names) {
        const raw = JSON.stringify(body)?.replaceAll('NAME', name);
        const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
        const options = { token: bob, contentType, ...(raw === undefined ? {} : { raw }) };
        const answer = await admin.send(method, path.replaceAll('NAME', name), options);
        assert.equal(answer.status, 403, answer.text);
        const { date: _, 'audit-id': _id, ...headers } = answer.headers;
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
    await scene.grant('updater', 'alice', rules, 'a');
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

  it('updates existing objects, and creates only together with the right to create', async () => {
    const options = { token: alice, contentType: apply };
    const there = { ...map, metadata: { name: 'one' }, data: { a: 'b' } };
    const path = '/api/v1/namespaces/a/configmaps';
    const updated = await admin.send('PATCH', `${path}/one?fieldManager=x`, { ...options, raw: JSON.stringify(there) });
    assert.equal(updated.status, 200, updated.text);
    const rules = [{ verbs: ['create'], apiGroups: [''], resources: ['configmaps'] }];
    await scene.grant('creator', 'alice', rules, 'a');
    const raw = JSON.stringify(map);
    const created = () => admin.send('PATCH', `${path}/new?fieldManager=x&dryRun=All`, { ...options, raw });
    await eventually(async () => (await created()).status === 201, 'the right to create counts');
  });
});

describe('impersonation', () => {
  before(async () => {
    const rules = [{ verbs: ['impersonate'], apiGroups: [''], resources: ['users'], resourceNames: ['carol'] }];
    await scene.grant('impersonator', 'alice', rules);
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
        assert.match(body.message, /User "alice" cannot impersonate/);
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
    await scene.grant('role-writer', 'bob', [{ verbs, apiGroups: [group], resources }]);
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
    // Nor can bob label a role of another user that grants more.
    await scene.make(`${rbac}/clusterroles`, role('powerful', { rules: all }));
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
    await scene.make(`${rbac}/clusterroles`, role('empty', { rules: [] }));
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
      assert.ok([400, 403, 404, 422].includes(status), `${JSON.stringify(body.roleRef)}: ${status}`);
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

  it('go on only with the right that they started with', async () => {
    const rules = [{ verbs: ['list'], apiGroups: [''], resources: ['configmaps'] }];
    await scene.grant('lister', 'alice', rules, 'b');
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
    // A continue token from an administrator's list gives alice no rights: it is a place in what she lists.
    await scene.make(path('b', 'secrets'), { metadata: { name: 'more' } });
    for (const where of [
      '/api/v1/configmaps',
      path('a'),
      path('b', 'secrets'),
      `${path('b')}?labelSelector=a%21%3Db`,
    ]) {
      const { status, text, body } = await goOn(path('b'), await begin(where));
      assert.deepEqual([status, body.kind], [200, 'ConfigMapList'], `${where}: ${text}`);
      const items: readonly { metadata: { namespace: string } }[] = body.items;
      assert.ok(
        items.every(({ metadata }) => metadata.namespace === 'b'),
        `${where}: ${text}`,
      );
    }
    const decoded = Buffer.from(decodeURIComponent(own), 'base64url').toString('latin1');
    const moved = Buffer.from(decoded.replace('"start":"', '"start":"x'), 'latin1').toString('base64url');
    for (const bad of [moved, 'e30', `${own}AAAA`, own.slice(0, -2), '%00', '..%2f..', 'a'.repeat(20_000)]) {
      assert.equal((await goOn(path('b'), bad)).status, 400, bad.slice(0, 40));
    }
  });
});
