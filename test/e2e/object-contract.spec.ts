import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient, ApiResponse } from './support/api-client.js';
import { TestCluster } from './support/test-cluster.js';

const maps = '/api/v1/namespaces/default/configmaps';
const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const pods = '/api/v1/namespaces/default/pods';
const merge = 'application/merge-patch+json';
const podSpec = { containers: [{ name: 'c', image: 'i' }] };

let cluster: TestCluster;
let client: ApiClient;

before(async () => {
  cluster = await TestCluster.start({ servers: 1 });
  client = cluster.first.client;
});

after(() => cluster.stop());

/** The answer, which must have the status. */
function answered(answer: ApiResponse, status: number): ApiResponse {
  assert.equal(answer.status, status, answer.text);
  return answer;
}

/** A new object, with its text as the server returns it. */
// biome-ignore lint/suspicious/noExplicitAny: any object
async function made(path: string, body: object): Promise<any> {
  return answered(await client.post(path, body), 201).body;
}

function patch(path: string, contentType: string, body: unknown): Promise<ApiResponse> {
  return client.send('PATCH', path, { body, contentType });
}

function deployment(name: string): object {
  const labels = { app: name };
  return {
    metadata: { name },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } },
  };
}

describe('a create with a resourceVersion that is no number', () => {
  it('drops it', async () => {
    const { body } = answered(await client.post(maps, { metadata: { name: 'worded', resourceVersion: 'v1' } }), 201);
    assert.match(body.metadata.resourceVersion, /^[1-9]\d*$/);
  });
});

describe('resourceVersion zero of a write', () => {
  for (const version of ['0', '00']) {
    it(`means any state: ${version}`, async () => {
      const name = `version-${version}`;
      answered(await client.post(maps, { metadata: { name, resourceVersion: version } }), 201);
      const metadata = { name, resourceVersion: version };
      const put = await client.put(`${maps}/${name}`, { metadata, data: { a: '1' } });
      assert.deepEqual(answered(put, 200).body.data, { a: '1' });
      for (const type of [merge, 'application/strategic-merge-patch+json']) {
        answered(await patch(`${maps}/${name}`, type, { metadata, data: { a: type } }), 200);
      }
      const operations = [{ op: 'replace', path: '/metadata/resourceVersion', value: version }];
      answered(await patch(`${maps}/${name}`, 'application/json-patch+json', operations), 200);
      const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { b: '1' } };
      answered(await patch(`${maps}/${name}?fieldManager=m`, 'application/apply-patch+yaml', applied), 200);

      await made(deployments, deployment(name));
      const scale = { metadata, spec: { replicas: 3 } };
      assert.equal(answered(await client.put(`${deployments}/${name}/scale`, scale), 200).body.spec.replicas, 3);
      const { body: live } = await client.get(`${deployments}/${name}`);
      live.metadata.resourceVersion = version;
      answered(await client.put(`${deployments}/${name}/status`, live), 200);

      await made(pods, { metadata: { name }, spec: podSpec });
      const binding = { metadata, target: { kind: 'Node', name: 'n' } };
      answered(await client.post(`${pods}/${name}/binding`, binding), 201);
    });

    it(`counts as missing where a version is required: ${version}`, async () => {
      const name = `lease-${version}`;
      const metadata = { name, resourceVersion: version };
      // No state is named, so a missing lease is made.
      answered(await client.put(`${leases}/${name}`, { metadata, spec: {} }), 201);
      for (const answer of [
        await client.put(`${leases}/${name}`, { metadata, spec: { leaseDurationSeconds: 3 } }),
        await patch(`${leases}/${name}`, merge, { metadata: { resourceVersion: version } }),
      ]) {
        const fault = 'metadata.resourceVersion: Invalid value: 0: must be specified for an update';
        assert.equal(answered(answer, 422).body.message, `leases.coordination.k8s.io "${name}" is invalid: ${fault}`);
      }
    });
  }

  it('is another one with leading zeros', async () => {
    const { metadata } = await made(maps, { metadata: { name: 'zeros' } });
    const put = (resourceVersion: string, a: string) =>
      client.put(`${maps}/zeros`, { metadata: { name: 'zeros', resourceVersion }, data: { a } });
    answered(await put(`0${metadata.resourceVersion}`, '1'), 200);
    answered(await put(metadata.resourceVersion, '2'), 409);
    answered(await put('abc', '2'), 400);
  });
});

describe('fields that only the server writes', () => {
  const foreign = { creationTimestamp: '2001-01-01T00:00:00Z', generation: 77, selfLink: '/x' };

  for (const { path, body } of [
    { path: maps, body: { metadata: { name: 'kept' }, data: { a: '1' } } },
    { path: deployments, body: deployment('kept') },
  ]) {
    it(`is restored from the live object: ${path}`, async () => {
      const live = await made(path, body);
      const { uid: _uid, ...metadata } = live.metadata;
      for (const changed of [
        { ...metadata, ...foreign },
        { ...metadata, uid: '', creationTimestamp: null, generation: -3 },
      ]) {
        const put = answered(await client.put(`${path}/kept`, { ...live, metadata: changed }), 200).body;
        assert.deepEqual(put.metadata, live.metadata);
      }
      const { body: patched } = answered(await patch(`${path}/kept`, merge, { metadata: foreign }), 200);
      assert.deepEqual(patched.metadata, live.metadata);
    });
  }

  it('is restored on the path of a status', async () => {
    const live = await made(deployments, deployment('kept-status'));
    const metadata = { ...live.metadata, ...foreign };
    const put = await client.put(`${deployments}/kept-status/status`, { ...live, metadata });
    assert.deepEqual(answered(put, 200).body.metadata, live.metadata);
  });

  it('keeps the end of an object that is being deleted', async () => {
    await made(maps, { metadata: { name: 'ending', finalizers: ['example.com/f'] } });
    answered(await client.delete(`${maps}/ending`), 200);
    const { body: live } = await client.get(`${maps}/ending`);
    const put = (change: object) =>
      client.put(`${maps}/ending`, { ...live, metadata: { ...live.metadata, ...change } });
    for (const change of [{ deletionTimestamp: '2001-01-01T00:00:00Z' }, { deletionTimestamp: null }]) {
      const { body } = answered(await put(change), 200);
      assert.equal(body.metadata.deletionTimestamp, live.metadata.deletionTimestamp);
    }
    answered(await put({ deletionGracePeriodSeconds: 9 }), 422);
  });

  it('does not let an update begin a deletion', async () => {
    const live = await made(maps, { metadata: { name: 'staying' } });
    for (const change of [{ deletionTimestamp: '2001-01-01T00:00:00Z' }, { deletionGracePeriodSeconds: 5 }]) {
      answered(await client.put(`${maps}/staying`, { ...live, metadata: { ...live.metadata, ...change } }), 422);
    }
  });
});

describe('owners', () => {
  const owned = (apiVersion: string, kind: string) =>
    client.post(`${maps}?dryRun=All`, {
      metadata: { name: 'owned', ownerReferences: [{ apiVersion, kind, name: 'o', uid: 'u' }] },
    });

  it('are no events', async () => {
    assert.match(answered(await owned('v1', 'Event'), 422).body.message, /disallowed from being an owner/);
    answered(await owned('example.com/v1', 'Event'), 201);
    answered(await owned('v1', 'Pod'), 201);
  });

  it('have a version that can be read', async () => {
    for (const version of ['a/b/c', 'a/', '']) answered(await owned(version, 'Pod'), 422);
  });
});

describe('a write through a scale', () => {
  it('makes its writer the owner of the replicas', async () => {
    await made(deployments, deployment('scaled'));
    const scale = { metadata: { name: 'scaled' }, spec: { replicas: 2 } };
    answered(await client.put(`${deployments}/scaled/scale?fieldManager=scaler`, scale), 200);
    const { metadata } = answered(await client.get(`${deployments}/scaled`), 200).body;
    const owners = (metadata.managedFields ?? []) as readonly Record<string, unknown>[];
    const entry = owners.find(({ manager }) => manager === 'scaler');
    assert.equal(entry?.subresource, 'scale');
    assert.deepEqual(entry?.fieldsV1, { 'f:spec': { 'f:replicas': {} } });
  });
});

describe('an applied scale', () => {
  const apply = (name: string, manager: string, body: object, query = '') =>
    client.send('PATCH', `${deployments}/${name}/scale?fieldManager=${manager}${query}`, {
      body: { apiVersion: 'autoscaling/v1', kind: 'Scale', ...body },
      contentType: 'application/apply-patch+yaml',
    });

  it('is merged into its object, whose fields it owns', async () => {
    await made(deployments, deployment('applied'));
    const scaled = answered(await apply('applied', 'first', { spec: { replicas: 3 } }, '&force=true'), 200).body;
    assert.deepEqual([scaled.kind, scaled.spec.replicas, scaled.metadata.name], ['Scale', 3, 'applied']);
    assert.equal(scaled.metadata.managedFields, undefined);
    const { metadata, spec } = answered(await client.get(`${deployments}/applied`), 200).body;
    assert.equal(spec.replicas, 3);
    assert.equal(metadata.resourceVersion, scaled.metadata.resourceVersion);
    const owners = (metadata.managedFields as readonly Record<string, unknown>[]).filter((o) => o.manager === 'first');
    assert.deepEqual(
      owners.map(({ operation, subresource, apiVersion, fieldsV1 }) => ({
        operation,
        subresource,
        apiVersion,
        fieldsV1,
      })),
      [
        {
          operation: 'Apply',
          subresource: 'scale',
          apiVersion: 'apps/v1',
          fieldsV1: { 'f:spec': { 'f:replicas': {} } },
        },
      ],
    );
    const conflict = answered(await apply('applied', 'second', { spec: { replicas: 4 } }), 409).body;
    assert.match(conflict.message, /conflict with "first" with subresource "scale".*: \.spec\.replicas/);
    answered(await apply('applied', 'second', { spec: { replicas: 4 } }, '&force=true'), 200);
    assert.equal((await client.get(`${deployments}/applied/scale`)).body.spec.replicas, 4);
    // The same again changes nothing.
    const { resourceVersion } = (await client.get(`${deployments}/applied`)).body.metadata;
    answered(await apply('applied', 'second', { metadata: { name: 'applied' }, spec: { replicas: 4 } }), 200);
    assert.equal((await client.get(`${deployments}/applied`)).body.metadata.resourceVersion, resourceVersion);
  });

  it('must fit', async () => {
    await made(deployments, deployment('fitting'));
    answered(await apply('nobody', 'm', { spec: { replicas: 1 } }), 404);
    answered(await apply('fitting', 'm', { metadata: { name: 'other' }, spec: { replicas: 1 } }), 400);
    answered(
      await apply('fitting', 'm', { metadata: { resourceVersion: '1' }, spec: { replicas: 2 } }, '&force=true'),
      409,
    );
    answered(await apply('fitting', 'm', { spec: { replicas: -1 } }, '&force=true'), 422);
    for (const replicas of ['two', 1.5, [], {}]) {
      assert.ok((await apply('fitting', 'm', { spec: { replicas } }, '&force=true')).status < 500, String(replicas));
    }
    answered(await apply('fitting', 'm', { kind: 'Deployment', spec: {} }), 422);
    assert.equal((await client.get(`${deployments}/fitting`)).body.spec.replicas, 1);
    answered(await apply('fitting', 'm', { spec: { replicas: 7 } }, '&force=true&dryRun=All'), 200);
    assert.equal((await client.get(`${deployments}/fitting`)).body.spec.replicas, 1);
  });
});

describe('a create of an object that has a version', () => {
  it('is refused after all other rules, and shown by a dry run', async () => {
    const { body } = await client.post(deployments, deployment('copied'));
    const copy = { ...body, metadata: { ...body.metadata, name: 'copy' } };
    const refused = answered(await client.post(deployments, copy), 400).body;
    assert.equal(refused.message, 'resourceVersion should not be set on objects to be created');
    const shown = answered(await client.post(`${deployments}?dryRun=All`, copy), 201).body;
    assert.equal(shown.metadata.name, 'copy');
    answered(await client.get(`${deployments}/copy`), 404);
    for (const query of ['', '?dryRun=All']) {
      answered(await client.post(`${deployments}${query}`, { ...copy, spec: { ...copy.spec, selector: null } }), 422);
    }
    answered(await client.post(`${deployments}?dryRun=All`, body), 409);
  });
});

describe('requests with parts that make no sense', () => {
  it('are refused: access reviews about no namespace', async () => {
    const path = '/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews';
    for (const namespace of [undefined, '']) {
      const spec = { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods', namespace } };
      const { message } = answered(await client.post(path, { spec }), 400).body;
      assert.equal(message, 'spec.resourceAttributes.namespace must match namespace: default');
    }
  });

  it('are refused: bodies that are no object', async () => {
    for (const [raw, what] of [
      ['"x"', 'a string'],
      ['1', 'a number'],
      ['true', 'a boolean'],
      ['[]', 'an array'],
    ]) {
      const { message } = answered(await client.send('POST', maps, { raw, contentType: 'application/json' }), 400).body;
      assert.ok(message.includes(`the body is ${what}, not an object`), message);
    }
  });

  it('are refused: seconds that are no number', async () => {
    for (const text of ['abc', '1.5', '0x1', '99999999999999999999']) {
      answered(await client.get(`${maps}?timeoutSeconds=${text}`), 400);
      answered(await client.get(`${maps}?watch=1&timeoutSeconds=${text}`), 400);
    }
    answered(await client.get(`${maps}?timeoutSeconds=5`), 200);
    answered(await client.get(`${maps}?timeoutSeconds=-1`), 200);
    // The time of this watch is over before it begins.
    await made(maps, { metadata: { name: 'not-watched' } });
    for (const query of ['timeoutSeconds=-1', 'resourceVersion=0&timeoutSeconds=-999999999999999']) {
      assert.equal(answered(await client.get(`${maps}?watch=1&${query}`), 200).text, '');
    }
  });

  it('are refused with the reason: patches of what is missing', async () => {
    await made(maps, { metadata: { name: 'patched' }, data: { a: '1' } });
    const operations = [{ op: 'remove', path: '/data/none' }];
    const refused = answered(await patch(`${maps}/patched`, 'application/json-patch+json', operations), 422);
    const { reason, message } = refused.body;
    assert.equal(reason, 'Invalid');
    assert.equal(message, 'the server rejected our request due to an error in our request');
  });
});

describe('keys that stand twice', () => {
  const json = '{"metadata":{"name":"twice"},"data":{"a":"1","a":"2"}}';
  const yaml = 'metadata:\n  name: twice\ndata:\n  a: "1"\n  "a": "2"\n';
  const identity = '"apiVersion":"v1","kind":"ConfigMap"';
  const forms: readonly { type: string; text: string; method: 'POST' | 'PUT' | 'PATCH'; fault: string }[] = [
    { method: 'POST', type: 'application/json', text: json, fault: 'duplicate field "data.a"' },
    { method: 'POST', type: 'application/yaml', text: yaml, fault: 'line 5: key "a" already set in map' },
    { method: 'PUT', type: 'application/json', text: json, fault: 'duplicate field "data.a"' },
    { method: 'PUT', type: 'application/yaml', text: yaml, fault: 'line 5: key "a" already set in map' },
    { method: 'PATCH', type: merge, text: '{"data":{"a":"1","a":"2"}}', fault: 'duplicate field "data.a"' },
    {
      method: 'PATCH',
      type: 'application/strategic-merge-patch+json',
      text: '{"data":{"a":"1","a":"2"}}',
      fault: 'duplicate field "data.a"',
    },
    {
      method: 'PATCH',
      type: 'application/json-patch+json',
      text: '[{"op":"add","path":"/data/a","value":"1","value":"2"}]',
      fault: 'duplicate field "[0].value"',
    },
    {
      method: 'PATCH',
      type: 'application/apply-patch+yaml',
      text: `{${identity},"metadata":{"name":"twice"},"data":{"a":"1","a":"2"}}`,
      fault: 'duplicate field "data.a"',
    },
    {
      method: 'PATCH',
      type: 'application/apply-patch+yaml',
      text: `apiVersion: v1\nkind: ConfigMap\n${yaml}`,
      fault: 'line 7: key "a" already set in map',
    },
  ];

  before(() => made(maps, { metadata: { name: 'twice' }, data: { b: '1' } }));

  for (const { method, type, text, fault } of forms) {
    it(`are refused, warned about or ignored: ${method} ${type} ${text.startsWith('{') ? 'JSON' : ''}`, async () => {
      const force = type.includes('apply') ? '&force=true' : '';
      const send = (validation: string) =>
        client.send(
          method,
          `${method === 'POST' ? maps : `${maps}/twice`}?dryRun=All&fieldManager=m${force}${validation}`,
          {
            raw: method === 'POST' ? text.replace('twice', 'new') : text,
            contentType: type,
          },
        );
      const strict = await send('&fieldValidation=Strict');
      answered(strict, method === 'PATCH' && !type.includes('apply') ? 422 : 400);
      assert.ok(strict.body.message.includes(fault), strict.text);
      for (const validation of ['&fieldValidation=Warn', '']) {
        const warned = await send(validation);
        assert.equal(warned.body.data.a, '2', warned.text);
        assert.ok(String(warned.headers.warning).includes(JSON.stringify(fault).slice(1, -1)), warned.text);
      }
      const ignored = await send('&fieldValidation=Ignore');
      assert.equal(ignored.body.data.a, '2');
      assert.equal(ignored.headers.warning, undefined);
    });
  }

  it('are told of in the order of the body, among unknown ones', async () => {
    const strict = `${maps}?dryRun=All&fieldValidation=Strict`;
    const text = `{${identity},"metadata":{"name":"ordered"},"odd":{"x":1,"x":2},"data":{"a":"1","a":"2"},"other":1}`;
    const refused = await client.send('POST', strict, { raw: text, contentType: 'application/json' });
    answered(refused, 400);
    assert.equal(
      refused.body.message.slice(refused.body.message.indexOf('strict')),
      'strict decoding error: unknown field "odd", duplicate field "data.a", unknown field "other"',
    );
    const lines = await client.send('POST', strict, {
      raw: `${yaml}odd: 1\nodd: 2\n`,
      contentType: 'application/yaml',
    });
    answered(lines, 400);
    assert.equal(
      lines.body.message.slice(lines.body.message.indexOf('strict')),
      'strict decoding error: yaml: unmarshal errors:\n  line 5: key "a" already set in map\n' +
        '  line 7: key "odd" already set in map, unknown field "odd"',
    );
  });
});

describe('apply of something that is empty', () => {
  // biome-ignore lint/suspicious/noExplicitAny: any object
  async function applied(manager: string, path: string, body: any): Promise<any> {
    const answer = await patch(`${path}?fieldManager=${manager}`, 'application/apply-patch+yaml', body);
    assert.ok(answer.status === 200 || answer.status === 201, answer.text);
    return answer.body;
  }
  // biome-ignore lint/suspicious/noExplicitAny: any object
  const ownedBy = (object: any, manager: string) =>
    // biome-ignore lint/suspicious/noExplicitAny: an entry
    (object.metadata.managedFields ?? []).find((entry: any) => entry.manager === manager)?.fieldsV1;

  const identity = { apiVersion: 'apps/v1', kind: 'Deployment' };
  const path = `${deployments}/empty`;
  const full = deployment('empty') as { spec: object };
  const partly = (spec: unknown) => applied('b', path, { ...identity, metadata: { name: 'empty' }, spec });

  before(() => applied('a', path, { ...identity, ...full, spec: { ...full.spec, replicas: 2 } }));

  for (const nothing of [{}, null]) {
    it(`gives up what the manager owned below: ${JSON.stringify(nothing)}`, async () => {
      const shared = await partly({ replicas: 2, revisionHistoryLimit: 3 });
      assert.deepEqual(ownedBy(shared, 'b'), { 'f:spec': { 'f:replicas': {}, 'f:revisionHistoryLimit': {} } });
      const given = await partly(nothing);
      assert.equal(ownedBy(given, 'b'), undefined);
      // Fields of the other owner stay; its own go back to the default.
      assert.equal(given.spec.replicas, 2);
      assert.equal(given.spec.revisionHistoryLimit, 10);
      assert.equal(given.spec.template.spec.containers.length, 1);
    });
  }

  it('claims no structs and maps that exist anyway', async () => {
    for (const spec of [
      { template: {} },
      { template: { spec: {} } },
      { strategy: {} },
      { template: { metadata: { labels: {} } } },
      { template: { spec: { containers: [] } } },
    ]) {
      assert.equal(ownedBy(await partly(spec), 'b'), undefined, JSON.stringify(spec));
    }
  });

  it('claims an existing struct only when it is given', async () => {
    const owned = ownedBy(await partly({ template: { spec: { volumes: [{ name: 'v', emptyDir: {} }] } } }), 'b');
    const volume = owned['f:spec']['f:template']['f:spec']['f:volumes']['k:{"name":"v"}'];
    assert.deepEqual(volume, { '.': {}, 'f:emptyDir': {}, 'f:name': {} });
  });

  it('removes a map that nobody else owns a part of', async () => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'empty' } };
    await applied('a', `${maps}/empty`, { ...map, data: { a: '1' } });
    await applied('b', `${maps}/empty`, { ...map, data: { b: '1' } });
    const one = await applied('a', `${maps}/empty`, { ...map, data: {} });
    assert.deepEqual(one.data, { b: '1' });
    assert.equal(ownedBy(one, 'a'), undefined);
    const none = await applied('b', `${maps}/empty`, { ...map, data: null });
    assert.equal(none.data, undefined);
    assert.equal(none.metadata.managedFields, undefined);
  });
});

describe('metadata that says too much', () => {
  it('may name a namespace for an object that is in none', async () => {
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const body = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'placed', namespace: 'default' },
      rules: [],
    };
    const answers = [
      await client.post(path, body),
      await client.put(`${path}/placed`, body),
      await client.patch(`${path}/placed`, 'merge', { metadata: { namespace: 'default', labels: { a: 'b' } } }),
      await client.send('PATCH', `${path}/placed?fieldManager=m`, {
        body,
        contentType: 'application/apply-patch+yaml',
      }),
    ];
    for (const answer of answers) {
      assert.ok(answer.status < 300, answer.text);
      assert.equal(answer.body.metadata.namespace, undefined);
    }
    assert.equal((await client.delete(`${path}/placed`)).status, 200);
  });

  it('may have its owners replaced by a JSON patch, also when there are none', async () => {
    const path = `${maps}/owned`;
    const created = await client.post(maps, { metadata: { name: 'owned' }, data: { a: '1' } });
    assert.equal(created.status, 201, created.text);
    const replace = (value: readonly object[]) =>
      client.patch(path, 'json', [{ op: 'replace', path: '/metadata/managedFields', value }]);
    for (let i = 0; i < 2; i++) {
      const none = await replace([{}]);
      assert.deepEqual([none.status, none.body.metadata.managedFields], [200, undefined], none.text);
    }
    const entry = {
      manager: 'one',
      operation: 'Apply',
      apiVersion: 'v1',
      time: '2026-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:metadata': { 'f:name': {} } },
    };
    const owned = await replace([entry]);
    assert.deepEqual(owned.body.metadata.managedFields, [entry], owned.text);
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owned' }, data: { b: '2' } };
    const result = await client.send('PATCH', `${path}?fieldManager=one`, {
      body,
      contentType: 'application/apply-patch+yaml',
    });
    assert.deepEqual([result.status, result.body.data], [200, { a: '1', b: '2' }], result.text);
  });
});

describe('the deletion of a pod without a grace period', () => {
  it('is a mark, then the end, for everybody who watches', async () => {
    const bound = { ...podSpec, nodeName: 'n' };
    const zero = { gracePeriodSeconds: 0 };
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, deleteOptions: zero };
    // An eviction first says in a condition why the pod goes.
    const ways: readonly (readonly [spec: object, end: () => Promise<ApiResponse>, before?: number])[] = [
      [bound, () => client.delete(`${pods}/p?gracePeriodSeconds=0`)],
      [podSpec, () => client.delete(`${pods}/p`)],
      [{ ...bound, terminationGracePeriodSeconds: 0 }, () => client.delete(`${pods}/p`)],
      [bound, () => client.delete(`${pods}?fieldSelector=metadata.name%3Dp`, zero)],
      [bound, () => client.post(`${pods}/p/eviction`, eviction), 1],
    ];
    for (const [i, [spec, end, before = 0]] of ways.entries()) {
      const { metadata } = await made(pods, { metadata: { name: 'p' }, spec });
      const query = `fieldSelector=metadata.name%3Dp&resourceVersion=${metadata.resourceVersion}`;
      const watch = await client.watch(`${pods}?watch=1&${query}`);
      const answer = await end();
      assert.ok(answer.status < 300, answer.text);
      const events = (await watch.take(2 + before)).slice(before);
      watch.close();
      const seen = events.map(({ type, object }) => [type, object.metadata.deletionGracePeriodSeconds]);
      assert.deepEqual(
        seen,
        [
          ['MODIFIED', 0],
          ['DELETED', 0],
        ],
        String(i),
      );
      assert.ok(events.every(({ object }) => object.metadata.deletionTimestamp !== undefined));
      if (answer.body.kind !== 'Pod') continue;
      // A watch from the answered version sees the end.
      assert.equal(answer.body.metadata.resourceVersion, events[0]?.object.metadata.resourceVersion, String(i));
    }
  });

  it('is a mark alone while something holds it', async () => {
    const hold = ['example.com/hold'];
    const { metadata } = await made(pods, {
      metadata: { name: 'held', finalizers: hold },
      spec: { ...podSpec, nodeName: 'n' },
    });
    const query = `fieldSelector=metadata.name%3Dheld&resourceVersion=${metadata.resourceVersion}`;
    const watch = await client.watch(`${pods}?watch=1&${query}`);
    for (let i = 0; i < 2; i++) {
      const shown = answered(await client.delete(`${pods}/held?gracePeriodSeconds=0`), 200);
      assert.equal(shown.body.metadata.deletionGracePeriodSeconds, 0);
    }
    answered(await client.patch(`${pods}/held`, 'merge', { metadata: { finalizers: null } }), 200);
    const types = (await watch.take(2)).map(({ type }) => type);
    watch.close();
    assert.deepEqual(types, ['MODIFIED', 'DELETED']);
  });
});
