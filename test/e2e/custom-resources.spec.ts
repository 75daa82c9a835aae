import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type ApiException,
  CustomObjectsApi,
  KubeConfig,
  type KubernetesObject,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node';
import { customDefinition, define, definitionsPath, objectsPath, undefine } from './support/custom-definitions.js';
import { Kubectl } from './support/kubectl.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;

before(async () => {
  cluster = await sharedCluster('loops');
});

after(() => cluster.stop());

const gadgets = customDefinition({ plural: 'gadgets', kind: 'Gadget', shortNames: ['gd'], categories: ['all'] }, [
  {
    name: 'v1',
    schema: {
      type: 'object',
      required: ['spec'],
      properties: {
        spec: {
          type: 'object',
          required: ['size'],
          properties: {
            size: { type: 'integer', minimum: 1, maximum: 10 },
            mode: { type: 'string', enum: ['fast', 'slow'], default: 'fast' },
            note: { type: 'string', nullable: true },
            free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
        status: {
          type: 'object',
          properties: { ready: { type: 'integer' }, replicas: { type: 'integer' }, sel: { type: 'string' } },
        },
      },
    },
    subresources: {
      status: {},
      scale: {
        specReplicasPath: '.spec.size',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.status.sel',
      },
    },
    additionalPrinterColumns: [
      { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
      { name: 'Mode', type: 'string', jsonPath: '.spec.mode', priority: 1 },
    ],
    selectableFields: [{ jsonPath: '.spec.mode' }],
  },
]);

type Gadget = KubernetesObject & { readonly spec: { readonly size: number; readonly mode: string } };

function gadget(name: string, spec: object = { size: 3 }, more: object = {}) {
  return { apiVersion: 'test.example/v1', kind: 'Gadget', metadata: { name }, spec, ...more };
}

describe('a custom resource', () => {
  const path = objectsPath(gadgets);

  before(() =>
    define(
      gadgets,
      cluster.servers.map(({ client }) => client),
    ),
  );
  after(() =>
    undefine(
      gadgets,
      cluster.servers.map(({ client }) => client),
    ),
  );

  it('is created without unknown fields and with defaults, and read through another process', async () => {
    const { first, second } = cluster;
    const body = gadget('a', { size: 3, bogus: 1, free: { kept: 1 }, note: null }, { extra: 1, status: { ready: 9 } });
    const made = await first.client.post(path, body);
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(made.body.spec, { size: 3, free: { kept: 1 }, note: null, mode: 'fast' });
    assert.equal('status' in made.body, false);
    assert.equal('extra' in made.body, false);
    assert.equal(made.body.metadata.generation, 1);
    const read = await second.client.get(`${path}/a`);
    assert.deepEqual(read.body, made.body);
    const list = await second.client.get(path);
    assert.equal(list.body.kind, 'GadgetList');
    assert.equal(list.body.items[0].metadata.name, 'a');
  });

  it('is refused in another version, with a word about its unknown fields', async () => {
    const { client } = cluster.first;
    const body = { ...gadget('other', { size: 1 }), extra: 1 };
    const elsewhere = { ...body, apiVersion: body.apiVersion.replace(/[^/]*$/, 'v9') };
    const refused = await client.post(path, elsewhere);
    assert.match(refused.body.message, /does not match the expected API version/);
    const warnings = ['extra', 'spec'].map((field) => `299 - "unknown field \\"${field}\\""`).join(', ');
    assert.deepEqual([refused.status, refused.headers.warning], [400, warnings]);
    const strict = await client.post(`${path}?fieldValidation=Strict`, elsewhere);
    assert.match(strict.body.message, /strict decoding error: unknown field "extra", unknown field "spec"$/);
    const patched = await client.patch(`${path}/a`, 'merge', { apiVersion: elsewhere.apiVersion });
    assert.equal(patched.status, 422, patched.text);
    assert.match(patched.body.message, /"a" is invalid: apiVersion: Invalid value: ".*\/v9": must be /);
  });

  it('may have finalizers without a domain, about which there is a warning once', async () => {
    const path = `${objectsPath(gadgets)}/finalized`;
    const { client } = cluster.first;
    const object = gadget('finalized', { size: 1 });
    const finalized = { ...object, metadata: { ...object.metadata, finalizers: ['tidy.example.dev'] } };
    const created = await client.post(objectsPath(gadgets), finalized);
    assert.equal(created.status, 201, created.text);
    assert.match(String(created.headers.warning), /prefer a domain-qualified finalizer name/);
    const updated = await client.patch(path, 'merge', { spec: { size: 2 } });
    assert.equal(updated.status, 200, updated.text);
    assert.equal(updated.headers.warning, undefined);
    const released = await client.patch(path, 'merge', { metadata: { finalizers: null } });
    assert.equal(released.status, 200, released.text);
    assert.equal((await client.delete(path)).status, 200);
  });

  it('reports broken metadata of an update as often as the release', async () => {
    const { client } = cluster.first;
    const metadata = { labels: { 'a b': 'c' }, finalizers: ['a b/c'], deletionGracePeriodSeconds: 5 };
    const { status, body } = await client.patch(`${path}/a`, 'merge', { metadata });
    assert.equal(status, 422);
    const fields = (body.details.causes as { field: string }[]).map(({ field }) => field.replace('metadata.', ''));
    const ofUpdates = ['deletionGracePeriodSeconds', 'labels'];
    assert.deepEqual(fields, ['labels', 'finalizers', ...ofUpdates, ...ofUpdates]);
    const made = await client.post(objectsPath(gadgets), {
      ...gadget('b', { size: 1 }),
      metadata: { ...metadata, name: 'b' },
    });
    assert.equal(made.body.details.causes.length, 2, made.text);
  });

  it('counts generations, and changes its status only through its own path', async () => {
    const { client } = cluster.first;
    const patched = await client.patch(`${path}/a`, 'merge', { spec: { size: 4 }, status: { ready: 7 } });
    assert.equal(patched.body.metadata.generation, 2, patched.text);
    assert.equal(patched.body.status, undefined);
    const labelled = await client.patch(`${path}/a`, 'merge', { metadata: { labels: { a: 'b' } } });
    assert.equal(labelled.body.metadata.generation, 2);
    const observed = await client.patch(`${path}/a/status`, 'merge', {
      spec: { size: 9 },
      status: { ready: 1, replicas: 2, sel: 'x=y', odd: 1 },
      metadata: { labels: { c: 'd' } },
    });
    assert.equal(observed.status, 200, observed.text);
    assert.deepEqual(observed.body.status, { ready: 1, replicas: 2, sel: 'x=y' });
    assert.deepEqual(observed.body.metadata.labels, { a: 'b' });
    assert.deepEqual([observed.body.spec.size, observed.body.metadata.generation], [4, 2]);
  });

  it('has a scale', async () => {
    const { client } = cluster.second;
    const scale = await client.get(`${path}/a/scale`);
    assert.deepEqual(
      [scale.body.kind, scale.body.spec, scale.body.status],
      ['Scale', { replicas: 4 }, { replicas: 2, selector: 'x=y' }],
    );
    const table = { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } };
    assert.deepEqual((await client.get(`${path}/a/scale`, table)).body.rows[0].cells.slice(0, 3), ['a', 4, 2]);
    const scaled = await client.patch(`${path}/a/scale`, 'merge', { spec: { replicas: 6 } });
    assert.equal(scaled.status, 200, scaled.text);
    const { spec, metadata } = (await client.get(`${path}/a`)).body;
    assert.equal(spec.size, 6);
    const ofScale = metadata.managedFields.find((entry: { subresource?: string }) => entry.subresource === 'scale');
    assert.deepEqual([ofScale.apiVersion, ofScale.time], ['test.example/v1', undefined]);
    const negative = await client.patch(`${path}/a/scale`, 'merge', { spec: { replicas: -1 } });
    assert.equal(negative.status, 422);
    assert.match(negative.body.message, /^Gadget\.test\.example "a" is invalid: .*should be a non-negative integer/);
    assert.equal((await client.get(path)).body.metadata.continue, '');
  });

  it('is selected by its fields and shown in a table', async () => {
    const { client } = cluster.second;
    await client.post(path, gadget('slow', { size: 1, mode: 'slow' }));
    const slow = await client.get(`${path}?fieldSelector=spec.mode%3Dslow`);
    assert.deepEqual(
      slow.body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
      ['slow'],
    );
    const other = await client.get(`${path}?fieldSelector=spec.size%3D1`);
    assert.deepEqual([other.status, other.body.message], [400, 'field label not supported: spec.size']);
    const kubectl = new Kubectl(cluster.first.kubeconfig);
    assert.match(kubectl.ok(['get', 'gd', '-o', 'wide']), /^NAME\s+SIZE\s+MODE\na\s+6\s+fast\nslow\s+1\s+slow\n$/);
    assert.match(kubectl.ok(['get', 'all']), /^gadget\.test\.example\/a\s+6\n/m);
    assert.match(
      kubectl.ok(['api-resources', '--api-group=test.example']),
      /^gadgets\s+gd\s+test\.example\/v1\s+true\s+Gadget$/m,
    );
    assert.match(kubectl.ok(['explain', 'gadgets.spec']), /mode\s+<string>/);
  });

  it('is in the OpenAPI documents in both formats', async () => {
    const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    const protobuf3 = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf';
    for (const [document, accept] of [
      ['/openapi/v2', 'application/json'],
      ['/openapi/v2', protobuf],
      ['/openapi/v3/apis/test.example/v1', 'application/json'],
      ['/openapi/v3/apis/test.example/v1', protobuf3],
    ] as const) {
      const { status, text } = await cluster.second.client.get(document, { headers: { accept } });
      assert.equal(status, 200, `${document} as ${accept}: ${text.slice(0, 200)}`);
      assert.match(text, /Gadget/);
    }
  });

  it('is watched', async () => {
    const { first, second } = cluster;
    const stream = await second.client.watch(`${path}?watch=1&fieldSelector=metadata.name%3Dw`);
    await first.client.post(path, gadget('w'));
    await first.client.patch(`${path}/w`, 'merge', { spec: { size: 5 } });
    await first.client.delete(`${path}/w`);
    const seen = [];
    for (let i = 0; i < 3; i++) seen.push(await stream.next(60_000));
    assert.deepEqual(
      seen.map((event) => [event?.type, event?.object.spec.size]),
      [
        ['ADDED', 3],
        ['MODIFIED', 5],
        ['DELETED', 5],
      ],
    );
    stream.close();
  });

  it('is written, listed and watched by the JavaScript client through two processes', async () => {
    const [group, version, namespace, plural] = ['test.example', 'v1', 'default', 'gadgets'] as const;
    const place = { group, version, namespace, plural };
    const configs = cluster.servers.map(({ kubeconfig }) => {
      const config = new KubeConfig();
      config.loadFromFile(kubeconfig as string);
      return config;
    }) as [KubeConfig, KubeConfig];
    const [api, other] = configs.map((config) => config.makeApiClient(CustomObjectsApi)) as [
      CustomObjectsApi,
      CustomObjectsApi,
    ];
    const merging = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
    const jsonPatch = setHeaderOptions('Content-Type', PatchStrategy.JsonPatch);
    const seen: string[] = [];
    const informer = makeInformer<Gadget>(
      configs[1],
      `/apis/${group}/${version}/namespaces/${namespace}/${plural}`,
      () => other.listNamespacedCustomObject(place),
    );
    for (const event of ['add', 'update', 'delete'] as const) {
      informer.on(event, ({ metadata, spec }) => {
        if (metadata?.name?.startsWith('js') === true) seen.push(`${event} ${metadata.name} ${spec.size} ${spec.mode}`);
      });
    }
    try {
      await api.createNamespacedCustomObject({ ...place, body: gadget('js1') });
      await informer.start();
      await eventually(() => seen.length === 1, 'the informer to have the first');
      await api.createNamespacedCustomObject({ ...place, body: gadget('js2', { size: 4, mode: 'slow' }) });
      const broken = api.createNamespacedCustomObject({ ...place, body: gadget('js3', { size: 11 }) });
      await assert.rejects(broken, (error: ApiException<string>) => {
        assert.equal(error.code, 422);
        assert.match(error.body, /spec\.size in body should be less than or equal to 10/);
        return true;
      });
      await api.patchNamespacedCustomObject({ ...place, name: 'js1', body: { spec: { size: 5 } } }, merging);
      const replace = [{ op: 'replace', path: '/spec/mode', value: 'fast' }];
      await other.patchNamespacedCustomObject({ ...place, name: 'js2', body: replace }, jsonPatch);
      await other.patchNamespacedCustomObjectStatus({ ...place, name: 'js2', body: { status: { ready: 1 } } }, merging);
      const list: { items: Gadget[] } = await other.listNamespacedCustomObject({
        ...place,
        fieldSelector: 'spec.mode=fast',
      });
      const sizes = list.items.flatMap(({ metadata, spec }) =>
        metadata?.name?.startsWith('js') === true ? [`${metadata.name} ${spec.size}`] : [],
      );
      assert.deepEqual(sizes, ['js1 5', 'js2 4']);
      for (const name of ['js1', 'js2']) await api.deleteNamespacedCustomObject({ ...place, name });
      const expected = [
        'add js1 3 fast',
        'add js2 4 slow',
        'update js1 5 fast',
        'update js2 4 fast',
        'update js2 4 fast',
      ];
      const ends = ['delete js1 5 fast', 'delete js2 4 fast'];
      await eventually(() => seen.length >= expected.length + ends.length, 'all events');
      assert.deepEqual(seen, [...expected, ...ends]);
    } finally {
      await informer.stop();
    }
  });

  it('refuses what only built-in kinds take', async () => {
    const { client } = cluster.first;
    const strategic = await client.patch(`${path}/a`, 'strategic-merge', { spec: { size: 4 } });
    assert.equal(strategic.status, 415, strategic.text);
    const protobuf = await client.send('POST', path, {
      raw: 'k8s\0',
      contentType: 'application/vnd.kubernetes.protobuf',
    });
    assert.equal(protobuf.status, 415, protobuf.text);
    const accept = 'application/vnd.kubernetes.protobuf';
    assert.equal((await client.get(`${path}/a`, { headers: { accept } })).status, 406);
    const either = await client.get(`${path}/a`, { headers: { accept: `${accept}, application/json` } });
    assert.deepEqual([either.status, either.headers['content-type']], [200, 'application/json']);
  });

  it('is refused in the words of custom kinds', async () => {
    const { client } = cluster.first;
    assert.equal((await client.post(path, gadget('words'))).status, 201);
    const accepted = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
    const form = `only the following media types are accepted: ${accepted}`;
    const format = 'the body of the request was in an unknown format - accepted media types include: ';
    const patches = 'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml';
    const one = `${path}/words`;
    const all = path.replace('/namespaces/default', '');
    type Send = readonly [method: string, path: string, headers?: Record<string, string>, raw?: string];
    const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
    const cases: readonly (readonly [Send, number, string])[] = [
      [['GET', path, { accept: 'text/html' }], 406, form],
      [['GET', one, { accept: 'text/html' }], 406, form],
      [['GET', `${path}?watch=1`, { accept: 'text/html' }], 406, form],
      [['POST', path, { 'content-type': 'text/plain' }, 'x'], 415, `${format}${accepted}`],
      [['PUT', one, { 'content-type': 'text/plain' }, 'x'], 415, `${format}${accepted}`],
      [['PATCH', one, { 'content-type': 'text/plain', accept: 'text/html' }, 'x'], 415, `${format}${patches}`],
      [['PATCH', `${one}/scale`, strategic, '{}'], 415, `${format}${patches}`],
      [['DELETE', `${one}/status`], 405, 'delete is not supported on resources of kind "gadgets.test.example"'],
      [['POST', `${one}/scale`], 405, 'create is not supported on resources of kind "gadgets.test.example"'],
      [['GET', `${one}/other`], 404, 'gadgets.test.example "words" not found'],
    ];
    for (const [[method, target, headers = {}, raw], status, message] of cases) {
      const answer = await client.send(method, target, { headers, ...(raw === undefined ? {} : { raw }) });
      assert.deepEqual([answer.status, answer.body.message], [status, message], `${method} ${target}`);
    }
    // Without the namespace there is nothing but lists.
    for (const [method, target] of [
      ['DELETE', all] as const,
      ['POST', all] as const,
      ['GET', `${all}/words`] as const,
    ]) {
      const answer = await client.send(method, target, method === 'POST' ? { body: gadget('x') } : {});
      assert.deepEqual([answer.status, answer.text], [404, '404 page not found\n'], `${method} ${target}`);
    }
    assert.equal((await client.delete(one)).status, 200);
  });
});

describe('definitions', () => {
  it('are in step in all processes', async () => {
    const clients = cluster.servers.map(({ client }) => client);
    const made = customDefinition({ plural: 'steps', kind: 'Step' }, [{ name: 'v1' }]);
    await define(made, clients);
    const patched = await clients[0]?.patch(`${definitionsPath}/steps.test.example`, 'json', [
      { op: 'add', path: '/spec/versions/-', value: { ...made.spec.versions[0], name: 'v2', storage: false } },
    ]);
    assert.equal(patched?.status, 200, patched?.text ?? '');
    for (const client of clients) {
      await eventually(async () => (await client.get(objectsPath(made, 'v2'))).status === 200, 'v2 is served');
    }
    await undefine(made, clients);
  });
});

describe('a custom kind with merge markers under the name of the vendor', () => {
  it('keeps them, publishes them and merges by them', async () => {
    const { first, second } = cluster;
    const item = { type: 'object', required: ['k'], properties: { k: { type: 'string' }, v: { type: 'integer' } } };
    const lists = {
      keyed: { type: 'array', items: item, 'x-k8s.io-list-type': 'map', 'x-k8s.io-list-map-keys': ['k'] },
      names: { type: 'array', items: { type: 'string' }, 'x-k8s.io-list-type': 'set' },
      whole: { type: 'object', additionalProperties: { type: 'string' }, 'x-k8s.io-map-type': 'atomic' },
    };
    const marked = customDefinition({ plural: 'marks', kind: 'Mark', group: 'marks.example' }, [
      { name: 'v1', schema: { type: 'object', properties: { spec: { type: 'object', properties: lists } } } },
    ]);
    const clients = cluster.servers.map(({ client }) => client);
    const strict = await first.client.post(`${definitionsPath}?fieldValidation=Strict&dryRun=All`, marked);
    assert.deepEqual([strict.status, strict.headers.warning], [201, undefined], strict.text);
    const made = await define(marked, clients);
    const { properties } = made.body.spec.versions[0].schema.openAPIV3Schema.properties.spec;
    assert.equal(properties.keyed['x-k8s.io-list-type'], 'map');
    for (const document of ['/openapi/v2', '/openapi/v3/apis/marks.example/v1']) {
      const { body } = await second.client.get(document);
      const schemas = body.definitions ?? body.components.schemas;
      const shown = schemas['example.marks.v1.Mark'].properties.spec.properties;
      for (const prefix of ['x-k8s.io-', 'x-kubernetes-']) {
        assert.equal(shown.keyed[`${prefix}list-type`], 'map', document);
        assert.deepEqual(shown.keyed[`${prefix}list-map-keys`], ['k']);
        assert.equal(shown.names[`${prefix}list-type`], 'set');
        assert.equal(shown.whole[`${prefix}map-type`], 'atomic');
      }
    }
    const path = `${objectsPath(marked)}/x`;
    const apply = (manager: string, spec: object) =>
      second.client.send('PATCH', `${path}?fieldManager=${manager}`, {
        contentType: 'application/apply-patch+yaml',
        body: { apiVersion: 'marks.example/v1', kind: 'Mark', metadata: { name: 'x' }, spec },
      });
    assert.equal((await apply('a', { keyed: [{ k: 'a', v: 1 }], names: ['a'], whole: { a: '1' } })).status, 201);
    const merged = await apply('b', { keyed: [{ k: 'b', v: 2 }], names: ['b'] });
    assert.deepEqual(merged.body.spec, {
      keyed: [
        { k: 'a', v: 1 },
        { k: 'b', v: 2 },
      ],
      names: ['a', 'b'],
      whole: { a: '1' },
    });
    assert.equal((await apply('b', { keyed: [{ k: 'b', v: 2 }], names: ['b'], whole: { b: '1' } })).status, 409);
    const twice = await first.client.post(objectsPath(marked), {
      apiVersion: 'marks.example/v1',
      kind: 'Mark',
      metadata: { name: 'twice' },
      spec: { names: ['a', 'a'] },
    });
    assert.equal(twice.status, 422);
    await undefine(marked, clients);
  });
});
