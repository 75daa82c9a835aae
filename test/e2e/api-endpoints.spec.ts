import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Kubectl } from './support/kubectl.js';
import { eventually, TestCluster, type TestServer } from './support/test-cluster.js';

const endpointsPath = '/api/v1/namespaces/default/endpoints/kubernetes';
const slicesPath =
  '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io/service-name=kubernetes';

/** Documentation addresses: nothing is sent to them. */
const addresses = ['192.0.2.71', '192.0.2.72', '192.0.2.73'] as const;

/** A killed process counts as gone after 15 seconds; this is checked every 10 seconds. */
const patienceMs = 90_000;

interface Port {
  readonly name: string;
  readonly port: number;
}

interface Subset {
  readonly addresses: readonly { readonly ip: string }[];
  readonly ports: readonly [Port];
}

interface Slice {
  readonly metadata: { readonly name: string };
  readonly addressType: string;
  readonly endpoints: readonly { readonly addresses: readonly [string] }[];
  readonly ports: readonly [Port];
}

describe('Endpoints of the API', () => {
  let cluster: TestCluster;
  let first: TestServer;
  before(async () => {
    cluster = await TestCluster.start({ servers: 0 });
    first = await cluster.addServer(undefined, [`--advertise-address=${addresses[0]}`]);
  });
  after(() => cluster.stop());

  const portOf = (server: TestServer) => Number(new URL(server.url).port);
  const reported = async () => {
    const endpoints = (await first.client.get(endpointsPath)).body;
    const slices = (await first.client.get(slicesPath)).body.items as Slice[];
    const bySubset = ((endpoints.subsets ?? []) as Subset[]).flatMap(({ addresses, ports: [{ name, port }] }) =>
      addresses.map(({ ip }) => `${ip} ${name} ${port}`),
    );
    const bySlice = slices.flatMap(({ addressType, endpoints, ports: [{ name, port }] }) => {
      assert.equal(addressType, 'IPv4');
      return endpoints.map(({ addresses: [ip] }) => `${ip} ${name} ${port}`);
    });
    return { bySubset: bySubset.sort(), bySlice: bySlice.sort() };
  };
  const isPublished = async (wanted: readonly string[]) => {
    const { bySubset, bySlice } = await reported();
    const text = wanted.toSorted().join();
    return bySubset.join() === text && bySlice.join() === text;
  };
  const line = (server: TestServer, i: 0 | 1 | 2) => `${addresses[i]} https ${portOf(server)}`;

  it('name every process, until it stops or is killed', { timeout: 180_000 }, async () => {
    await eventually(() => isPublished([line(first, 0)]), 'the first address', patienceMs);
    const service = (await first.client.get('/api/v1/namespaces/default/services/kubernetes')).body;
    assert.equal(service.spec.ports[0].targetPort, portOf(first));
    assert.equal(service.spec.ports[0].name, 'https');

    const second = await cluster.addServer(undefined, [`--advertise-address=${addresses[1]}`]);
    const third = await cluster.addServer(undefined, [`--advertise-address=${addresses[2]}`]);
    const all = [line(first, 0), line(second, 1), line(third, 2)];
    await eventually(() => isPublished(all), 'the addresses of all', patienceMs);
    const shown = new Kubectl(first.kubeconfig).ok(['get', 'endpoints', 'kubernetes', '-o', 'wide']);
    for (const server of [first, second, third]) assert.ok(shown.includes(`:${portOf(server)}`), shown);

    await second.stop();
    await eventually(() => isPublished([line(first, 0), line(third, 2)]), 'the address of the stopped process to go');

    await third.stop('SIGKILL');
    await eventually(() => isPublished([line(first, 0)]), 'the address of the killed process to go', patienceMs);
    const slices = (await first.client.get(slicesPath)).body.items as Slice[];
    assert.deepEqual(
      slices.map(({ metadata }) => metadata.name),
      ['kubernetes'],
    );
  });
});
