import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import {
  always,
  type CustomKindForm,
  int32,
  kind,
  list,
  mergedBy,
  optional,
  string,
  struct,
} from '../../../base/machinery/schema/index.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import { defineResource, defineVirtualResource } from '../../../objects/registry/resource-definition.js';
import { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import type { MetaKinds } from '../meta-kinds.interface.js';
import { AcceptNegotiator } from '../negotiation/accept.js';
import { type OpenApiDocument, OpenApiDocuments } from './openapi-documents.js';

const meta = struct('meta.v1.ObjectMeta', { name: optional(1, string) });
const empty = (name: string) => kind({ group: '', version: 'v1', kind: name }, {}, { name: `meta.v1.${name}` });
const kinds: MetaKinds = {
  status: empty('Status'),
  deleteOptions: empty('DeleteOptions'),
  partialObjectMetadata: empty('PartialObjectMetadata'),
  listMeta: struct('meta.v1.ListMeta', { resourceVersion: optional(2, string) }),
  watchEvent: struct('meta.v1.WatchEvent', { type: optional(1, string) }),
  versionInfo: struct('version.Info', { major: optional(1, string) }),
  apiVersions: empty('APIVersions'),
  apiGroupDiscovery: empty('APIGroupDiscovery'),
  apiGroup: empty('APIGroup'),
  apiGroupList: empty('APIGroupList'),
  apiResourceList: empty('APIResourceList'),
  descriptions: () => ({ 'shop.Part': { '': 'A piece.', name: 'Its name.' } }),
  published: () => ({ enumValues: {}, requiredFields: {}, unions: {}, optionGroups: { '': 'v1' } }),
};

const part = struct('shop.v1.Part', { name: optional(1, string) });
const identity = { group: 'shop.authorization', version: 'v1', kind: 'Thing', scope: 'Namespaced' } as const;
const thing = kind(identity, { metadata: always(1, meta), parts: optional(2, list(part), mergedBy('name')) });
const scale = kind({ group: 'autoscaling', version: 'v1', kind: 'Scale' }, { replicas: optional(1, int32) });
const review = kind({ group: 'shop.authorization', version: 'v1', kind: 'Review' }, { metadata: always(1, meta) });

const group = 'shop.authorization.k8s.io';
const things = defineResource({
  group,
  resource: 'things',
  singular: 'thing',
  kind: 'Thing',
  namespaced: true,
  versions: [{ version: 'v1', type: thing }],
  strategy: {},
  subresources: [
    statusSubresource(),
    {
      type: 'view',
      name: 'scale',
      verbs: ['get'],
      body: { kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, type: scale },
      read: (parent) => parent,
      write: (_context, parent) => parent,
      intent: () => ({}),
    },
    {
      type: 'virtual',
      name: 'binding',
      body: { kind: { group, version: 'v1', kind: 'Thing' }, type: thing },
      perform: async (_context, { body }) => body,
    },
  ],
});
const reviews = defineVirtualResource({
  group,
  resource: 'reviews',
  singular: 'review',
  kind: 'Review',
  namespaced: false,
  versions: [{ version: 'v1', type: review }],
  answer: (_context, object) => object,
});

function setUp() {
  const registry = new ResourceRegistry();
  registry.register(things);
  registry.register(reviews);
  const names = vendorNames('k8s.io');
  const accept = new AcceptNegotiator(names);
  return {
    registry,
    documents: new OpenApiDocuments({ registry, kinds, names, accept }, { title: 'T', version: 'v1' }),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a document
const parse = (document: OpenApiDocument | undefined): any =>
  JSON.parse(gunzipSync((document as OpenApiDocument).compressed).toString());

const base = `/apis/${group}/v1`;
const expectedOperations: Record<string, Record<string, [string, string | undefined]>> = {
  '/api/': { get: ['getCoreAPIVersions', undefined] },
  '/apis/': { get: ['getAPIVersions', undefined] },
  '/version/': { get: ['getCodeVersion', undefined] },
  [`/apis/${group}/`]: { get: ['getShopAuthorizationAPIGroup', undefined] },
  [`${base}/`]: { get: ['getShopAuthorizationV1APIResources', undefined] },
  [`${base}/reviews`]: { post: ['createShopAuthorizationV1Review', 'post'] },
  [`${base}/things`]: { get: ['listShopAuthorizationV1ThingForAllNamespaces', 'list'] },
  [`${base}/namespaces/{namespace}/things`]: {
    get: ['listShopAuthorizationV1NamespacedThing', 'list'],
    post: ['createShopAuthorizationV1NamespacedThing', 'post'],
    delete: ['deleteShopAuthorizationV1CollectionNamespacedThing', 'deletecollection'],
  },
  [`${base}/namespaces/{namespace}/things/{name}`]: {
    get: ['readShopAuthorizationV1NamespacedThing', 'get'],
    put: ['replaceShopAuthorizationV1NamespacedThing', 'put'],
    patch: ['patchShopAuthorizationV1NamespacedThing', 'patch'],
    delete: ['deleteShopAuthorizationV1NamespacedThing', 'delete'],
  },
  [`${base}/namespaces/{namespace}/things/{name}/status`]: {
    get: ['readShopAuthorizationV1NamespacedThingStatus', 'get'],
    put: ['replaceShopAuthorizationV1NamespacedThingStatus', 'put'],
    patch: ['patchShopAuthorizationV1NamespacedThingStatus', 'patch'],
  },
  [`${base}/namespaces/{namespace}/things/{name}/scale`]: {
    get: ['readShopAuthorizationV1NamespacedThingScale', 'get'],
  },
  [`${base}/namespaces/{namespace}/things/{name}/binding`]: {
    post: ['createShopAuthorizationV1NamespacedThingBinding', 'post'],
  },
  [`${base}/watch/things`]: { get: ['watchShopAuthorizationV1ThingListForAllNamespaces', 'watchlist'] },
  [`${base}/watch/namespaces/{namespace}/things`]: {
    get: ['watchShopAuthorizationV1NamespacedThingList', 'watchlist'],
  },
  [`${base}/watch/namespaces/{namespace}/things/{name}`]: {
    get: ['watchShopAuthorizationV1NamespacedThing', 'watch'],
  },
};

// biome-ignore lint/suspicious/noExplicitAny: the paths of a document
function operationsOf(paths: Record<string, any>): Record<string, Record<string, [string, string | undefined]>> {
  const found: Record<string, Record<string, [string, string | undefined]>> = {};
  for (const [path, item] of Object.entries(paths)) {
    const operations: Record<string, [string, string | undefined]> = {};
    for (const [method, operation] of Object.entries<Record<string, string>>(item)) {
      if (method === 'parameters') continue;
      operations[method] = [operation.operationId as string, operation['x-kubernetes-action']];
    }
    found[path] = operations;
  }
  return found;
}

describe('the Swagger 2.0 document', () => {
  it('has every path with the names and actions of its operations', async () => {
    const document = parse(await setUp().documents.swagger('json'));
    assert.equal(document.swagger, '2.0');
    assert.deepEqual(operationsOf(document.paths), expectedOperations);
  });

  it('describes bodies, parameters and answers', async () => {
    const { paths, definitions, parameters } = parse(await setUp().documents.swagger('json'));
    const object = paths[`${base}/namespaces/{namespace}/things/{name}`];
    const named = (described: { name: string; $ref?: string }[]) =>
      described.map(({ name, $ref }) => parameters[$ref?.replace('#/parameters/', '') ?? '']?.name ?? name);
    assert.deepEqual(named(object.parameters), ['name', 'namespace', 'pretty']);
    assert.deepEqual(named(object.patch.parameters), ['body', 'dryRun', 'fieldManager', 'fieldValidation', 'force']);
    const gvk = { group, kind: 'Thing', version: 'v1' };
    assert.deepEqual(object.patch['x-kubernetes-group-version-kind'], gvk);
    assert.equal(object.patch.consumes.includes('application/apply-patch+yaml'), true);
    for (const { get } of [paths[`${base}/namespaces/{namespace}/things`], object]) {
      assert.deepEqual(get.produces, [...new Set(get.produces)]);
      assert.ok(get.produces.includes('application/cbor'));
    }
    const thingName = 'io.k8s.api.shop.v1.Thing';
    assert.deepEqual(object.get.responses[200].schema, { $ref: `#/definitions/${thingName}` });
    assert.deepEqual(definitions[thingName]['x-kubernetes-group-version-kind'], [gvk]);
    assert.equal(definitions[thingName].properties.parts['x-kubernetes-patch-merge-key'], 'name');
    assert.deepEqual(definitions['io.k8s.api.shop.v1.Part'].properties, {
      name: { description: 'Its name.', type: 'string' },
    });
    assert.deepEqual(definitions[`${thingName}List`].required, ['items']);
    const scaleGet = paths[`${base}/namespaces/{namespace}/things/{name}/scale`].get;
    assert.deepEqual(scaleGet['x-kubernetes-group-version-kind'], {
      group: 'autoscaling',
      kind: 'Scale',
      version: 'v1',
    });
  });
});

describe('operations of custom kinds', () => {
  const custom: CustomKindForm = {
    ...{ published: () => undefined, decode: (input) => input, others: undefined, openApi: () => ({}) },
    publishesFields: () => true,
  };
  const name = { group: 'gear.example', version: 'v1', kind: 'Gear' };
  const gears = defineResource({
    group: name.group,
    resource: 'gears',
    singular: 'gear',
    kind: 'Gear',
    namespaced: true,
    versions: [{ version: 'v1', type: { ...kind(name, { metadata: always(1, meta) }), custom } }],
    strategy: {},
    subresources: [
      {
        ...{ type: 'view', name: 'scale', verbs: ['get', 'update', 'patch'], intent: () => ({}) },
        body: { kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, type: scale },
        read: (parent) => parent,
        write: (_context, parent) => parent,
      },
    ],
  });

  it('take what custom resources take: JSON, YAML, and no strategic merge', async () => {
    const { registry, documents } = setUp();
    registry.register(gears);
    const { paths } = parse(await documents.openApi3('apis/gear.example/v1', 'json'));
    const all = '/apis/gear.example/v1/namespaces/{namespace}/gears';
    const { get, put, patch } = paths[`${all}/{name}`];
    for (const body of [paths[all].post.requestBody, put.requestBody, paths[`${all}/{name}/scale`].put.requestBody]) {
      const types = Object.keys(body.content);
      assert.ok(types.includes('application/json') && types.includes('application/yaml'), types.join());
      assert.ok(!types.includes('*/*') && !types.some((type) => type.includes('protobuf')), types.join());
    }
    for (const { requestBody } of [patch, paths[`${all}/{name}/scale`].patch]) {
      const types = Object.keys(requestBody.content);
      assert.ok(types.includes('application/merge-patch+json'), types.join());
      assert.ok(!types.includes('application/strategic-merge-patch+json'), types.join());
    }
    const names = (parameters: readonly { name: string }[]) => parameters.map((parameter) => parameter.name);
    assert.ok(names(get.parameters).includes('resourceVersion'));
  });
});

describe('OpenAPI 3.0 documents', () => {
  it('exist for each group version, with small ones for discovery', async () => {
    const { documents } = setUp();
    const index = await documents.index();
    assert.deepEqual([...index.keys()].sort(), ['api', 'apis', `apis/${group}`, `apis/${group}/v1`, 'version']);
    const document = parse(await documents.openApi3(`apis/${group}/v1`, 'json'));
    const expected = Object.entries(expectedOperations).filter(([path]) => path.startsWith(base));
    assert.deepEqual(operationsOf(document.paths), Object.fromEntries(expected));
    const { post } = document.paths[`${base}/namespaces/{namespace}/things`];
    const schema = { $ref: '#/components/schemas/io.k8s.api.shop.v1.Thing' };
    assert.deepEqual(post.requestBody, { content: { '*/*': { schema } }, required: true });
    assert.deepEqual(post.responses[201].content['application/json'], { schema });
    assert.equal(documents.openApi3('apis/none/v1', 'json'), undefined);
  });

  it('describe the answers of creates and deletes, and failures as a Status', async () => {
    const { documents } = setUp();
    const { paths, components } = parse(await documents.openApi3(`apis/${group}/v1`, 'json'));
    const { paths: paths2 } = parse(await documents.swagger('json'));
    const named = (name: string) => ({ $ref: `#/components/schemas/io.k8s.${name}` });
    const [status, object] = [named('apimachinery.pkg.apis.meta.v1.Status'), named('api.shop.v1.Thing')];
    const path = `${base}/namespaces/{namespace}/things/{name}`;
    const { responses } = paths[path].delete;
    assert.deepEqual(responses[200].content['application/json'].schema, status);
    const created = paths[`${path}/binding`].post.responses[201];
    assert.deepEqual(created.content['application/yaml'].schema, object);
    const failure = { $ref: '#/components/responses/Failure' };
    assert.deepEqual([responses[401], responses.default], [failure, failure]);
    assert.deepEqual(components.responses.Failure.content['application/json'].schema, status);
    const status2 = { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Status' };
    const responses2 = paths2[path].delete.responses;
    for (const code of ['200', '401', 'default']) assert.deepEqual(responses2[code].schema, status2, code);
  });

  it('are made once, and again when their resources changed', async () => {
    const { registry, documents } = setUp();
    const before = await documents.index();
    assert.equal(
      await documents.openApi3(`apis/${group}/v1`, 'json'),
      await documents.openApi3(`apis/${group}/v1`, 'json'),
    );
    registry.register({ ...reviews, resource: 'others', kind: 'Other' });
    const after = await documents.index();
    assert.notEqual(after.get(`apis/${group}/v1`), before.get(`apis/${group}/v1`));
    assert.equal(after.get('version'), before.get('version'));
    const document = parse(await documents.openApi3(`apis/${group}/v1`, 'json'));
    assert.ok(document.paths[`${base}/others`]);
  });
});
