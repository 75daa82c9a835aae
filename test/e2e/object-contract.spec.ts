import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient, ApiResponse } from './support/api-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import type { TestCluster } from './support/test-cluster.js';

const maps = '/api/v1/namespaces/default/configmaps';
const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const pods = '/api/v1/namespaces/default/pods';
const merge = 'application/merge-patch+json';
const podSpec = { containers: [{ name: 'c', image: 'i' }] };

let cluster: TestCluster;
let client: ApiClient;

before(async () => {
  cluster = await sharedCluster('plain');
  client = cluster.first.client;
});

after(() => cluster.stop());

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
      // No version is given, so a missing lease is created.
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

  it('is required of an update of an APIService', async () => {
    const services = '/apis/apiregistration.k8s.io/v1/apiservices';
    const name = 'v1.versioned.example';
    const service = { namespace: 'default', name: 'none' };
    const spec = { group: 'versioned.example', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10, service };
    await made(services, { metadata: { name }, spec });
    const fault = 'metadata.resourceVersion: Invalid value: 0: must be specified for an update';
    const { body } = answered(await client.put(`${services}/${name}`, { metadata: { name }, spec }), 422);
    assert.equal(body.message, `apiservices.apiregistration.k8s.io "${name}" is invalid: ${fault}`);
    answered(await client.delete(`${services}/${name}`), 200);
  });

  it('is another one with leading zeros', async () => {
    const { metadata } = await made(maps, { metadata: { name: 'zeros' } });
    const put = (resourceVersion: string, a: string) =>
      client.put(`${maps}/zeros`, { metadata: { name: 'zeros', resourceVersion }, data: { a } });
    answered(await put(`0${metadata.resourceVersion}`, '1'), 200);
    answered(await put(metadata.resourceVersion, '2'), 409);
    answered(await put('abc', '2'), 500);
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
    answered(
      await patch(`${deployments}/applied`, 'application/merge-patch+json', { metadata: { managedFields: [{}] } }),
      200,
    );
    const first = answered(await apply('applied', 'first', { spec: { replicas: 3 } }), 409).body;
    assert.equal(
      first.message,
      'Apply failed with 1 conflict: conflict with "before-first-apply" with subresource "scale" using autoscaling/v1: .spec.replicas',
    );
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
    // The same write again changes nothing.
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
    for (const replicas of ['two', [], {}]) {
      const refused = answered(await apply('fitting', 'm', { spec: { replicas } }, '&force=true'), 500).body;
      assert.match(refused.message, /^failed to create typed patch object .*\.spec\.replicas: expected numeric/);
      assert.equal(refused.reason, undefined);
    }
    answered(await apply('fitting', 'm', { spec: { replicas: 1.5 } }, '&force=true'), 422);
    const other = answered(await apply('fitting', 'm', { kind: 'Deployment', spec: {} }), 400).body;
    assert.equal(other.message, 'invalid object type: autoscaling/v1, Kind=Deployment');
    assert.equal((await client.get(`${deployments}/fitting`)).body.spec.replicas, 1);
    answered(await apply('fitting', 'm', { spec: { replicas: 7 } }, '&force=true&dryRun=All'), 200);
    assert.equal((await client.get(`${deployments}/fitting`)).body.spec.replicas, 1);
  });
});

describe('a create of an object that has a version', () => {
  it('is refused after all other rules, and shown by a dry run', async () => {
    const { body } = await client.post(deployments, deployment('copied'));
    const copy = { ...body, metadata: { ...body.metadata, name: 'copy' } };
    const refused = answered(await client.post(deployments, copy), 500).body;
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

describe('the deletion of a pod without a grace period', () => {
  it('is a mark, then the end, for everybody who watches', async () => {
    const bound = { ...podSpec, nodeName: 'n' };
    const zero = { gracePeriodSeconds: 0 };
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, deleteOptions: zero };
    // An eviction first writes a condition with its reason.
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
      assert.equal(answer.body.metadata.resourceVersion, events[1]?.object.metadata.resourceVersion, String(i));
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
