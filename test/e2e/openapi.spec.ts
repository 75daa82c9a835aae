import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { ApiClient } from './support/api-client.js';
import { ProtobufClient } from './support/protobuf-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import { type TestCluster, tokens } from './support/test-cluster.js';

let cluster: TestCluster;
let client: ApiClient;
let binary: ProtobufClient;

before(async () => {
  cluster = await sharedCluster('plain');
  client = cluster.first.client;
  binary = new ProtobufClient(cluster.first.url, cluster.pki.authority, tokens.admin);
});

after(() => cluster.stop());

interface DiscoveredResource {
  readonly name: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
}

/** Path of each served group version to its discovery entries. */
async function discovered(): Promise<Map<string, DiscoveredResource[]>> {
  const { body: groups } = await client.get('/apis');
  const found = new Map<string, DiscoveredResource[]>();
  const paths = ['api/v1'];
  for (const { versions } of groups.groups) {
    for (const { groupVersion } of versions) paths.push(`apis/${groupVersion}`);
  }
  for (const path of paths) found.set(path, (await client.get(`/${path}`)).body.resources);
  return found;
}

/** Every `$ref` inside a value. */
function references(value: unknown, into: Set<string> = new Set()): Set<string> {
  if (typeof value !== 'object' || value === null) return into;
  for (const [name, member] of Object.entries(value)) {
    // The schema of schemas has a property of that name.
    if (name === '$ref' && typeof member === 'string') into.add(member);
    else references(member, into);
  }
  return into;
}

const methods: Readonly<Record<string, string>> = {
  get: 'get',
  list: 'get',
  create: 'post',
  update: 'put',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'delete',
};

/** The path of a verb of a resource below its group version. */
function pathOf({ name, namespaced }: DiscoveredResource, verb: string): string {
  const [resource, subresource] = name.split('/');
  const scope = namespaced ? '/namespaces/{namespace}' : '';
  if (subresource !== undefined) return `${scope}/${resource}/{name}/${subresource}`;
  const onCollection = verb === 'list' || verb === 'create' || verb === 'deletecollection';
  return onCollection ? `${scope}/${resource}` : `${scope}/${resource}/{name}`;
}

// biome-ignore lint/suspicious/noExplicitAny: a document
function checkPaths(document: any, path: string, resources: readonly DiscoveredResource[]): void {
  for (const resource of resources) {
    for (const verb of resource.verbs) {
      const method = methods[verb];
      if (method === undefined) continue;
      const operation = document.paths[`/${path}${pathOf(resource, verb)}`]?.[method];
      assert.ok(operation, `${verb} of ${resource.name} in ${path}`);
      assert.equal(operation['x-kubernetes-group-version-kind'].kind, resource.kind);
      // A patch that a proxy passes on does not patch an object of this server.
      if (verb === 'patch' && !resource.name.endsWith('/proxy')) {
        const names = operation.parameters.map(
          (p: { name?: string; $ref?: string }) => p.name ?? p.$ref?.split(/[/-]/)[2],
        );
        for (const name of ['dryRun', 'fieldManager', 'fieldValidation', 'force']) {
          assert.ok(names.includes(name), `${name} of ${resource.name}`);
        }
      }
    }
  }
}

/** Definitions, and fields of definitions, without a description. */
// biome-ignore lint/suspicious/noExplicitAny: the schemas of a document
function silentOnes(schemas: any): string[] {
  const silent: string[] = [];
  for (const [name, { description, properties = {} }] of Object.entries<Described>(schemas)) {
    if (!description) silent.push(name);
    for (const [field, schema] of Object.entries(properties)) {
      if (!schema.description) silent.push(`${name}.${field}`);
    }
  }
  return silent;
}

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
}

describe('descriptions', () => {
  it('stand beside every type and field of every served version', async () => {
    assert.deepEqual(silentOnes((await client.get('/openapi/v2')).body.definitions), []);
    const { paths } = (await client.get('/openapi/v3')).body;
    for (const { serverRelativeURL } of Object.values<{ serverRelativeURL: string }>(paths)) {
      const { schemas } = (await client.get(serverRelativeURL)).body.components;
      assert.deepEqual(silentOnes(schemas), [], serverRelativeURL);
    }
  });
});

describe('/openapi/v2', () => {
  it('describes everything that discovery shows, and refers to nothing that is missing', async () => {
    const { status, headers, body } = await client.get('/openapi/v2');
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'application/json');
    for (const [path, resources] of await discovered()) checkPaths(body, path, resources);
    for (const ref of references(body)) {
      const [, part, name] = /^#\/(definitions|parameters)\/(.+)$/.exec(ref) ?? [];
      assert.ok(body[part as string]?.[name as string], ref);
    }
    const ids = Object.values<Record<string, { operationId?: string }>>(body.paths).flatMap((item) =>
      Object.values(item).flatMap((operation) => operation.operationId ?? []),
    );
    assert.equal(new Set(ids).size, ids.length, 'operation ids are unique');
  });

  it('comes in protobuf under both spellings of its type', async () => {
    const name = 'application/com.github.proto-openapi.spec.v2';
    const asked = await binary.send('GET', '/openapi/v2', { accept: `${name}@v1.0+protobuf` });
    assert.equal(asked.status, 200);
    assert.equal(asked.headers['content-type'], `${name}.v1.0+protobuf`);
    // Field 1 is the version of the format.
    assert.deepEqual(asked.bytes.subarray(0, 5), Buffer.from('\x0a\x032.0'));
    const again = await binary.send('GET', '/openapi/v2', { accept: `${name}.v1.0+protobuf` });
    assert.deepEqual(again.bytes, asked.bytes);
    assert.notEqual(asked.headers.etag, (await client.get('/openapi/v2')).headers.etag);
  });

  it('is the same in every process, and not sent again to clients that have it', async () => {
    const one = await client.get('/openapi/v2');
    const { etag } = one.headers;
    assert.match(etag ?? '', /^"[0-9A-F]{64}"$/);
    assert.equal((await cluster.second.client.get('/openapi/v2')).headers.etag, etag);
    const unchanged = await client.get('/openapi/v2', { headers: { 'if-none-match': etag as string } });
    assert.equal(unchanged.status, 304);
    assert.equal(unchanged.text, '');
    const changed = await client.get('/openapi/v2', { headers: { 'if-none-match': '"OTHER"' } });
    assert.equal(changed.status, 200);
  });

  it('is compressed for clients that accept it', async () => {
    const plain = await client.get('/openapi/v2');
    assert.equal(plain.headers['content-encoding'], undefined);
    const packed = await binary.send('GET', '/openapi/v2', {
      accept: 'application/json',
      headers: { 'accept-encoding': 'gzip' },
    });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.equal(gunzipSync(packed.bytes).toString(), plain.text);
  });

  it('is refused in other forms, and to nobody known', async () => {
    const refused = await client.get('/openapi/v2', { headers: { accept: 'text/html' } });
    assert.equal(refused.status, 406);
    assert.match(refused.body.message, /application\/json/);
    assert.equal((await client.get('/openapi/v2', { token: 'nonsense' })).status, 401);
  });
});

describe('/openapi/v3', () => {
  it('leads to a document of each group version', async () => {
    const { body: index } = await client.get('/openapi/v3');
    const { body: index2 } = await cluster.second.client.get('/openapi/v3');
    assert.deepEqual(index2, index);
    for (const [path, resources] of await discovered()) {
      const url = index.paths[path]?.serverRelativeURL;
      assert.ok(url?.startsWith(`/openapi/v3/${path}?hash=`), path);
      const { status, headers, body } = await client.get(url);
      assert.equal(status, 200);
      assert.match(headers['cache-control'] ?? '', /immutable/);
      assert.match(url, new RegExp(`hash=${headers.etag?.replaceAll('"', '')}$`));
      checkPaths(body, path, resources);
      for (const ref of references(body)) {
        const [, part, name] = /^#\/components\/(schemas|responses)\/(.+)$/.exec(ref) ?? [];
        assert.ok(body.components[part as string]?.[name as string], ref);
      }
    }
    for (const path of ['api', 'apis', 'apis/apps', 'version']) {
      assert.equal((await client.get(index.paths[path].serverRelativeURL)).status, 200, path);
    }
  });

  it('redirects from an old digest to the present one', async () => {
    const old = await client.get('/openapi/v3/apis/apps/v1?hash=OLD');
    assert.equal(old.status, 301);
    const { body: index } = await client.get('/openapi/v3');
    assert.equal(old.headers.location, index.paths['apis/apps/v1'].serverRelativeURL);
    const plain = await client.get('/openapi/v3/apis/apps/v1');
    assert.match(plain.headers['cache-control'] ?? '', /no-cache/);
    const headers = { 'if-none-match': plain.headers.etag as string };
    assert.equal((await client.get('/openapi/v3/apis/apps/v1', { headers })).status, 304);
  });

  it('comes in protobuf', async () => {
    const name = 'application/com.github.proto-openapi.spec.v3';
    const answer = await binary.send('GET', '/openapi/v3/api/v1', { accept: `${name}@v1.0+protobuf` });
    assert.equal(answer.headers['content-type'], `${name}.v1.0+protobuf`);
    assert.deepEqual(answer.bytes.subarray(0, 7), Buffer.from('\x0a\x053.0.0'));
  });

  it('has nothing for other paths', async () => {
    for (const path of ['apis/none/v1', 'api/v9', 'x', '']) {
      const answer = await client.get(`/openapi/v3/${path}`);
      assert.equal(answer.status, 404, path);
      assert.equal(answer.text, '');
    }
  });
});

/** A value that each parameter refuses, and the effect that proves that the parameter was read. */
const refusedValues: Readonly<Record<string, readonly [value: string, message: RegExp]>> = {
  continue: ['x', /continue token/],
  dryRun: ['x', /dryRun/],
  fieldManager: ['\u0007', /fieldManager/],
  fieldSelector: ['none.such=x', /none\.such/],
  fieldValidation: ['x', /fieldValidation/],
  force: ['x', /force/],
  gracePeriodSeconds: ['x', /invalid syntax/],
  labelSelector: ['a in b', /parse requirement/],
  limit: ['x', /invalid syntax/],
  limitBytes: ['x', /invalid syntax/],
  ports: ['x', /cannot convert to \[\]int32: .*"x"/],
  propagationPolicy: ['x', /propagationPolicy/],
  resourceVersion: ['x', /resource ?version/i],
  resourceVersionMatch: ['x', /resourceVersionMatch/],
  sinceSeconds: ['x', /invalid syntax/],
  stream: ['x', /stream/],
  tailLines: ['x', /invalid syntax/],
  timeoutSeconds: ['x', /invalid syntax/],
};

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly $ref?: string;
}

/** Parameters that accept any value. */
const lenient = [
  'allowWatchBookmarks',
  'command',
  'container',
  'follow',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'insecureSkipTLSVerifyBackend',
  'orphanDependents',
  'previous',
  'path',
  'sendInitialEvents',
  'shardSelector',
  'stderr',
  'stdin',
  'stdout',
  'timestamps',
  'tty',
  'watch',
];

/** Parameters that are ignored for objects that are computed for each request. */
const unpaged = ['continue', 'resourceVersion'];

describe('query parameters', () => {
  it('are read wherever they are described', async () => {
    const { paths, parameters: shared } = (await client.get('/openapi/v2')).body as {
      paths: Record<string, Record<string, { parameters?: Parameter[]; consumes?: string[] }>>;
      parameters: Record<string, Parameter>;
    };
    const asked: (() => Promise<void>)[] = [];
    const seen = new Set<string>();
    for (const [template, operations] of Object.entries(paths)) {
      const path = template.replace('{namespace}', 'default').replace('{name}', 'some');
      for (const [method, { parameters = [], consumes = [] }] of Object.entries(operations)) {
        if (method === 'parameters') continue;
        const described = parameters.map((each) => shared[each.$ref?.replace('#/parameters/', '') ?? ''] ?? each);
        for (const { name } of described.filter((parameter) => parameter.in === 'query')) {
          seen.add(name);
          if (lenient.includes(name) || (unpaged.includes(name) && path.endsWith('/componentstatuses'))) continue;
          const [value, message] = refusedValues[name] ?? assert.fail(`${name} of ${method} ${template}`);
          asked.push(async () => {
            const contentType = method === 'patch' ? (consumes[0] as string) : 'application/json';
            const body = method === 'get' || method === 'delete' ? {} : { body: {}, contentType };
            const query = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
            const answer = await client.send(method.toUpperCase(), `${path}?${query}`, body);
            const what = `${method} ${path}?${query}: ${answer.text}`;
            assert.ok(answer.status === 400 || answer.status === 422, what);
            assert.match(answer.body.message, message, what);
          });
        }
      }
    }
    assert.deepEqual([...seen].sort(), [...Object.keys(refusedValues), ...lenient].sort());
    const next = asked.values();
    const worker = async () => {
      for (const ask of next) await ask();
    };
    await Promise.all(Array.from({ length: 8 }, worker));
  });
});

describe('strict validation', () => {
  it('names the fields that are wrong', async () => {
    const path = '/api/v1/namespaces/default/configmaps?fieldValidation=Strict';
    const refused = await client.post(path, { metadata: { name: 'x', labls: {} }, dta: {} });
    assert.equal(refused.status, 400);
    assert.match(refused.body.message, /unknown field "metadata\.labls".*unknown field "dta"/);
  });
});
