import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { resourceServer } from '../../../../test/support/resource-server.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../../../test/support/test-storage.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { AdmissionAttributes } from '../../admission/attributes.js';

interface Seen {
  readonly phase: 'admit' | 'validate';
  readonly what: string;
  readonly object: ApiObject | undefined;
  readonly oldObject: ApiObject | undefined;
  readonly storedObject: ApiObject | undefined;
  readonly storedOldObject: ApiObject | undefined;
  readonly options: Readonly<Record<string, unknown>>;
}

/** All attributes that admission has received since the test began. */
let seen: Seen[] = [];
/** The action of the mutating phase in a test. */
let mutate: (attributes: AdmissionAttributes) => void | Promise<void> = () => undefined;

const copy = (object: ApiObject | undefined) => object && (JSON.parse(JSON.stringify(object)) as ApiObject);

function record(phase: Seen['phase'], attributes: AdmissionAttributes): void {
  const { operation, resource, subresource, kind, namespace, name, dryRun, userInfo, options } = attributes;
  const path = `${resource.group}/${resource.version}/${resource.resource}/${subresource}`;
  seen.push({
    phase,
    what: `${operation} ${path} ${kind.group}/${kind.version}/${kind.kind} ${namespace}/${name} ${dryRun} ${userInfo.name}`,
    object: copy(attributes.object),
    oldObject: copy(attributes.oldObject),
    storedObject: copy(attributes.storedObject),
    storedOldObject: copy(attributes.storedOldObject),
    options,
  });
}

const recorder = {
  name: 'Recorder',
  handles: () => true,
  admit: async (attributes: AdmissionAttributes) => {
    record('admit', attributes);
    await mutate(attributes);
  },
  validate: async (attributes: AdmissionAttributes) => record('validate', attributes),
};

let postgres: TestPostgres;
let storage: TestStorage;
let server: FastifyInstance;

before(async () => {
  postgres = await startTestPostgres();
  storage = await openTestStorage(await postgres.createTestDatabase());
  server = await resourceServer(storage, recorder);
  await send('POST', '/api/v1/namespaces', { metadata: { name: 'n' } });
});
after(async () => {
  await server?.close();
  await storage?.stop();
  await postgres?.stop();
});
beforeEach(() => {
  seen = [];
  mutate = () => undefined;
});

type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'GET';

/** Sends a request that must succeed. */
async function send(method: Method, url: string, body?: object, type = 'application/json'): Promise<ApiObject> {
  const headers = body === undefined ? {} : { 'content-type': type };
  const payload = body === undefined ? {} : { payload: JSON.stringify(body) };
  const answer = await server.inject({ method, url, headers, ...payload });
  assert.ok(answer.statusCode < 300, `${method} ${url}: ${answer.statusCode} ${answer.payload}`);
  return JSON.parse(answer.payload) as ApiObject;
}

const patchType = 'application/merge-patch+json';
const applyType = 'application/apply-patch+yaml';
const whats = () => seen.map(({ phase, what }) => `${phase} ${what}`);
const both = (what: string) => [`admit ${what}`, `validate ${what}`];
const optionsOf = () => seen.map(({ options }) => options);

const deployments = '/apis/apps/v1/namespaces/n/deployments';

async function createDeployment(name: string): Promise<void> {
  const labels = { app: 'a' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await send('POST', deployments, { metadata: { name }, spec: { selector: { matchLabels: labels }, template } });
}

describe('the admission attributes of a write', () => {
  it('shows both objects in the requested version and in the stored one', async () => {
    const path = '/apis/autoscaling/v1/namespaces/n/horizontalpodautoscalers';
    const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
    const spec = { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 50 };
    await send('POST', path, { metadata: { name: 'h' }, spec });
    await send('PATCH', `${path}/h`, { spec: { targetCPUUtilizationPercentage: 60 } }, patchType);
    await send('PUT', `${path}/h`, { metadata: { name: 'h' }, spec: { ...spec, targetCPUUtilizationPercentage: 70 } });
    const config = { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec };
    await send('PATCH', `${path}/h?fieldManager=m&force=true`, config, applyType);
    await send('DELETE', `${path}/h`);
    const about = 'autoscaling/v1/horizontalpodautoscalers/ autoscaling/v1/HorizontalPodAutoscaler n/h false alice';
    const update = both(`UPDATE ${about}`);
    assert.deepEqual(whats(), [
      ...both(`CREATE ${about}`),
      ...update,
      ...update,
      ...update,
      ...both(`DELETE ${about}`),
    ]);
    const percent = (object: ApiObject | undefined) =>
      object && (object.spec as { targetCPUUtilizationPercentage?: number }).targetCPUUtilizationPercentage;
    assert.deepEqual(
      seen.map(({ object, oldObject }) => [percent(oldObject), percent(object)]),
      [
        [undefined, 50],
        [50, 60],
        [60, 70],
        [70, 50],
        [50, undefined],
      ].flatMap((pair) => [pair, pair]),
    );
    interface Stored {
      readonly metrics: readonly { readonly resource: { readonly target: { readonly averageUtilization: number } } }[];
    }
    const stored = (object: ApiObject | undefined) =>
      object && [object.apiVersion, (object.spec as unknown as Stored).metrics[0]?.resource.target.averageUtilization];
    assert.deepEqual(
      seen.map(({ storedObject, storedOldObject }) => [stored(storedOldObject), stored(storedObject)]),
      [
        [undefined, ['autoscaling/v2', 50]],
        [
          ['autoscaling/v2', 50],
          ['autoscaling/v2', 60],
        ],
        [
          ['autoscaling/v2', 60],
          ['autoscaling/v2', 70],
        ],
        [
          ['autoscaling/v2', 70],
          ['autoscaling/v2', 50],
        ],
        [['autoscaling/v2', 50], undefined],
      ].flatMap((pair) => [pair, pair]),
    );
  });

  it('names the options by the operation that the write becomes', async () => {
    const path = '/api/v1/namespaces/n/configmaps';
    const metadata = { name: 'o' };
    const meta = { apiVersion: 'meta.k8s.io/v1' };
    await send('PATCH', `${path}/o?fieldManager=m`, { metadata, kind: 'ConfigMap', apiVersion: 'v1' }, applyType);
    await send('PATCH', `${path}/o?fieldValidation=Strict`, { data: { a: '1' } }, patchType);
    await send('PUT', `${path}/o?dryRun=All`, { metadata });
    await send('DELETE', `${path}/o?dryRun=All&propagationPolicy=Background`);
    const expected = [
      { kind: 'CreateOptions', ...meta, fieldManager: 'm' },
      { kind: 'UpdateOptions', ...meta, fieldValidation: 'Strict' },
      { kind: 'UpdateOptions', ...meta, dryRun: ['All'] },
      { kind: 'DeleteOptions', ...meta, propagationPolicy: 'Background', dryRun: ['All'] },
    ];
    assert.deepEqual(
      JSON.parse(JSON.stringify(optionsOf())),
      expected.flatMap((options) => [options, options]),
    );
  });

  it('shows the live object of each delete, with no name for a collection', async () => {
    const path = '/api/v1/namespaces/n/secrets';
    for (const name of ['s1', 's2']) await send('POST', path, { metadata: { name } });
    seen = [];
    await send('DELETE', `${path}/s1`);
    await send('DELETE', path);
    assert.deepEqual(whats(), [
      ...both('DELETE /v1/secrets/ /v1/Secret n/s1 false alice'),
      ...both('DELETE /v1/secrets/ /v1/Secret n/ false alice'),
    ]);
    assert.deepEqual(
      seen.map(({ object, oldObject }) => [object, oldObject?.metadata.name]),
      ['s1', 's1', 's2', 's2'].map((name) => [undefined, name]),
    );
  });

  it('shows the kind of a subresource, not its parent', async () => {
    await createDeployment('d');
    seen = [];
    await send('PUT', `${deployments}/d/scale`, { metadata: { name: 'd' }, spec: { replicas: 2 } });
    await send('PATCH', `${deployments}/d/scale`, { spec: { replicas: 3 } }, patchType);
    const scale = both('UPDATE apps/v1/deployments/scale autoscaling/v1/Scale n/d false alice');
    assert.deepEqual(whats(), [...scale, ...scale]);
    const replicas = (object: ApiObject | undefined) =>
      object && [object.kind, (object.spec as { replicas?: number }).replicas];
    const pair = (old: number, next: number) => [
      ['Scale', old],
      ['Scale', next],
    ];
    const expected = [pair(1, 2), pair(1, 2), pair(2, 3), pair(2, 3)];
    assert.deepEqual(
      seen.map(({ object, oldObject }) => [replicas(oldObject), replicas(object)]),
      expected,
    );
    assert.deepEqual(
      seen.map(({ storedObject, storedOldObject }) => [replicas(storedOldObject), replicas(storedObject)]),
      expected,
    );
  });

  it('shows an object created below another as new, in the version that was sent', async () => {
    const pods = '/api/v1/namespaces/n/pods';
    await send('POST', pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    seen = [];
    await send('POST', `${pods}/p/binding`, { metadata: { name: 'p' }, target: { kind: 'Node', name: 'x' } });
    const eviction = { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: 'p' } };
    await send('POST', `${pods}/p/eviction?dryRun=All`, eviction);
    assert.deepEqual(whats(), [
      ...both('CREATE /v1/pods/binding /v1/Binding n/p false alice'),
      ...both('CREATE /v1/pods/eviction policy/v1beta1/Eviction n/p true alice'),
    ]);
    assert.deepEqual(
      seen.map(({ object, oldObject }) => [object?.kind, oldObject]),
      ['Binding', 'Binding', 'Eviction', 'Eviction'].map((kind) => [kind, undefined]),
    );
    assert.deepEqual(
      optionsOf().map(({ kind }) => kind),
      Array(4).fill('CreateOptions'),
    );
  });

  it('shows a question as it was sent and checked, and stores nothing', async () => {
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const answer = await send('POST', path, {});
    assert.deepEqual(answer.status, { userInfo: { username: 'alice' } });
    const about =
      'authentication.k8s.io/v1/selfsubjectreviews/ authentication.k8s.io/v1/SelfSubjectReview / false alice';
    assert.deepEqual(whats(), both(`CREATE ${about}`));
  });
});

describe('the result of mutating admission', () => {
  const path = '/api/v1/namespaces/n/configmaps';
  const metadata = { name: 'm' };

  /** Replaces the sent object by another one. */
  const replace = (text: string) => (attributes: AdmissionAttributes) => {
    attributes.object = { ...(attributes.object as ApiObject), data: { text } };
  };
  const textOf = ({ data }: ApiObject) => (data as { text?: string } | undefined)?.text;
  const ownersOf = ({ metadata: { managedFields = [] } }: ApiObject) =>
    (managedFields as { manager: string; fieldsV1: object }[])
      .filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes('f:text'))
      .map(({ manager }) => manager);

  it('is validated and stored, whatever the verb, and the writer owns what it sent', async () => {
    mutate = replace('created');
    const labelled = { metadata: { ...metadata, labels: { a: 'b' } } };
    const created = await send('POST', `${path}?fieldManager=one`, labelled);
    assert.equal(textOf(created), 'created');
    assert.deepEqual(ownersOf(created), []);
    mutate = replace('put');
    assert.equal(textOf(await send('PUT', `${path}/m?fieldManager=two`, labelled)), 'put');
    mutate = replace('patched');
    const patched = await send('PATCH', `${path}/m?fieldManager=three`, { data: { text: 'x' } }, patchType);
    assert.equal(textOf(patched), 'patched');
    assert.deepEqual(ownersOf(patched), ['three']);
    mutate = replace('applied');
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    assert.equal(textOf(await send('PATCH', `${path}/m?fieldManager=four`, config, applyType)), 'applied');
    assert.equal(textOf(await send('GET', `${path}/m`)), 'applied');
    const validated = seen.filter(({ phase }) => phase === 'validate');
    assert.deepEqual(
      validated.map(({ object }) => textOf(object as ApiObject)),
      ['created', 'put', 'patched', 'applied'],
    );
  });

  for (const [verb, write] of [
    ['PUT', (name: string) => send('PUT', `${path}/${name}`, { metadata: { name }, data: { text: 'put' } })],
    ['PATCH', (name: string) => send('PATCH', `${path}/${name}`, { data: { text: 'put' } }, patchType)],
  ] as const) {
    it(`starts from what the client sent when another writer comes between (${verb})`, async () => {
      const name = `raced-${verb.toLowerCase()}`;
      await send('POST', path, { metadata: { name } });
      seen = [];
      const change = ({ object }: AdmissionAttributes) => {
        const { data } = object as ApiObject & { data: { text: string } };
        data.text += '+';
      };
      mutate = async (attributes) => {
        mutate = () => undefined;
        await send('PATCH', `${path}/${name}`, { metadata: { labels: { other: 'writer' } } }, patchType);
        mutate = change;
        change(attributes);
      };
      assert.equal(textOf(await write(name)), 'put+');
      const labels = seen.map(({ phase, oldObject }) => [phase, oldObject?.metadata.labels?.other]);
      assert.deepEqual(labels, [
        ['admit', undefined],
        ['admit', undefined],
        ['validate', undefined],
        ['validate', undefined],
        ['admit', 'writer'],
        ['validate', 'writer'],
      ]);
    });
  }

  it('does not change the owners of fields', async () => {
    mutate = ({ object }) => {
      (object as ApiObject).metadata.managedFields = [];
    };
    const body = { metadata: { name: 'owned' }, data: { text: 'x' } };
    assert.deepEqual(ownersOf(await send('POST', `${path}?fieldManager=one`, body)), ['one']);
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owned' }, data: { text: 'x' } };
    const applied = await send('PATCH', `${path}/owned?fieldManager=two`, config, applyType);
    assert.deepEqual(ownersOf(applied), ['two', 'one']);
  });

  it('is merged into the parent by a subresource of another kind', async () => {
    await createDeployment('e');
    mutate = ({ object }) => {
      (object as ApiObject).spec = { replicas: 7 };
    };
    const scaled = await send('PUT', `${deployments}/e/scale`, { metadata: { name: 'e' }, spec: { replicas: 2 } });
    assert.deepEqual(scaled.spec, { replicas: 7 });
    const parent = await send('GET', `${deployments}/e`);
    assert.equal((parent.spec as { replicas: number }).replicas, 7);
    assert.deepEqual(seen.at(-1)?.object?.spec, { replicas: 7 });
  });
});

describe('owner references', () => {
  const path = '/api/v1/namespaces/n/configmaps';
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u', controller: true };
  const other = { ...owner, name: 'p', uid: 'v', controller: undefined };

  /** The stored owner references after the write, and the warning. */
  async function write(method: Method, url: string, body: unknown, type = 'application/json') {
    const answer = await server.inject({
      method,
      url,
      headers: { 'content-type': type },
      payload: JSON.stringify(body),
    });
    assert.ok(answer.statusCode < 300, answer.payload);
    const { metadata } = JSON.parse(answer.payload) as ApiObject;
    const { warning } = answer.headers;
    return {
      uids: metadata.ownerReferences?.map(({ uid }) => uid),
      warning: /duplicate entries( after mutating admission)?;.*observed: ([^"]*)"$/.exec(String(warning))?.slice(1),
    };
  }

  it('that a client repeats are kept once, with a warning', async () => {
    const metadata = { name: 'repeated', ownerReferences: [owner, other, owner, other, owner] };
    const once = { uids: ['u', 'v'], warning: [undefined, 'u, v'] };
    assert.deepEqual(await write('POST', path, { metadata }), once);
    assert.deepEqual(await write('PUT', `${path}/repeated`, { metadata, data: { a: 'b' } }), once);
    assert.deepEqual(await write('PATCH', `${path}/repeated`, { metadata }, patchType), once);
    const add = [{ op: 'add', path: '/metadata/ownerReferences/0', value: owner }];
    assert.deepEqual(await write('PATCH', `${path}/repeated`, add, 'application/json-patch+json'), {
      uids: ['u', 'v'],
      warning: [undefined, 'u'],
    });
  });

  it('that admission repeats are kept once, too', async () => {
    mutate = ({ object }) => void object?.metadata.ownerReferences?.push(owner);
    assert.deepEqual(await write('POST', path, { metadata: { name: 'admitted', ownerReferences: [owner] } }), {
      uids: ['u'],
      warning: [' after mutating admission', 'u'],
    });
  });

  it('that differ in anything all stay', async () => {
    const ownerReferences = [owner, { ...owner, controller: undefined }, { ...owner, controller: false }, other];
    assert.deepEqual(await write('POST', path, { metadata: { name: 'different', ownerReferences } }), {
      uids: ['u', 'u', 'u', 'v'],
      warning: undefined,
    });
  });
});
