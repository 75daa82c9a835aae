import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient } from './support/api-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import type { TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
let client: ApiClient;

const ns = 'paths';
const configMaps = `/api/v1/namespaces/${ns}/configmaps`;

before(async () => {
  cluster = await sharedCluster('plain');
  client = cluster.first.client;
  const made = await client.post('/api/v1/namespaces', { metadata: { name: ns } });
  assert.equal(made.status, 201, made.text);
});

after(() => cluster.stop());

describe('plain paths', () => {
  it('are all listed at the root, and each can be read', async () => {
    const { paths } = (await client.get('/')).body as { paths: string[] };
    for (const path of ['/api/v1', '/apis/apps/v1', '/livez/ping', '/readyz/ping', '/healthz/ping', '/version']) {
      assert.ok(paths.includes(path), path);
    }
    // The release lists this path as the beginning of others, and serves nothing there.
    const beginning = '/openapi/v3/';
    assert.ok(paths.includes(beginning));
    assert.equal((await client.get(beginning)).status, 404);
    for (const path of paths) if (path !== beginning) assert.equal((await client.get(path)).status, 200, path);
  });

  it('refuse other methods with a 405, and unknown ones with a 404', async () => {
    const plain = ['/api', '/api/v1', '/apis/apps/v1', '/version', '/metrics'];
    for (const path of [...plain, ...plain.map((one) => `${one}/`)]) {
      const refused = await client.post(path, {});
      assert.equal(refused.status, 405, path);
      assert.equal(refused.body.reason, 'MethodNotAllowed', path);
    }
    assert.equal((await client.post('/apis/none.test', {})).status, 404);
    assert.equal((await client.get('/nothing')).status, 404);
  });

  it('answer every method as GET where the release does', async () => {
    for (const path of [
      '/',
      '/apis',
      '/apis/',
      '/apis/apps',
      '/openapi/v2',
      '/openapi/v3',
      '/openapi/v3/apis/apps/v1',
    ]) {
      const { text } = await client.get(path);
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
        const answer = await client.send(method, path, method === 'OPTIONS' ? {} : { body: {} });
        assert.deepEqual([answer.status, answer.text === text], [200, true], `${method} ${path}`);
      }
    }
  });
});

describe('mistakes', () => {
  const types = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
  const streams = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch';
  const available = '406: Not Acceptable\n\nAvailable representations: ';
  const only = 'only the following media types are accepted: ';
  const options = 'ListOptions.meta.k8s.io "" is invalid: ';
  const prefix = 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]';
  const html = { accept: 'text/html' };
  const metadata = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' };
  const but = 'but the requested object is a list';
  const exported = 'the export parameter, deprecated since v1.14, is no longer supported';
  const found = "unable to parse requirement: found '', expected: ";
  const pod = `/api/v1/namespaces/${ns}/pods/none`;
  const typed = (type: string) => ({ 'content-type': type });
  const watchPath = configMaps.replace('/v1/', '/v1/watch/');
  const cases: readonly [string, string, Record<string, string>, string | undefined, number, string][] = [
    ['GET', configMaps, html, undefined, 406, `${available}${types}, ${streams}`],
    ['GET', `${configMaps}?resourceVersion=x`, html, undefined, 406, `${available}${types}, ${streams}`],
    ['GET', `${configMaps}/none`, html, undefined, 406, `${available}${types}`],
    ['GET', '/apis', html, undefined, 406, `${only}${types}`],
    ['GET', '/apis/apps', html, undefined, 406, `${only}${types}`],
    ['GET', '/api/v1', html, undefined, 406, `${available}${types}`],
    ['GET', '/version', html, undefined, 406, `${available}application/json`],
    [
      'GET',
      `${configMaps}?limit=x&labelSelector=!!`,
      {},
      undefined,
      400,
      'strconv.ParseInt: parsing "x": invalid syntax',
    ],
    [
      'GET',
      `${configMaps}?timeoutSeconds=x&limit=y`,
      {},
      undefined,
      400,
      'strconv.ParseInt: parsing "x": invalid syntax',
    ],
    [
      'GET',
      `${configMaps}?fieldSelector=metadata.name%3Da%3Db`,
      {},
      undefined,
      400,
      'invalid field selector: unescaped character in value: 61',
    ],
    ['GET', '/api/v1/componentstatuses/x?fieldSelector=a=b', {}, undefined, 404, 'componentstatus "x" not found'],
    [
      'GET',
      `${watchPath}?sendInitialEvents=true`,
      {},
      undefined,
      422,
      `${options}sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list`,
    ],
    [
      'GET',
      `${configMaps}?watch=1&resourceVersion=x&sendInitialEvents=true`,
      {},
      undefined,
      422,
      `${options}resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`,
    ],
    ['DELETE', `${configMaps}/x`, typed('application/vnd.kubernetes.protobuf'), 'x', 400, prefix],
    [
      'POST',
      configMaps,
      typed('application/vnd.kubernetes.protobuf'),
      'x',
      400,
      `the object provided is unrecognized (must be of type ConfigMap): ${prefix} (78)`,
    ],
    [
      'POST',
      `${configMaps}?fieldValidation=x`,
      typed('text/plain'),
      'x',
      415,
      `the body of the request was in an unknown format - accepted media types include: ${types}`,
    ],
    ['GET', `${configMaps}/x?export=true`, {}, undefined, 400, exported],
    // A client that requests a dry run must not run anything.
    ['POST', `${pod}/exec?command=ls&dryRun=All`, {}, undefined, 400, 'dryRun is not supported'],
    ['GET', `${pod}/exec?command=ls&dryRun=All`, {}, undefined, 400, 'dryRun is not supported'],
    ['POST', `${pod}/portforward?dryRun=All`, {}, undefined, 400, 'dryRun is not supported'],
    ['POST', `${pod}/proxy/x?dryRun=All`, {}, undefined, 400, 'dryRun is not supported'],
    ['GET', `${configMaps}?labelSelector=${encodeURIComponent('a in (x')}`, {}, undefined, 400, `${found}',' or ')'`],
    [
      'GET',
      `${configMaps}?labelSelector=${encodeURIComponent('a in (x,')}`,
      {},
      undefined,
      400,
      `${found}',', or identifier`,
    ],
    ['GET', configMaps, metadata, undefined, 406, `you requested PartialObjectMetadata, ${but} (*core.ConfigMapList)`],
    ['PATCH', `${configMaps}/x`, { ...html, ...typed('text/plain') }, 'x', 415, '415: Unsupported Media Type'],
  ];
  for (const [method, path, headers, raw, status, message] of cases) {
    it(`have the words that programs know: ${method} ${path} ${Object.values(headers).join(' ')}`, async () => {
      const answer = await client.send(method, path, { headers, ...(raw === undefined ? {} : { raw }) });
      assert.deepEqual([answer.status, answer.body.message], [status, message]);
    });
  }
});

describe('PUT of a missing object', () => {
  it('makes those of kinds that it makes in release 1.37', async () => {
    const made: Record<string, number> = {};
    const put = async (prefix: string, resource: string, more: object) => {
      const path = `${prefix}/namespaces/${ns}/${resource}/put`;
      made[resource] = (await client.put(path, { metadata: { name: 'put' }, ...more })).status;
    };
    await put('/api/v1', 'services', { spec: { ports: [{ port: 80 }] } });
    await put('/api/v1', 'endpoints', {});
    await put('/api/v1', 'configmaps', {});
    await put('/apis/coordination.k8s.io/v1', 'leases', {});
    assert.deepEqual(made, { services: 201, endpoints: 201, configmaps: 404, leases: 201 });
    const { body } = await client.get(`/api/v1/namespaces/${ns}/services/put`);
    assert.match(body.spec.clusterIP, /^\d+\./);
  });
});

describe('queries', () => {
  it('of one object ignore watch', async () => {
    await client.post(configMaps, { metadata: { name: 'one' }, data: { k: 'v' } });
    const plain = await client.get(`${configMaps}/one`);
    const watched = await client.get(`${configMaps}/one?watch=true`);
    assert.equal(plain.status, 200);
    assert.deepEqual(watched.body, plain.body);
  });

  it('name the fields that a kind can be selected by', async () => {
    const data = await client.get(`${configMaps}?fieldSelector=data%3Dx`);
    assert.equal(data.status, 400);
    const known = '"metadata.name", "metadata.namespace"';
    assert.equal(data.body.message, `"data" is not a known field selector: only ${known}`);
    const pods = await client.get(`/api/v1/namespaces/${ns}/pods?fieldSelector=data%3Dx`);
    assert.equal(pods.status, 400);
    assert.equal(pods.body.message, 'field label not supported: data');
  });

  it('are refused for the form of selectors, then for what cannot be combined, then for the fields of the kind', async () => {
    const pods = `/api/v1/namespaces/${ns}/pods`;
    const rows: readonly (readonly [method: string, query: string, expected: RegExp])[] = [
      ['GET', 'fieldSelector=a,b%3D&resourceVersionMatch=Exact', /^invalid selector: 'a,b='/],
      ['GET', 'fieldSelector=data%3Dx&resourceVersionMatch=Exact', /^ListOptions\.\S+ "" is invalid: /],
      ['GET', 'fieldSelector=data%3Dx&resourceVersion=x1', /^field label not supported: data$/],
      ['GET', 'watch=true&fieldSelector=a,b%3D&resourceVersionMatch=Exact', /^invalid selector: 'a,b='/],
      ['GET', 'watch=true&fieldSelector=data%3Dx&resourceVersionMatch=Exact', /^ListOptions\.\S+ "" is invalid: /],
      ['GET', 'watch=true&fieldSelector=data%3Dx&resourceVersion=x1', /^field label not supported: data$/],
      ['DELETE', 'fieldSelector=data%3Dx&resourceVersionMatch=Exact', /^ListOptions\.\S+ "" is invalid: /],
    ];
    for (const [method, query, expected] of rows) {
      const { status, body } = await client.send(method, `${pods}?${query}`);
      assert.ok(status === 400 || status === 422, `${query}: ${status}`);
      assert.match(body.message, expected, `${method} ${query}`);
    }
  });
});

describe('apply of a missing object', () => {
  const apply = (name: string, metadata: object) =>
    client.send('PATCH', `${configMaps}/${name}?fieldManager=m`, {
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata } },
      contentType: 'application/apply-patch+yaml',
    });

  it('does not bring back an object with a certain uid', async () => {
    const uid = '00000000-0000-4000-8000-000000000000';
    const refused = await apply('gone', { uid });
    assert.equal(refused.status, 409);
    const detail = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    assert.equal(refused.body.message, `Operation cannot be fulfilled on configmaps "gone": ${detail}`);
    assert.equal((await client.get(`${configMaps}/gone`)).status, 404);
  });

  it('makes a new one whatever version is named', async () => {
    const made = await apply('fresh', { resourceVersion: '1' });
    assert.equal(made.status, 201, made.text);
    assert.notEqual(made.body.metadata.resourceVersion, '1');
  });

  it('is refused when what it names is no version', async () => {
    for (const [version, fault] of [
      ['x', 'invalid syntax'],
      ['-1', 'invalid syntax'],
      ['1e3', 'invalid syntax'],
      ['18446744073709551616', 'value out of range'],
    ]) {
      const refused = await apply('unversioned', { resourceVersion: version });
      assert.deepEqual([refused.status, refused.body.reason], [500, undefined], refused.text);
      assert.equal(refused.body.message, `strconv.ParseUint: parsing "${version}": ${fault}`);
    }
    assert.equal((await client.get(`${configMaps}/unversioned`)).status, 404);
  });
});

describe('unknown fields', () => {
  it('of YAML are reported in the order of their keys', async () => {
    const lines = ['metadata:', '  name: unknown', '  zoo: 1', '  foo: 1', 'zed: 1', 'alpha: [{b: 1}]'];
    const answer = await client.send('POST', `${configMaps}?dryRun=All&fieldValidation=Strict`, {
      raw: lines.join('\n'),
      contentType: 'application/yaml',
    });
    assert.equal(answer.status, 400);
    const fields = [...answer.body.message.matchAll(/unknown field "([^"]+)"/g)].map(([, field]) => field);
    assert.deepEqual(fields, ['alpha', 'metadata.foo', 'metadata.zoo', 'zed']);
  });
});

describe('patches', () => {
  const patch = (media: string, body: unknown) =>
    client.send('PATCH', `${configMaps}/patched`, { body: body as object, contentType: `application/${media}` });

  it('by strategic merge leave an object what it is', async () => {
    assert.equal((await client.post(configMaps, { metadata: { name: 'patched' }, data: { a: '1' } })).status, 201);
    const body = { apiVersion: 'v2', kind: 'Secret', data: { b: '2' } };
    const { status, body: patched } = await patch('strategic-merge-patch+json', body);
    assert.equal(status, 200, JSON.stringify(patched));
    assert.deepEqual([patched.apiVersion, patched.kind, patched.data], ['v1', 'ConfigMap', { a: '1', b: '2' }]);
  });

  it('are refused in the words that clients know when they are none', async () => {
    for (const [media, body, message] of [
      [
        'json-patch+json',
        [1],
        'error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp',
      ],
      [
        'merge-patch+json',
        [],
        'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
      ],
      ['strategic-merge-patch+json', [], 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ] as const) {
      const refused = await patch(media, body);
      assert.deepEqual([refused.status, refused.body.message], [400, message]);
    }
  });

  it('of an object that is not there are refused for that, unless the body is no JSON', async () => {
    for (const media of ['json-patch+json', 'merge-patch+json', 'strategic-merge-patch+json']) {
      for (const [raw, status] of [
        ['{', 400],
        ['[1]', 404],
        ['"x"', 404],
        ['true', 404],
        ['null', 404],
        ['{}', 404],
      ] as const) {
        const answer = await client.send('PATCH', `${configMaps}/absent`, { raw, contentType: `application/${media}` });
        assert.equal(answer.status, status, `${media} ${raw}: ${answer.text}`);
      }
    }
  });

  it('by strategic merge say what could not be restored', async () => {
    const services = '/api/v1/namespaces/default/services';
    const service = { metadata: { name: 'patched' }, spec: { ports: [{ port: 80 }] } };
    assert.equal((await client.post(services, service)).status, 201);
    const contentType = 'application/strategic-merge-patch+json';
    for (const [body, words] of [
      [{ metadata: { labels: 'x' } }, /": cannot restore map from string$/],
      [{ metadata: { labels: [1] } }, /: cannot restore map from slice$/],
      [{ metadata: { finalizers: 'x' } }, /": cannot restore slice from string$/],
      [{ spec: 'x' }, /": cannot restore struct from: string$/],
    ] as const) {
      const refused = await client.send('PATCH', `${services}/patched`, { body, contentType });
      assert.equal(refused.status, 422);
      assert.match(refused.body.message, words);
    }
    const merge = { body: { metadata: { labels: 'x' } }, contentType: 'application/merge-patch+json' };
    const { body: other } = await client.send('PATCH', `${services}/patched`, merge);
    assert.match(other.message, /of type map\[string\]string$/);
  });
});
