import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ExtensionScene } from './support/extension-scene.js';
import { group, groupPath } from './support/extension-server.js';
import { eventually } from './support/test-cluster.js';

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const apiService = `/apis/apiregistration.k8s.io/v1/apiservices/v1.${group}`;
let scene: ExtensionScene;

before(async () => {
  scene = await ExtensionScene.start();
  await scene.register();
});
after(() => scene.stop());

const groups = async () =>
  (await scene.second.client.get('/apis')).body.groups.map(({ name }: { name: string }) => name);

async function discovered() {
  const { body } = await scene.second.client.get('/apis', { headers: { accept: aggregated } });
  return body.items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === group)?.versions[0];
}

describe('discovery', () => {
  it('lists the group by its priority, and its resources', async () => {
    const all = await groups();
    assert.equal(all[0], 'apiregistration.k8s.io');
    assert.equal(all.at(-1), group);
    await scene.first.client.patch(apiService, 'merge', { spec: { groupPriorityMinimum: 17_790 } });
    await eventually(async () => (await groups()).indexOf(group) === 2, 'the group after apps');
    const { body } = await scene.second.client.get(`/apis/${group}`);
    assert.deepEqual(body, {
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: group,
      versions: [{ groupVersion: `${group}/v1`, version: 'v1' }],
      preferredVersion: { groupVersion: `${group}/v1`, version: 'v1' },
    });
    const list = await scene.second.client.get(groupPath);
    assert.equal(list.body.resources[0].name, 'flavours');
    const { body: root } = await scene.second.client.get('/');
    assert.ok(root.paths.includes(groupPath));
  });

  it('has the resources in the aggregated form, marked stale while the server is away', async () => {
    const version = await discovered();
    assert.equal(version.freshness, 'Current');
    assert.deepEqual(version.resources, [
      {
        resource: 'flavours',
        responseKind: { group, version: 'v1', kind: 'Flavour' },
        scope: 'Namespaced',
        singularResource: 'flavour',
        verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'watch'],
        shortNames: ['fl'],
        subresources: [
          { subresource: 'taste', responseKind: { group, version: 'v1', kind: 'Flavour' }, verbs: ['get'] },
        ],
      },
    ]);
    // The server accepts the request and never responds.
    scene.extension.behaviours.set(groupPath, () => undefined);
    await scene.first.client.patch(apiService, 'merge', {
      spec: { versionPriority: 11, insecureSkipTLSVerify: true, caBundle: null },
    });
    await eventually(async () => (await discovered()).freshness === 'Stale', 'the mark');
    const { reason } = await scene.whenAvailable('False');
    assert.equal(reason, 'FailedDiscoveryCheck');
    // A document that waited for the other server would take until the time limit.
    for (const path of ['/apis', `/apis/${group}`, '/openapi/v3', '/openapi/v2']) {
      assert.equal((await scene.second.client.get(path, { headers: { accept: 'application/json' } })).status, 200);
    }
    assert.equal((await scene.second.client.get(groupPath)).status, 503);
    scene.extension.behaviours.delete(groupPath);
    await scene.whenAvailable('True');
    await eventually(async () => (await discovered()).freshness === 'Current', 'the mark to go');
  });
});

describe('OpenAPI', () => {
  it('2.0 has the paths of the group version, and no definition is mixed up', async () => {
    const path = `${groupPath}/flavours`;
    const { body, headers } = await eventually(async () => {
      const answer = await scene.first.client.get('/openapi/v2');
      return answer.body.paths[path] === undefined ? undefined : answer;
    }, 'the paths');
    assert.equal(body.paths['/healthz'], undefined);
    const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
    assert.equal(body.definitions[`${meta}_v2`].description, 'Of the extension.');
    assert.notEqual(body.definitions[meta].description, 'Of the extension.');
    assert.deepEqual(body.definitions['dev.example.flavours.v1.Flavour'].properties.metadata, {
      $ref: `#/definitions/${meta}_v2`,
    });
    const again = await scene.first.client.get('/openapi/v2', { headers: { 'if-none-match': headers.etag ?? '' } });
    assert.equal(again.status, 304);
  });

  it('3.0 has an entry, which is answered by the server', async () => {
    const key = groupPath.slice(1);
    const url: string = await eventually(
      async () => (await scene.first.client.get('/openapi/v3')).body.paths[key]?.serverRelativeURL,
      'the entry',
    );
    assert.match(url, /^\/openapi\/v3\/apis\/flavours.example.dev\/v1\?hash=[0-9a-f]{16}$/);
    const { status, body } = await scene.second.client.get(url);
    assert.equal(status, 200);
    assert.equal(body.info.title, 'Flavours');
    assert.equal(scene.extension.last(`/openapi/v3${groupPath}`)?.headers['x-remote-user'], 'system:kube-aggregator');
  });
});

describe('what this server serves itself', () => {
  const list = async () => {
    const { body } = await scene.first.client.get('/apis/apiregistration.k8s.io/v1/apiservices');
    // biome-ignore lint/suspicious/noExplicitAny: tests read whatever the server answered
    return new Map<string, any>(body.items.map((item: { metadata: { name: string } }) => [item.metadata.name, item]));
  };

  it('has APIServices that are kept', async () => {
    const all = await eventually(async () => {
      const found = await list();
      return found.has('v1.') && found.has('v1.storage.k8s.io') ? found : undefined;
    }, 'the APIServices of built-in groups');
    const apps = all.get('v1.apps');
    assert.deepEqual(apps.metadata.labels, { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' });
    assert.deepEqual(apps.spec, { group: 'apps', version: 'v1', groupPriorityMinimum: 17800, versionPriority: 15 });
    assert.equal(apps.status.conditions[0].reason, 'Local');
    assert.deepEqual(all.get('v1.').spec, { version: 'v1', groupPriorityMinimum: 18000, versionPriority: 1 });
    assert.ok(!all.has('v1.apiregistration.k8s.io'));
  });

  it('has them for custom resources as long as these are served', async () => {
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const schema = { openAPIV3Schema: { type: 'object' } };
    const answer = await scene.first.client.post(definitions, {
      metadata: { name: 'shelves.shop.example.dev' },
      spec: {
        group: 'shop.example.dev',
        names: { plural: 'shelves', kind: 'Shelf' },
        scope: 'Namespaced',
        versions: [
          { name: 'v1', served: true, storage: true, schema },
          { name: 'v1beta1', served: true, storage: false, schema },
        ],
      },
    });
    assert.equal(answer.status, 201, answer.text);
    const find = async (name: string) => (await list()).get(name);
    const made = await eventually(() => find('v1.shop.example.dev'), 'the APIService');
    assert.deepEqual(made.spec, {
      group: 'shop.example.dev',
      version: 'v1',
      groupPriorityMinimum: 1000,
      versionPriority: 100,
    });
    assert.deepEqual(made.metadata.labels, { 'kube-aggregator.kubernetes.io/automanaged': 'true' });
    await scene.first.client.delete('/apis/apiregistration.k8s.io/v1/apiservices/v1.shop.example.dev');
    await eventually(() => find('v1.shop.example.dev'), 'the APIService once more');
    const definition = `${definitions}/shelves.shop.example.dev`;
    const patch = [{ op: 'replace', path: '/spec/versions/1/served', value: false }];
    await scene.first.client.patch(definition, 'json', patch);
    await eventually(async () => !(await list()).has('v1beta1.shop.example.dev'), 'the end of the other version');
    await scene.first.client.delete(definition);
    await eventually(async () => !(await list()).has('v1.shop.example.dev'), 'the end of the APIService');
  });
});

describe('a namespace that ends', () => {
  const namespaces = '/api/v1/namespaces';

  it('takes along what the extension server keeps in it', async () => {
    const { client } = scene.first;
    assert.equal((await client.post(namespaces, { metadata: { name: 'ends' } })).status, 201);
    const flavours = `${groupPath}/namespaces/ends/flavours`;
    assert.equal((await client.post(flavours, { metadata: { name: 'sweet' } })).status, 201);
    await client.delete(`${namespaces}/ends`);
    await eventually(async () => (await client.get(`${namespaces}/ends`)).status === 404, 'the end of the namespace');
    assert.deepEqual((await client.get(flavours)).body.items, []);
    const { headers } = scene.extension.arrived.findLast(({ method }) => method === 'DELETE') ?? assert.fail();
    assert.equal(headers['x-remote-user'], 'system:serviceaccount:control-system:namespace-controller');
  });

  it('says that it waits for a server that is away', async () => {
    const { client } = scene.first;
    assert.equal((await client.post(namespaces, { metadata: { name: 'waits' } })).status, 201);
    await client.patch(apiService, 'merge', { spec: { service: { name: 'absent' } } });
    await scene.whenAvailable('False');
    await client.delete(`${namespaces}/waits`);
    const condition = await eventually(async () => {
      const { body } = await client.get(`${namespaces}/waits`);
      return body.status.conditions?.find(({ type }: { type: string }) => type === 'NamespaceDeletionDiscoveryFailure');
    }, 'the condition');
    assert.deepEqual([condition.status, condition.reason], ['True', 'DiscoveryFailed']);
    assert.equal(
      condition.message,
      `Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: ${group}/v1: stale GroupVersion discovery: ${group}/v1`,
    );
    await client.patch(apiService, 'merge', { spec: { service: { name: 'flavours' } } });
    await eventually(async () => (await client.get(`${namespaces}/waits`)).status === 404, 'the end of the namespace');
  });
});
