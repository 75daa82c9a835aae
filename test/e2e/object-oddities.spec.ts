import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient, ApiResponse } from './support/api-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import type { TestCluster } from './support/test-cluster.js';

const maps = '/api/v1/namespaces/default/configmaps';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const merge = 'application/merge-patch+json';
const podSpec = { containers: [{ name: 'c', image: 'i' }] };

let cluster: TestCluster;
let client: ApiClient;

before(async () => {
  cluster = await sharedCluster('plain');
  client = cluster.first.client;
});

after(() => cluster.stop());

/** The fields of metadata that a manager owns by writes of the status. */
// biome-ignore lint/suspicious/noExplicitAny: any object
function ownedByStatus({ metadata }: any): string[] {
  // biome-ignore lint/suspicious/noExplicitAny: any entry
  const entries = metadata.managedFields.filter(({ subresource }: any) => subresource === 'status');
  // biome-ignore lint/suspicious/noExplicitAny: any entry
  return entries.flatMap(({ fieldsV1 }: any) => Object.keys(fieldsV1['f:metadata'] ?? {}));
}

/** The response, which must have the status. */
function answered(answer: ApiResponse, status: number): ApiResponse {
  assert.equal(answer.status, status, answer.text);
  return answer;
}

/** Creates an object. Returns its text as the server sends it. */
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

describe('requests with parts that make no sense', () => {
  it('are refused: access reviews about no namespace', async () => {
    const path = '/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews';
    for (const namespace of [undefined, '']) {
      const spec = { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods', namespace } };
      const { message } = answered(await client.post(path, { spec }), 422).body;
      assert.match(message, /spec\.resourceAttributes\.namespace: Invalid value: "": must match metadata\.namespace$/);
    }
  });

  it('are refused: bodies that are no object', async () => {
    for (const [raw, what] of [
      ['"x"', 'string'],
      ['1', 'number'],
      ['true', 'bool'],
      ['[]', 'array'],
    ]) {
      const { message } = answered(await client.send('POST', maps, { raw, contentType: 'application/json' }), 400).body;
      assert.ok(message.includes(`json: cannot unmarshal ${what} into Go value of type struct`), message);
    }
  });

  it('are refused: seconds that are no number', async () => {
    for (const text of ['abc', '1.5', '0x1', '99999999999999999999']) {
      answered(await client.get(`${maps}?timeoutSeconds=${text}`), 400);
      answered(await client.get(`${maps}?watch=1&timeoutSeconds=${text}`), 400);
    }
    answered(await client.get(`${maps}?timeoutSeconds=5`), 200);
    answered(await client.get(`${maps}?timeoutSeconds=-1`), 200);
    // The time limit of this watch has passed before it begins.
    await made(maps, { metadata: { name: 'not-watched' } });
    for (const query of ['timeoutSeconds=-1', 'resourceVersion=0&timeoutSeconds=-999999999999999']) {
      assert.equal(answered(await client.get(`${maps}?watch=1&${query}`), 200).text, '');
    }
  });

  it('are refused with the reason: patches of another form', async () => {
    await made(maps, { metadata: { name: 'odd' }, data: { a: '1' } });
    const [json, strategic] = ['application/json-patch+json', 'application/strategic-merge-patch+json'];
    const strict = `${maps}/odd?fieldValidation=Strict`;
    const cases: readonly (readonly [string, string, string, number, RegExp])[] = [
      [`${maps}/odd`, json, 'null', 200, /"name":"odd"/],
      [`${maps}/odd`, strategic, 'null', 200, /"name":"odd"/],
      [`${maps}/odd`, merge, 'null', 400, /"Invalid JSON Patch"/],
      [`${maps}/odd`, json, '[null]', 422, /error in our request/],
      [`${maps}/odd`, json, '[{"op":"add","path":"","value":{}}]', 422, /error in our request/],
      [`${maps}/odd`, json, '[{"op":"add","path":1}]', 400, /struct field jsonPatchOp\.path of type string/],
      [`${maps}/odd`, strategic, '{"kind":1}', 422, /patch: Invalid value: /],
      [`${maps}/odd`, merge, '\ufeff{}', 400, /invalid JSON patch/],
      [strict, merge, '{"data":{"a":"b","a":"c"}}', 422, /\\"kind.*strict decoding error: duplicate field \\"data\.a/],
      [strict, json, '[{"op":"add","path":"/data/c","op":"remove"}]', 422, /error in our request/],
      [
        strict,
        json,
        '[{"op":"add","path":"/data/a","op":"remove"}]',
        422,
        /strict decoding error: json patch duplicate field \\"\[0\]\.op/,
      ],
    ];
    for (const [path, type, body, status, expected] of cases) {
      const answer = await client.send('PATCH', path, { contentType: type, raw: body });
      assert.equal(answer.status, status, `${body}: ${answer.text}`);
      assert.match(answer.text, expected, body);
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
      fault: 'json patch duplicate field "[0].value"',
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
      assert.deepEqual(ownedBy(given, 'b'), { 'f:spec': {} });
      // Fields of the other owner stay; its own return to the default.
      assert.equal(given.spec.replicas, 2);
      assert.equal(given.spec.revisionHistoryLimit, 10);
      assert.equal(given.spec.template.spec.containers.length, 1);
    });
  }

  it('claims the struct or map that is empty, and no list', async () => {
    for (const [spec, owned] of [
      [{ template: {} }, { 'f:template': {} }],
      [{ template: { spec: {} } }, { 'f:template': { 'f:spec': {} } }],
      [{ strategy: {} }, { 'f:strategy': {} }],
      [{ template: { metadata: { labels: {} } } }, { 'f:template': { 'f:metadata': { 'f:labels': {} } } }],
    ]) {
      assert.deepEqual(ownedBy(await partly(spec), 'b'), { 'f:spec': owned }, JSON.stringify(spec));
    }
    assert.equal(ownedBy(await partly({ template: { spec: { containers: [] } } }), 'b'), undefined);
  });

  it('claims an existing struct only when it is given', async () => {
    const owned = ownedBy(await partly({ template: { spec: { volumes: [{ name: 'v', emptyDir: {} }] } } }), 'b');
    const volume = owned['f:spec']['f:template']['f:spec']['f:volumes']['k:{"name":"v"}'];
    assert.deepEqual(volume, { '.': {}, 'f:emptyDir': {}, 'f:name': {} });
  });

  it('removes the entries of a map that nobody else owns', async () => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'empty' } };
    await applied('a', `${maps}/empty`, { ...map, data: { a: '1' } });
    await applied('b', `${maps}/empty`, { ...map, data: { b: '1' } });
    const one = await applied('a', `${maps}/empty`, { ...map, data: {} });
    assert.deepEqual(one.data, { b: '1' });
    assert.deepEqual(ownedBy(one, 'a'), { 'f:data': {} });
    const none = await applied('b', `${maps}/empty`, { ...map, data: null });
    assert.equal(none.data, undefined);
    assert.deepEqual([ownedBy(none, 'a'), ownedBy(none, 'b')], [{ 'f:data': {} }, { 'f:data': {} }]);
  });
});

describe('metadata that says too much', () => {
  it('may name a namespace for an object that is in none', async () => {
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const body = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'placed', namespace: 'default' },
      rules: [{ verbs: ['get'], nonResourceURLs: ['/placed'] }],
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

describe('writes of the status', () => {
  const change = { metadata: { labels: { via: 'status' } }, status: { podIP: '10.1.2.3' } };

  it('give what they change in the metadata and by defaults to their writer', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    await made(pods, { metadata: { name: 'status-owner' }, spec: podSpec });
    const { body } = answered(await patch(`${pods}/status-owner/status`, merge, change), 200);
    assert.deepEqual([body.metadata.labels, ownedByStatus(body)], [{ via: 'status' }, ['f:labels']]);
    assert.match(JSON.stringify(body.metadata.managedFields), /"f:podIPs":\{/);
  });

  it('leave the metadata alone where the kind says so', async () => {
    const ranges = '/apis/networking.k8s.io/v1/servicecidrs';
    await made(ranges, { metadata: { name: 'status-owner' }, spec: { cidrs: ['10.201.0.0/24'] } });
    const { body } = answered(await patch(`${ranges}/status-owner/status`, merge, change), 200);
    assert.deepEqual([body.metadata.labels, ownedByStatus(body)], [undefined, []]);
    answered(await client.delete(`${ranges}/status-owner`), 200);
    await made(deployments, deployment('status-owner'));
    const written = answered(await patch(`${deployments}/status-owner/status`, merge, change), 200).body;
    assert.deepEqual([written.metadata.labels?.via, ownedByStatus(written)], [undefined, []]);
  });
});
