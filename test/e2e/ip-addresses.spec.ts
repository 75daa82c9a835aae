import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
before(async () => {
  cluster = await sharedCluster('plain');
});
after(() => cluster.stop());

const services = '/api/v1/namespaces/default/services';
const addresses = '/apis/networking.k8s.io/v1/ipaddresses';

describe('IPAddress objects that are deleted', () => {
  it('come back while a service has the address', async () => {
    const { client } = cluster.first;
    const made = await client.post(services, { metadata: { name: 'a' }, spec: { ports: [{ port: 80 }] } });
    const { clusterIP } = made.body.spec;
    const before = (await client.get(`${addresses}/${clusterIP}`)).body;
    assert.deepEqual(before.spec.parentRef, { resource: 'services', namespace: 'default', name: 'a' });
    assert.equal((await client.delete(`${addresses}/${clusterIP}`)).status, 200);
    const restored = (await cluster.second.client.get(`${addresses}/${clusterIP}`)).body;
    assert.notEqual(restored.metadata.uid, before.metadata.uid);
    assert.deepEqual(restored.spec, before.spec);
    assert.deepEqual(restored.metadata.labels, before.metadata.labels);
    const taken = await cluster.second.client.post(services, {
      metadata: { name: 'b' },
      spec: { clusterIP, ports: [{ port: 80 }] },
    });
    assert.equal(taken.status, 422, taken.text);
    assert.match(taken.body.message, /already allocated/);
    // The owner still frees the address when it is deleted itself.
    assert.equal((await client.delete(`${services}/a`)).status, 200);
    assert.equal((await client.get(`${addresses}/${clusterIP}`)).status, 404);
  });

  it('stay away when no service has the address', async () => {
    const { client } = cluster.first;
    const body = {
      metadata: { name: '10.0.200.200' },
      spec: { parentRef: { resource: 'services', namespace: 'default', name: 'none' } },
    };
    assert.equal((await client.post(addresses, body)).status, 201);
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const table = (await client.get(`${addresses}/10.0.200.200`, { headers: { accept } })).body;
    assert.deepEqual(
      table.columnDefinitions.map(({ name }: { name: string }) => name),
      ['Name', 'ParentRef'],
    );
    // As on other servers, rows end with an age that has no column.
    assert.deepEqual(table.rows[0].cells.slice(0, 2), ['10.0.200.200', 'services/default/none']);
    assert.match(table.rows[0].cells[2], /^\d+s$/);
    assert.equal((await client.delete(`${addresses}/10.0.200.200`)).status, 200);
    assert.equal((await client.get(`${addresses}/10.0.200.200`)).status, 404);
  });
});

describe('the ranges of service addresses', () => {
  const ranges = '/apis/networking.k8s.io/v1/servicecidrs';
  const stateOf = ({ body }: { body: { spec: { cidrs: string[] }; status: { conditions: object[] } } }) => [
    body.spec.cidrs,
    body.status.conditions.map((condition) => {
      const { type, status } = condition as { type: string; status: string };
      return `${type} ${status}`;
    }),
  ];

  it('have objects, and services get addresses from each through every server', async () => {
    const { client } = cluster.first;
    assert.deepEqual(stateOf(await client.get(`${ranges}/kubernetes`)), [['10.0.0.0/16'], ['Ready True']]);
    const wanted = { metadata: { name: 'far' }, spec: { clusterIP: '10.7.0.9', ports: [{ port: 80 }] } };
    assert.equal((await cluster.second.client.post(services, wanted)).status, 422);
    const made = await client.post(ranges, { metadata: { name: 'other' }, spec: { cidrs: ['10.7.0.0/16'] } });
    assert.deepEqual([made.status, made.body.status], [201, {}], made.text);
    assert.equal((await cluster.second.client.post(services, wanted)).status, 201);
    assert.equal((await client.get(`${addresses}/10.7.0.9`)).status, 200);
    assert.equal((await client.delete(`${services}/far`)).status, 200);
    assert.equal((await client.delete(`${ranges}/other`)).status, 200);
    assert.equal((await cluster.second.client.post(services, wanted)).status, 422);
  });

  it('have their object again soon after it was deleted, as the API has its service', async () => {
    const { client } = cluster.first;
    const service = '/api/v1/namespaces/default/services/kubernetes';
    const { clusterIP } = (await client.get(service)).body.spec;
    assert.equal((await client.delete(`${ranges}/kubernetes`)).status, 200);
    assert.equal((await client.delete(service)).status, 200);
    const isBack = async (path: string) => (await client.get(path)).status === 200;
    await eventually(() => isBack(service), 'the service of the API to be back');
    await eventually(() => isBack(`${ranges}/kubernetes`), 'the object of the range to be back');
    assert.equal((await client.get(service)).body.spec.clusterIP, clusterIP);
    assert.deepEqual(stateOf(await client.get(`${ranges}/kubernetes`)), [['10.0.0.0/16'], ['Ready True']]);
  });

  it('have another object once the flag names another range, and one again where it was deleted', async () => {
    // The state that the control loop of protected ranges leaves: services with addresses of the range would otherwise
    // hold it for ever.
    const held = { metadata: { finalizers: ['networking.k8s.io/service-cidr-finalizer'] } };
    assert.equal((await cluster.first.client.patch(`${ranges}/kubernetes`, 'merge', held)).status, 200);
    const moved = await cluster.addServer(undefined, ['--service-cluster-ip-range=10.9.3.4/20']);
    const found = await cluster.first.client.get(`${ranges}/kubernetes`);
    assert.deepEqual(stateOf(found), [['10.9.0.0/20'], ['Ready True']]);
    // A server with the other range would make that of its flag again, soon after the object is gone.
    await moved.stop();
    const { client } = cluster.first;
    assert.equal((await client.delete(`${ranges}/kubernetes`)).status, 200);
    await cluster.addServer();
    assert.deepEqual(stateOf(await client.get(`${ranges}/kubernetes`)), [['10.0.0.0/16'], ['Ready True']]);
  });
});
