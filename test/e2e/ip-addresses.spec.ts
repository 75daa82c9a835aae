import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
before(async () => {
  cluster = await TestCluster.start({ servers: 2 });
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
    // The owner still frees it at its own end.
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
    assert.equal((await client.delete(`${addresses}/10.0.200.200`)).status, 200);
    assert.equal((await client.get(`${addresses}/10.0.200.200`)).status, 404);
  });
});
