import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import type { ApiClient, ApiResponse } from './support/api-client.js';
import { ProtobufClient } from './support/protobuf-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import { type TestCluster, tokens } from './support/test-cluster.js';

const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const core = '/api/v1/namespaces/default';
const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';

let cluster: TestCluster;
let client: ApiClient;
/** A user who may delete secrets, pods and quotas, and nothing else. */
const bob = { token: tokens.bob };

before(async () => {
  cluster = await sharedCluster('rbac');
  client = cluster.first.client;
  const resources = ['secrets', 'pods', 'resourcequotas'];
  await made(`${rbac}/roles`, {
    metadata: { name: 'deleter' },
    rules: [{ apiGroups: [''], resources, verbs: ['delete', 'deletecollection'] }],
  });
  await made(`${rbac}/rolebindings`, {
    metadata: { name: 'deleter' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'deleter' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
  });
});

after(() => cluster.stop());

async function made(path: string, body: unknown): Promise<ApiResponse> {
  const answer = await client.post(path, body);
  assert.equal(answer.status, 201, answer.text);
  return answer;
}

let collections = 0;

/** Creates a namespace with config maps of these names; the label `half` says which half a map belongs to. */
async function maps(...names: readonly string[]): Promise<string> {
  const namespace = `deletes-${++collections}`;
  await made('/api/v1/namespaces', { metadata: { name: namespace } });
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  for (const [i, name] of names.entries()) {
    await made(path, { metadata: { name, labels: { half: i < names.length / 2 ? 'one' : 'two' } } });
  }
  return path;
}

async function namesIn(path: string): Promise<string> {
  const { items } = (await client.get(path)).body as { items: readonly { metadata: { name: string } }[] };
  return items.map(({ metadata }) => metadata.name).join();
}

/** Runs `work` while nobody can write objects or, with `access exclusive`, read them. */
async function whileLocked(mode: 'exclusive' | 'access exclusive', work: () => Promise<void>): Promise<void> {
  const lock = new pg.Client({ connectionString: cluster.databaseUrl });
  await lock.connect();
  try {
    await lock.query('begin');
    await lock.query(`lock table plinth.objects in ${mode} mode`);
    await work();
    await lock.query('rollback');
  } finally {
    await lock.end();
  }
}

/** Checks that the answer is a list, and returns the names in it. */
function deleted(answer: ApiResponse, what: string): string {
  assert.equal(answer.status, 200, `${what}: ${answer.text}`);
  assert.deepEqual([answer.body.kind, answer.body.apiVersion], ['ConfigMapList', 'v1'], what);
  const { items } = answer.body as unknown as { items: readonly { metadata: { name: string } }[] };
  return items.map(({ metadata }) => metadata.name).join();
}

describe('preconditions in the query of a delete', () => {
  it('keep an object that is another one', async () => {
    const path = await maps('kept');
    for (const query of ['uid=x', 'resourceVersion=1']) {
      const refused = await client.delete(`${path}/kept?${query}`);
      assert.deepEqual([refused.status, refused.body.reason], [409, 'Conflict'], refused.text);
    }
    const { uid, resourceVersion } = (await client.get(`${path}/kept`)).body.metadata;
    assert.equal((await client.delete(`${path}/kept?uid=${uid}&resourceVersion=${resourceVersion}`)).status, 200);
  });

  it('are no part of the delete of a collection, where a version is one of the list', async () => {
    const path = await maps('a', 'b');
    assert.equal((await client.delete(`${path}?labelSelector=half&uid=x`)).status, 200);
    assert.equal((await client.get(`${path}?labelSelector=half`)).body.items.length, 0);
  });
});

describe('DELETE of a collection', () => {
  it('deletes as many as it is told to, in the order of lists', async () => {
    const path = await maps('a', 'b', 'c', 'd', 'e');
    const two = await client.delete(`${path}?limit=2`);
    assert.equal(deleted(two, 'limit'), 'a,b');
    assert.ok(two.body.metadata.continue, two.text);
    assert.equal(await namesIn(path), 'c,d,e');
    assert.equal(deleted(await client.delete(`${path}?limit=9&labelSelector=half=two`), 'limit and selector'), 'd,e');
    assert.equal(await namesIn(path), 'c');
    assert.equal(deleted(await client.delete(`${path}?limit=0`), 'no limit'), 'c');
    assert.equal(await namesIn(path), '');
  });

  it('goes on where a list ended', async () => {
    const path = await maps('a', 'b', 'c', 'd');
    const { metadata } = (await client.get(`${path}?limit=1`)).body;
    const next = encodeURIComponent(metadata.continue as string);
    assert.equal(deleted(await client.delete(`${path}?limit=2&continue=${next}`), 'continue'), 'b,c');
    assert.equal(await namesIn(path), 'a,d');
    assert.equal(deleted(await client.delete(`${path}?continue=${next}`), 'continue'), 'b,c,d');
    assert.equal(await namesIn(path), 'a');
  });

  it('deletes the objects of a list at the version, and none that took their place', async () => {
    const path = await maps('a', 'b');
    const { resourceVersion } = (await client.get(path)).body.metadata;
    await client.delete(`${path}/a`);
    await made(path, { metadata: { name: 'a' } });
    await made(path, { metadata: { name: 'c' } });
    const exact = `resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
    assert.equal(deleted(await client.delete(`${path}?${exact}`), exact), 'a,b');
    assert.equal(await namesIn(path), 'a,c');
    assert.equal(deleted(await client.delete(`${path}?resourceVersion=${resourceVersion}`), 'not older than'), 'a,c');
    assert.equal(await namesIn(path), '');
  });

  it('selects by fields', async () => {
    const path = await maps('a', 'b', 'c');
    assert.equal(deleted(await client.delete(`${path}?fieldSelector=metadata.name!=b`), 'field'), 'a,c');
    assert.equal(await namesIn(path), 'b');
  });

  it('checks everything before it deletes anything', async () => {
    const path = await maps('a');
    const cases: readonly (readonly [query: string, body: unknown, status: number])[] = [
      ['limit=x', undefined, 400],
      ['continue=x', undefined, 400],
      ['resourceVersion=x', undefined, 400],
      ['resourceVersion=999999999999', undefined, 504],
      ['resourceVersionMatch=Exact', undefined, 400],
      ['resourceVersion=1&resourceVersionMatch=Newest', undefined, 422],
      ['timeoutSeconds=x', undefined, 400],
      ['labelSelector=a+in+b', undefined, 400],
      ['fieldSelector=data=x', undefined, 400],
      ['dryRun=Some', undefined, 422],
      ['dryRun=Some', {}, 422],
      ['gracePeriodSeconds=x', undefined, 400],
      ['gracePeriodSeconds=x', {}, 400],
      ['propagationPolicy=Some', undefined, 422],
      ['propagationPolicy=', undefined, 422],
      ['propagationPolicy=Orphan&orphanDependents=true', undefined, 422],
      ['', [], 400],
      ['', { kind: 'ConfigMap' }, 400],
      ['', { kind: { toString: null, valueOf: null } }, 400],
      ['', { kind: 'ConfigMap', apiVersion: { toString: null } }, 400],
      ['', { dryRun: ['Some'] }, 422],
      ['', { preconditions: 'x' }, 400],
      ['', { ignoreStoreReadErrorWithClusterBreakingPotential: true }, 422],
      ['ignoreStoreReadErrorWithClusterBreakingPotential=true', undefined, 422],
      ['', { ignoreStoreReadErrorWithClusterBreakingPotential: 'x' }, 400],
    ];
    for (const [query, body, status] of cases) {
      const answer = await client.delete(`${path}?${query}`, body);
      assert.equal(answer.status, status, `${query} ${JSON.stringify(body)}: ${answer.text}`);
    }
    const forms = { accept: 'text/html', includeObject: table } as const;
    assert.equal((await client.delete(path, undefined, { headers: { accept: forms.accept } })).status, 406);
    const include = await client.delete(`${path}?includeObject=x`, undefined, { headers: { accept: table } });
    assert.equal(include.status, 400, include.text);
    assert.equal(await namesIn(path), 'a');
  });

  it('names the types of wrong options, and other kinds, as clients know them', async () => {
    const path = `${await maps('a')}/a`;
    const cases: readonly (readonly [body: unknown, message: string])[] = [
      [
        { preconditions: 's' },
        'json: cannot unmarshal string into Go struct field DeleteOptions.preconditions of type v1.Preconditions',
      ],
      [
        { preconditions: { uid: 5 } },
        'json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid of type types.UID',
      ],
      [
        { preconditions: { resourceVersion: [] } },
        'json: cannot unmarshal array into Go struct field Preconditions.preconditions.resourceVersion of type string',
      ],
      [
        { gracePeriodSeconds: 1.5 },
        'json: cannot unmarshal number 1.5 into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
      ],
      [{ kind: 'Status', apiVersion: 'v1' }, 'converting (v1.Status) to (v1.DeleteOptions): unknown conversion'],
      [{ kind: 'ListOptions' }, 'converting (v1.ListOptions) to (v1.DeleteOptions): unknown conversion'],
      [
        { kind: 'Pod' },
        'no kind "Pod" is registered for version "meta.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"',
      ],
      [
        { kind: 'ListOptions', apiVersion: 'apps/v1' },
        'no kind "ListOptions" is registered for version "apps/v1" in scheme "pkg/runtime/scheme.go:111"',
      ],
    ];
    for (const [body, message] of cases) {
      const answer = await client.delete(path, body);
      assert.deepEqual([answer.status, answer.body.message], [400, message]);
    }
  });

  it('takes every number of 64 bits', async () => {
    const path = await maps('a');
    const most = 2n ** 63n - 1n;
    for (const name of ['limit', 'timeoutSeconds', 'gracePeriodSeconds']) {
      assert.equal(deleted(await client.delete(`${path}?dryRun=All&${name}=${most}`), name), 'a');
      assert.equal((await client.delete(`${path}?${name}=${most + 1n}`)).status, 400, name);
    }
    assert.equal(deleted(await client.delete(`${path}?dryRun=All`, { gracePeriodSeconds: most }), 'in the body'), 'a');
    assert.equal((await client.delete(path, { gracePeriodSeconds: most + 1n })).status, 400);
    assert.equal(await namesIn(path), 'a');
  });

  it('answers the list as it was, in every form of lists', async () => {
    const path = await maps('a', 'b');
    const before = await client.get(`${path}/a`);
    const answers = async (form: string, query = '') => {
      const headers = { accept: form === '' ? 'application/json' : `application/json;as=${form};g=meta.k8s.io;v=v1` };
      return client.delete(`${path}?dryRun=All${query}`, undefined, { headers });
    };
    const { kind: _kind, apiVersion: _apiVersion, ...item } = before.body as unknown as Record<string, unknown>;
    assert.deepEqual((await answers('')).body.items[0], item);
    const rows = (await answers('Table')).body as unknown as { rows: readonly { cells: readonly unknown[] }[] };
    assert.deepEqual(
      rows.rows.map(({ cells }) => cells[0]),
      ['a', 'b'],
    );
    const partial = await answers('PartialObjectMetadataList');
    assert.deepEqual([partial.body.kind, partial.body.items.length], ['PartialObjectMetadataList', 2]);
    assert.equal((await answers('PartialObjectMetadata')).status, 406);
    assert.match((await answers('', '&pretty=true')).text, /^\{\n/);
    const binary = new ProtobufClient(cluster.first.url, cluster.pki.authority, tokens.admin);
    const { bytes } = await binary.send('DELETE', path);
    assert.ok(Buffer.from(bytes).includes('ConfigMapList'));
    assert.equal(await namesIn(path), '');
  });

  it('answers a Status for quotas, ingresses and budgets', async () => {
    const namespace = (await maps()).replace('/configmaps', '').replace('/api/v1/', '');
    for (const [group, kind] of [
      ['/api/v1', 'resourcequotas'],
      ['/apis/networking.k8s.io/v1', 'ingresses'],
      ['/apis/policy/v1', 'poddisruptionbudgets'],
    ] as const) {
      const { status, body } = await client.delete(`${group}/${namespace}/${kind}`);
      assert.deepEqual([status, body.kind, body.status], [200, 'Status', 'Success'], kind);
    }
    assert.equal((await client.delete(`/apis/apps/v1/${namespace}/deployments`)).body.kind, 'DeploymentList');
  });

  it('answers a Status where the list is longer than what it may hold', async () => {
    const path = await maps();
    const data = { long: 'x'.repeat(900_000) };
    for (let i = 0; i < 10; i++) await made(path, { metadata: { name: `long-${i}` }, data });
    const all = await client.delete(path);
    assert.deepEqual([all.status, all.body.kind, all.body.status], [200, 'Status', 'Success'], all.text.slice(0, 200));
    assert.equal(await namesIn(path), '');
  });

  it('shows nothing to a user without the right to read', async () => {
    await made(`${core}/secrets`, { metadata: { name: 'quiet' }, stringData: { password: 'hunter2' } });
    for (const query of ['dryRun=All', 'dryRun=All&limit=1', 'limit=1']) {
      const answer = await client.delete(`${core}/secrets?${query}`, undefined, bob);
      assert.equal(answer.status, 200, answer.text);
      assert.doesNotMatch(answer.text, /quiet|password|continue/, query);
      assert.deepEqual([answer.body.kind, answer.body.details?.kind], ['Status', 'secrets'], query);
    }
  });

  it('ends at the time it is told, and begins nothing after that', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `map-${i}`);
    const path = await maps(...names);
    await whileLocked('exclusive', async () => {
      const late = await client.delete(`${path}?timeoutSeconds=1`);
      assert.equal(late.status, 504, late.text);
    });
    // If deletes had continued, that would show by now.
    for (const name of names) await made(path, { metadata: { name: `other-${name}` } });
    const left = (await namesIn(path)).split(',').filter((name) => !name.startsWith('other-'));
    assert.ok(left.length >= names.length - 8, `${left.length} are left`);
  });
});

describe('--delete-collection-workers', () => {
  /** Batches of writes that the server has sent to the database. */
  async function batchesOf(asked: ApiClient): Promise<number> {
    const text = (await asked.get('/metrics')).text;
    return Number(/^storage_write_batch_size_count(?:\{[^}]*\})? (\d+)$/m.exec(text)?.[1]);
  }

  it('bounds the deletes that are under way at one time', async () => {
    const { client: alone } = await cluster.addServer(undefined, ['--delete-collection-workers=1']);
    const path = await maps();
    const count = 40;
    await Promise.all(Array.from({ length: count }, (_, i) => alone.post(path, { metadata: { name: `map-${i}` } })));
    const before = await batchesOf(alone);
    assert.equal((await alone.delete(path)).status, 200);
    // One after the other, each delete waits for a batch of its own.
    assert.ok((await batchesOf(alone)) - before >= count, `${(await batchesOf(alone)) - before} batches`);
  });
});

describe('a list', () => {
  it('ends at the time it is told', async () => {
    await whileLocked('access exclusive', async () => {
      const late = await client.get('/api/v1/podtemplates?timeoutSeconds=1');
      assert.equal(late.status, 504, late.text);
    });
    assert.equal((await client.get('/api/v1/podtemplates?timeoutSeconds=60')).status, 200);
  });
});

describe('DELETE of one object', () => {
  it('shows it only to users with the right to read it', async () => {
    const finalizers = ['example.com/hold'];
    await made(`${core}/secrets`, { metadata: { name: 'held', finalizers }, stringData: { password: 'hunter2' } });
    await made(`${core}/resourcequotas`, { metadata: { name: 'quota', labels: { password: 'x' } } });
    const spec = { containers: [{ name: 'password', image: 'i' }] };
    await made(`${core}/pods`, { metadata: { name: 'pod' }, spec });
    for (const path of ['secrets/held', 'resourcequotas/quota', 'pods/pod']) {
      for (const query of ['dryRun=All', 'dryRun=All&propagationPolicy=Foreground', '']) {
        const shown = await client.delete(`${core}/${path}?dryRun=All`);
        assert.match(shown.text, /password/, path);
        const answer = await client.delete(`${core}/${path}?${query}`, undefined, bob);
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.body.status, 'Success', `${path}?${query}`);
        assert.equal(answer.body.details.uid, shown.body.metadata.uid);
        assert.doesNotMatch(answer.text, /password/);
      }
    }
    assert.ok((await client.get(`${core}/secrets/held`)).body.metadata.deletionTimestamp);
    await client.patch(`${core}/secrets/held`, 'merge', { metadata: { finalizers: null } });
  });

  it('answers the deleted Service, as generated clients expect', async () => {
    const service = { metadata: { name: 'gone' }, spec: { ports: [{ port: 80 }] } };
    const { body } = await made(`${core}/services`, service);
    for (const query of ['dryRun=All', '']) {
      const answer = await client.delete(`${core}/services/gone?${query}`);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.kind, 'Service');
      assert.equal(answer.body.spec.clusterIP, body.spec.clusterIP);
    }
    assert.equal((await client.get(`${core}/services/gone`)).status, 404);
  });

  it('is a dry run when the query or the body asks for one', async () => {
    const path = await maps('a');
    for (const [query, body] of [
      ['dryRun=All', undefined],
      ['dryRun=All', {}],
      ['dryRun=All', { propagationPolicy: 'Background' }],
      ['dryRun=All', { dryRun: [] }],
      ['dryRun=', { dryRun: ['All'] }],
      ['', { dryRun: ['All'] }],
    ] as const) {
      const one = await client.delete(`${path}/a?${query}`, body);
      assert.equal(one.status, 200, one.text);
      assert.equal((await client.delete(`${path}?${query}`, body)).status, 200);
      assert.equal(await namesIn(path), 'a', `${query} ${JSON.stringify(body)}`);
    }
    assert.equal((await client.delete(`${path}/a?dryRun=Some`, {})).status, 422);
    assert.equal((await client.delete(`${path}/a?dryRun=`)).status, 200);
    assert.equal(await namesIn(path), '');
  });

  it('takes options from the query that the body leaves open', async () => {
    const spec = { containers: [{ name: 'c', image: 'i' }], nodeName: 'n' };
    await made(`${core}/pods`, { metadata: { name: 'graceful' }, spec });
    const pod = `${core}/pods/graceful`;
    const graceOf = (answer: ApiResponse) => answer.body.metadata.deletionGracePeriodSeconds as number;
    const query = 'dryRun=All&gracePeriodSeconds=7';
    assert.equal(graceOf(await client.delete(`${pod}?${query}`, {})), 7);
    assert.equal(graceOf(await client.delete(`${pod}?${query}`, { gracePeriodSeconds: 3 })), 3);
    // All forms of the option decide the same: what happens to dependents.
    const orphan = await client.delete(`${pod}?dryRun=All&orphanDependents=true`, { propagationPolicy: 'Background' });
    assert.equal(orphan.status, 200, orphan.text);
  });

  it('says by its code that an object waits, to clients that ask by the old option for the end of its dependents', async () => {
    await made(`${core}/configmaps`, { metadata: { name: 'waits', finalizers: ['a.b/c'] } });
    const path = `${core}/configmaps/waits`;
    for (const [query, status] of [
      ['orphanDependents=false', 202],
      ['propagationPolicy=Background', 200],
    ] as const) {
      const answer = await client.delete(`${path}?dryRun=All&${query}`);
      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.body.kind, 'ConfigMap');
    }
    const readable = await client.delete(`${path}?ignoreStoreReadErrorWithClusterBreakingPotential=true`);
    assert.equal(readable.status, 409, readable.text);
    assert.match(
      readable.body.message,
      /Key: \/registry\/configmaps\/.*AdditionalErrorMsg: unsafe deletion is not allowed/,
    );
    await client.patch(path, 'merge', { metadata: { finalizers: null } });
    await client.delete(path);
  });
});

describe('a form that can not be given', () => {
  it('is refused before anything is written', async () => {
    const path = await maps('a');
    const partialList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
    const body = (name: string) => ({ metadata: { name }, data: { changed: 'yes' } });
    for (const [accept, query, status] of [
      [table, 'includeObject=x', 400],
      [partialList, '', 406],
    ] as const) {
      const headers = { accept };
      const answers = [
        await client.post(`${path}?${query}`, body('b'), { headers }),
        await client.put(`${path}/a?${query}`, body('a'), { headers }),
        await client.patch(`${path}/a?${query}`, 'merge', body('a'), { headers }),
        await client.send('PATCH', `${path}/a?fieldManager=m&${query}`, {
          body: { apiVersion: 'v1', kind: 'ConfigMap', ...body('a') },
          contentType: 'application/apply-patch+yaml',
          headers,
        }),
        await client.delete(`${path}/a?${query}`, undefined, { headers }),
      ];
      assert.deepEqual(
        answers.map((answer) => answer.status),
        answers.map(() => status),
        query,
      );
    }
    assert.equal(await namesIn(path), 'a');
    assert.equal((await client.get(`${path}/a`)).body.data, undefined);
  });
});

describe('a delete of a collection of services', () => {
  it('gives their addresses back', async () => {
    const path = await maps();
    const services = path.replace('configmaps', 'services');
    const addresses: string[] = [];
    for (const name of ['one', 'two']) {
      const { body } = await made(services, { metadata: { name }, spec: { ports: [{ port: 80 }] } });
      addresses.push(body.spec.clusterIP);
    }
    assert.equal((await client.delete(services)).status, 200);
    assert.equal(await namesIn(services), '');
    const [clusterIP] = addresses;
    await made(services, { metadata: { name: 'three' }, spec: { clusterIP, ports: [{ port: 80 }] } });
  });
});
