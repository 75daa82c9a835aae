import type { ApiClient } from '../../e2e/support/api-client.js';
import { customDefinition, define, objectsPath, served, undefine } from '../../e2e/support/custom-definitions.js';
import { eventually, tokens } from '../../e2e/support/test-cluster.js';
import type { HostileCase } from './definition-case.js';
import { checkAnswer, definitionsPath, expectEqual, expectStatus, Fault, type HostileScene } from './scene.js';

const fields = (properties: object) => ({
  type: 'object',
  properties: { spec: { type: 'object', properties } },
});
const text = { type: 'string' };
const made = (plural: string, kind: string, schema?: object, more: object = {}) =>
  customDefinition({ plural, kind, group: 'life.example', ...more }, [
    { name: 'v1', ...(schema === undefined ? {} : { schema }) },
  ]);
const instance = (kind: string, name: string, more: object = {}) => ({
  apiVersion: 'life.example/v1',
  kind,
  metadata: { name },
  ...more,
});

/** One process deletes the definition while clients write through the other; afterwards nothing is left. */
async function deletedWhileWritten(scene: HostileScene): Promise<string> {
  const definition = made('brooms', 'Broom');
  const path = objectsPath(definition);
  const seen = new Map<number, number>();
  for (let round = 0; round < 3; round++) {
    await define(definition, scene.clients);
    let isOver = false;
    const writer = async (id: number) => {
      for (let i = 0; !isOver && i < 2_000; i++) {
        const answer = await (scene.clients[id % 2] as ApiClient).post(path, instance('Broom', `b${round}-${id}-${i}`));
        checkAnswer('write', answer);
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
        if (answer.status === 404) return;
      }
    };
    const writers = Promise.all([0, 1, 2, 3].map(writer));
    await eventually(async () => (await scene.client.get(`${path}?limit=1`)).body.items.length > 0, 'the first object');
    await undefine(definition, scene.clients);
    isOver = true;
    await writers;
  }
  await define(definition, scene.clients);
  for (const client of scene.clients) {
    expectEqual('objects of the deleted kind', (await client.get(path)).body.items.length, 0);
  }
  await undefine(definition, scene.clients);
  return [...seen].map(([status, count]) => `${status}: ${count}`).join(', ');
}

/** A kind that comes again with another schema: watches of the first end, and its objects are gone. */
async function madeAnew(scene: HostileScene): Promise<string> {
  const first = made('masks', 'Mask', fields({ a: text }));
  const path = objectsPath(first);
  await define(first, scene.clients);
  expectStatus('create', await scene.client.post(path, instance('Mask', 'm', { spec: { a: 'x' } })), 201);
  const streams = await Promise.all(scene.clients.map((client) => client.watch(`${path}?watch=1`)));
  for (const stream of streams) expectEqual('event', (await stream.next())?.type, 'ADDED');
  const { body: before } = await scene.client.get(path);
  await undefine(first, scene.clients);
  for (const stream of streams) {
    const types: (string | undefined)[] = [];
    for (let event = await stream.next(); event !== undefined; event = await stream.next()) types.push(event.type);
    if (types.some((type) => type !== 'DELETED' && type !== 'ERROR')) throw new Fault(`events: ${types.join()}`);
  }
  const second = made('masks', 'Mask', fields({ b: { type: 'integer', default: 7 } }), { scope: 'Cluster' });
  await define(second, scene.clients);
  const again = objectsPath(second);
  for (const client of scene.clients) {
    expectEqual('objects', (await client.get(again)).body.items, []);
    expectStatus('old object', await client.get(`${again}/m`), 404);
    expectStatus('other scope', await client.get(`${path}/m`), 404);
  }
  const created = await scene.other.post(again, instance('Mask', 'n', { spec: {} }));
  expectEqual('default', expectStatus('create', created, 201).body.spec, { b: 7 });
  for (const client of scene.clients) {
    const old = await client.watch(`${again}?watch=1&resourceVersion=${before.metadata.resourceVersion}`);
    const event = await old.next();
    const { code, reason } = (event?.object ?? {}) as { code?: number; reason?: string };
    expectEqual('a watch from before the deletion', [event?.type, code, reason], ['ERROR', 410, 'Expired']);
    expectEqual('after it', await old.next(), undefined);
    old.close();
  }
  await undefine(second, scene.clients);
  return 'ok';
}

/** Finalizers of objects and of the definition that nobody removes. */
async function neverEnding(scene: HostileScene): Promise<string> {
  const definition = made('statues', 'Statue');
  const path = objectsPath(definition);
  await define(definition, scene.clients);
  const name = `${definitionsPath}/${definition.metadata.name}`;
  const object = instance('Statue', 's');
  expectStatus(
    'create',
    await scene.client.post(path, { ...object, metadata: { name: 's', finalizers: ['a.b/c'] } }),
    201,
  );
  expectStatus(
    'finalizer',
    await scene.client.patch(name, 'merge', {
      metadata: { finalizers: ['x.y/z', 'customresourcecleanup.apiextensions.k8s.io'] },
    }),
    200,
  );
  expectStatus('delete', await scene.client.delete(name), 200);
  await eventually(async () => (await scene.other.post(path, instance('Statue', 't'))).status === 405, 'no creates');
  await eventually(async () => {
    const { body } = await scene.other.get(`${path}/s`);
    return body.metadata?.deletionTimestamp !== undefined;
  }, 'the object is marked');
  expectStatus('update', await scene.other.patch(`${path}/s`, 'merge', { metadata: { labels: { a: 'b' } } }), 200);
  const changed = checkAnswer('spec', await scene.other.patch(name, 'merge', { spec: { scope: 'Cluster' } }));
  expectStatus('the object', await scene.client.patch(`${path}/s`, 'merge', { metadata: { finalizers: null } }), 200);
  await eventually(async () => {
    const { body } = await scene.other.get(name);
    return !(body.metadata.finalizers ?? []).includes('customresourcecleanup.apiextensions.k8s.io');
  }, 'the clean-up is over');
  expectStatus('the definition', await scene.client.get(name), 200);
  expectStatus('end', await scene.client.patch(name, 'merge', { metadata: { finalizers: null } }), 200);
  for (const client of scene.clients) {
    await eventually(async () => (await client.get(path)).status === 404, 'gone');
  }
  return String(changed.status);
}

/** Updates of what must stay once a kind is established. */
async function switches(scene: HostileScene): Promise<string> {
  const definition = customDefinition({ plural: 'knobs', kind: 'Knob', group: 'life.example' }, [
    { name: 'v1' },
    { name: 'v2' },
  ]);
  await define(definition, scene.clients);
  const path = `${definitionsPath}/${definition.metadata.name}`;
  const { versions, names } = definition.spec;
  const refused: readonly object[] = [
    { scope: 'Cluster' },
    { group: 'other.example' },
    { names: { plural: 'others' } },
    { names: { kind: 'Other' } },
    { versions: [] },
    { versions: null },
    { versions: [{ ...versions[1], storage: true }] },
    { versions: versions.map((version) => ({ ...version, storage: true })) },
    { versions: versions.map((version) => ({ ...version, storage: false })) },
    { preserveUnknownFields: true },
    { names: null },
    { scope: null },
    { conversion: { strategy: 'Odd' } },
    { conversion: { strategy: 'Webhook' } },
  ];
  for (const spec of refused) {
    expectStatus(JSON.stringify(spec), await scene.client.patch(path, 'merge', { spec }), 400, 422);
  }
  const object = { apiVersion: 'life.example/v1', kind: 'Knob', metadata: { name: 'k' }, spec: { a: 1 } };
  expectStatus('create', await scene.client.post(objectsPath(definition), object), 201);
  const switched = versions.map((version) => ({ ...version, storage: version.name === 'v2' }));
  for (let i = 0; i < 10; i++) {
    const spec = { versions: i % 2 === 0 ? switched : versions, names: { ...names, shortNames: [`kn${i}`] } };
    expectStatus('switch', await scene.client.patch(path, 'merge', { spec }), 200);
    for (const client of scene.clients) {
      const answer = checkAnswer('read', await client.get(`${objectsPath(definition, 'v2')}/k`));
      expectEqual(
        'object',
        [answer.status, answer.body.apiVersion, answer.body.spec],
        [200, 'life.example/v2', { a: 1 }],
      );
    }
  }
  const both = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      (scene.clients[i % 2] as ApiClient).patch(path, 'merge', {
        spec: { versions: i % 2 === 0 ? switched : versions },
      }),
    ),
  );
  for (const answer of both) expectStatus('switch', answer, 200, 409);
  await undefine(definition, scene.clients);
  return 'ok';
}

/** Rights on custom kinds, and impersonation. */
async function rights(scene: HostileScene): Promise<string> {
  const definition = customDefinition({ plural: 'vaults', kind: 'Vault', group: 'life.example' }, [
    { name: 'v1', subresources: { status: {} } },
  ]);
  await define(definition, scene.clients);
  const path = objectsPath(definition);
  for (const name of ['mine', 'yours']) {
    expectStatus('create', await scene.client.post(path, instance('Vault', name, { spec: { n: 1 } })), 201);
  }
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
  const rules = [
    {
      apiGroups: ['life.example'],
      resources: ['vaults'],
      resourceNames: ['mine'],
      verbs: ['get', 'update', 'patch', 'list', 'watch'],
    },
    { apiGroups: ['life.example'], resources: ['vaults/status'], resourceNames: ['yours'], verbs: ['patch'] },
  ];
  expectStatus('role', await scene.client.post(`${rbac}/roles`, { metadata: { name: 'vaults' }, rules }), 201);
  expectStatus(
    'binding',
    await scene.client.post(`${rbac}/rolebindings`, {
      metadata: { name: 'vaults' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'vaults' },
      subjects: [{ kind: 'User', name: 'bob', apiGroup: 'rbac.authorization.k8s.io' }],
    }),
    201,
  );
  const merge = { contentType: 'application/merge-patch+json' };
  const wide = '/apis/life.example/v1/vaults';
  const asked: readonly (readonly [method: string, path: string, allowed: boolean, body?: object])[] = [
    ['GET', `${path}/mine`, true],
    ['GET', `${path}/yours`, false],
    ['GET', path, false],
    ['GET', `${path}?fieldSelector=metadata.name%3Dmine`, true],
    ['GET', `${path}?fieldSelector=metadata.name%3Dyours`, false],
    ['GET', wide, false],
    ['GET', `${wide}?fieldSelector=metadata.name%3Dmine`, false],
    ['GET', `${wide}?watch=1`, false],
    ['GET', '/apis/life.example/v1/namespaces/other/vaults/mine', false],
    ['PATCH', `${path}/mine`, true, { spec: { n: 2 } }],
    ['PATCH', `${path}/mine/status`, false, { status: { n: 2 } }],
    ['PATCH', `${path}/yours/status`, true, { status: { n: 2 } }],
    ['PATCH', `${path}/yours`, false, { spec: { n: 2 } }],
    ['DELETE', `${path}/mine`, false],
    ['DELETE', path, false],
    ['POST', path, false, instance('Vault', 'new')],
    ['GET', definitionsPath, false],
    ['PATCH', `${definitionsPath}/vaults.life.example`, false, {}],
  ];
  for (const server of scene.cluster.servers) {
    const bob = scene.cluster.clientFor(server, { token: tokens.bob });
    await eventually(async () => (await bob.get(`${path}/mine`)).status === 200, 'the role is known');
    for (const [method, at, allowed, body] of asked) {
      for (const as of [false, true]) {
        const client = as ? server.client : bob;
        const headers = as ? { headers: { 'impersonate-user': 'bob' } } : {};
        const type = method === 'PATCH' ? merge : {};
        const answer = await client.send(method, at, { ...(body === undefined ? {} : { body }), ...type, ...headers });
        expectStatus(`${method} ${at}`, answer, allowed ? 200 : 403);
      }
    }
    const denied = await bob.get(`${path}/mine`, { headers: { 'impersonate-user': 'admin' } });
    expectStatus('impersonation', denied, 403);
    bob.close();
  }
  await undefine(definition, scene.clients);
  return `${asked.length} requests`;
}

/** Many definitions that come and go at once, by eight clients. */
async function burst(scene: HostileScene): Promise<string> {
  const all = Array.from({ length: 300 }, (_, i) =>
    customDefinition({ plural: `bursts${i}`, kind: `Burst${i}`, group: `burst${i % 7}.example` }, [{ name: 'v1' }]),
  );
  let next = 0;
  const worker = async (id: number) => {
    const client = scene.clients[id % 2] as ApiClient;
    for (let i = next++; i < all.length; i = next++) {
      const definition = all[i] as (typeof all)[number];
      expectStatus('create', await client.post(definitionsPath, definition), 201);
      if (i % 3 === 0) await served(definition, [client]);
      expectStatus('delete', await client.delete(`${definitionsPath}/${definition.metadata.name}`), 200);
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, id) => worker(id)));
  for (const client of scene.clients) {
    await eventually(
      async () => {
        const { body } = await client.get(definitionsPath);
        return body.items.every(({ spec }: { spec: { group: string } }) => !spec.group.startsWith('burst'));
      },
      'all are gone',
      120_000,
    );
    await eventually(async () => {
      const { body } = await client.get('/apis');
      return body.groups.every(({ name }: { name: string }) => !name.startsWith('burst'));
    }, 'no group is left');
  }
  return '300 definitions';
}

/** A definition as long as the longest of well-known projects, applied as YAML. */
async function longYaml(scene: HostileScene): Promise<string> {
  const properties = Array.from(
    { length: 2_500 },
    (_, i) => `
              property${i}:
                description: "Property ${i}: described at some length, as those of real projects are."
                type: object
                properties:
                  name: {type: string, maxLength: 63}
                  value:
                    type: integer
                    minimum: ${i}`,
  );
  const name = 'scrolls.life.example';
  const yaml = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${name}
spec:
  group: life.example
  scope: Namespaced
  names: {plural: scrolls, singular: scroll, kind: Scroll, listKind: ScrollList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:${properties.join('')}
`;
  const apply = () =>
    scene.client.send('PATCH', `${definitionsPath}/${name}?fieldManager=m&force=true`, {
      raw: yaml,
      contentType: 'application/apply-patch+yaml',
    });
  expectStatus('apply', await apply(), 201);
  for (const client of scene.clients) {
    await eventually(async () => (await client.get('/apis/life.example/v1/scrolls')).status === 200, 'it is served');
  }
  const begun = performance.now();
  expectStatus('apply again', await apply(), 200);
  const ms = performance.now() - begun;
  expectStatus('delete', await scene.client.delete(`${definitionsPath}/${name}`), 200);
  await eventually(async () => (await scene.other.get(`${definitionsPath}/${name}`)).status === 404, 'it is gone');
  return `${(yaml.length / 1024).toFixed(0)} KiB, applied again in ${ms.toFixed(0)} ms`;
}

/** Kinds whose life is disturbed. */
export const lifeCases: readonly HostileCase[] = [
  { name: 'life: deleted while others write', run: deletedWhileWritten },
  { name: 'life: a long definition as YAML', run: longYaml },
  { name: 'life: deleted and made anew', run: madeAnew },
  { name: 'life: finalizers that never end', run: neverEnding },
  { name: 'life: switches of scope, names and versions', run: switches },
  { name: 'life: rights', run: rights },
  { name: 'life: 300 definitions in a burst', run: burst },
];
