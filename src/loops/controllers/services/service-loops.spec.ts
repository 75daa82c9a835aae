import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { ServiceScene } from '../../../../test/support/service-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Endpoints } from '../../../objects/apis/core/v1/endpoints.types.js';
import type { Event } from '../../../objects/apis/core/v1/event.types.js';
import type { StoredSlice } from './pack-slices.js';
import { ServicePods, type StoredService } from './service-pods.js';

type StoredEndpoints = Endpoints & ApiObject;

const slices = 'endpointslices.discovery';
const all = ['endpoint', 'endpointslice', 'endpointslicemirroring'] as const;
const sliceLoop = 'endpointslice-controller.k8s.io';

function endpointCount(list: readonly StoredSlice[]): number {
  return list.reduce((sum, { endpoints }) => sum + (endpoints ?? []).length, 0);
}

describe('loops about endpoints and slices', () => {
  let postgres: TestPostgres;
  let scene: LoopScene;
  let services: ServiceScene;

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());
  beforeEach(async () => {
    scene = await LoopScene.start({ postgres });
    services = new ServiceScene(scene);
  });
  afterEach(() => scene.end());

  it('are made for many services of one pod without a look at their pods at each change', async () => {
    const count = 30;
    for (let i = 0; i < count; i++) await services.createService(`s${i}`, { selector: { app: 'web' } });
    for (let i = 0; i < 25; i++) await services.createPod(`p${i}`, `10.9.0.${i + 1}`);
    const looks = mock.method(ServicePods.prototype, 'podsOf');
    try {
      await scene.run(['endpointslice']);
      await scene.until<StoredSlice, true>(
        slices,
        'slices of all services',
        (found) => endpointCount(found) === count * 25,
      );
      // Each pod that the loop learns of concerns all services; most services look at their pods only once for all
      // these changes.
      assert.ok(looks.mock.callCount() < count * 6, `${looks.mock.callCount()} looks`);
    } finally {
      looks.mock.restore();
    }
  });

  it('look at very many services of one pod once for many changes of such pods', async () => {
    const count = 60;
    for (let i = 0; i < count; i++) await services.createService(`s${i}`, { selector: { app: 'web' } });
    for (let i = 0; i < 40; i++) await services.createPod(`p${i}`, `10.9.0.${i + 1}`);
    const looks = mock.method(ServicePods.prototype, 'mostPodsOf');
    try {
      await scene.run(['endpoint', 'endpointslice']);
      await scene.until<StoredSlice, true>(
        slices,
        'slices of all services',
        (found) => endpointCount(found) === count * 40,
      );
      // Of each loop.
      assert.ok(looks.mock.callCount() < count * 2 * 10, `${looks.mock.callCount()} looks`);
      await services.setReady('p0', false);
      await scene.until<StoredSlice, true>(slices, 'the state of a pod in all slices', (found) => {
        const all = found.flatMap(({ endpoints }) => endpoints ?? []);
        return all.filter(({ conditions }) => conditions?.ready === false).length === count;
      });
    } finally {
      looks.mock.restore();
    }
  });

  it('follow the pods of a service from the first to the last', async () => {
    await scene.run(all);
    await services.createService('web', {}, { labels: { tier: 'x' } });
    const empty = await services.untilEndpoints('web', '');
    assert.deepEqual((empty as StoredEndpoints).metadata.labels, {
      tier: 'x',
      'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
    });
    await services.untilSlices('web', '');
    await services.createPod('a', '10.9.0.1');
    await services.createPod('b', '10.9.0.2', { ready: false });
    const filled = (await services.untilEndpoints('web', '10.9.0.1/10.9.0.2')) as StoredEndpoints;
    assert.deepEqual(filled.subsets?.[0]?.ports, [{ name: 'web', port: 8080, protocol: 'TCP' }]);
    await services.untilSlices('web', '10.9.0.1 10.9.0.2!');
    await services.setReady('b', true);
    await services.untilEndpoints('web', '10.9.0.1 10.9.0.2/');
    await services.untilSlices('web', '10.9.0.1 10.9.0.2');
    await scene.update('pods', 'default', 'a', ({ metadata }) => {
      metadata.labels = { app: 'other' };
    });
    await services.untilEndpoints('web', '10.9.0.2/');
    await services.untilSlices('web', '10.9.0.2');
    await scene.delete('pods', 'default', 'b', { gracePeriodSeconds: 0 });
    await services.untilEndpoints('web', '');
    await services.untilSlices('web', '');
    await scene.delete('services', 'default', 'web');
    await services.untilEndpoints('web', undefined);
    await services.untilSlices('web', '', 0);
  });

  it('share out the endpoints of services that ask for it by zone, as the nodes are', async () => {
    const node = (name: string, zone: string, ready: string) =>
      scene.create('nodes', {
        metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } },
        status: { conditions: [{ type: 'Ready', status: ready }], allocatable: { cpu: '4' } },
      } as never);
    await node('n1', 'za', 'True');
    await node('n2', 'zb', 'True');
    const metadata = { annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } };
    await services.createService('web', { trafficDistribution: 'PreferSameNode' }, metadata);
    for (const i of [1, 2, 3]) await services.createPod(`p${i}`, `10.9.0.${i}`, { spec: { nodeName: 'n1' } });
    await services.createPod('p4', '10.9.0.4', { spec: { nodeName: 'n2' } });
    await services.createPod('p5', '10.9.0.5', { spec: { nodeName: 'n1' }, ready: false });
    await scene.run(['endpointslice']);
    await scene.run(['endpointslice']);
    const untilHints = (text: string) =>
      scene.until<StoredSlice, boolean>(slices, `hints ${text}`, (objects) => {
        const all = objects.flatMap(({ endpoints }) => endpoints ?? []);
        const hints = all.map((e) => `${e.addresses}:${(e.hints?.forZones ?? []).map(({ name }) => name).join()}`);
        return hints.sort().join(' ') === text;
      });
    await untilHints('10.9.0.1:za 10.9.0.2:za 10.9.0.3:zb 10.9.0.4:zb 10.9.0.5:');
    const untilReported = (reason: string, message: string) =>
      scene.until<Event & ApiObject, boolean>('events', reason, (events) =>
        events.some((event) => event.reason === reason && event.message === message),
      );
    await untilReported('TopologyAwareHintsEnabled', 'Topology Aware Hints has been enabled, addressType: IPv4');
    await scene.update(
      'nodes',
      '',
      'n2',
      (live) => Object.assign(live, { status: { conditions: [{ type: 'Ready', status: 'False' }] } }),
      'status',
    );
    await untilHints('10.9.0.1: 10.9.0.2: 10.9.0.3: 10.9.0.4: 10.9.0.5:');
    await untilReported('TopologyAwareHintsDisabled', 'Nodes only ready in one zone, addressType: IPv4');
    await scene.update('services', 'default', 'web', (live) => {
      live.metadata.annotations = {};
    });
    await scene.until<StoredSlice, boolean>(slices, 'hints for nodes', (objects) =>
      objects.some(({ endpoints }) => endpoints?.some(({ hints }) => hints?.forNodes?.[0]?.name === 'n2')),
    );
  });

  it('say where a pod runs and what it is', async () => {
    await scene.create('nodes', { metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'z1' } } });
    const service = await services.createService(
      'web',
      { clusterIP: 'None', trafficDistribution: 'PreferClose' },
      { labels: { a: 'b' } },
    );
    const spec = { nodeName: 'n1', hostname: 'h', subdomain: 'web' };
    const pod = await services.createPod('a', '10.9.0.1', { spec });
    await scene.run(all);
    const [slice] = await services.untilSlices('web', '10.9.0.1', 1);
    const targetRef = { kind: 'Pod', namespace: 'default', name: 'a', uid: pod.metadata.uid };
    assert.deepEqual(slice?.endpoints, [
      {
        addresses: ['10.9.0.1'],
        conditions: { ready: true, serving: true, terminating: false },
        hostname: 'h',
        targetRef,
        nodeName: 'n1',
        zone: 'z1',
        hints: { forZones: [{ name: 'z1' }] },
      },
    ]);
    assert.deepEqual(slice?.ports, [{ name: 'web', protocol: 'TCP', port: 8080 }]);
    assert.equal(slice?.addressType, 'IPv4');
    assert.match(slice?.metadata.name ?? '', /^web-[a-z0-9]{5}$/);
    assert.deepEqual(slice?.metadata.labels, {
      a: 'b',
      'service.kubernetes.io/headless': '',
      'kubernetes.io/service-name': 'web',
      'endpointslice.kubernetes.io/managed-by': sliceLoop,
    });
    const owner = { apiVersion: 'v1', kind: 'Service', name: 'web', uid: service.metadata.uid };
    assert.deepEqual(slice?.metadata.ownerReferences, [{ ...owner, controller: true, blockOwnerDeletion: true }]);
    assert.equal(
      slice?.metadata.annotations?.['endpoints.kubernetes.io/last-change-trigger-time'],
      service.metadata.creationTimestamp,
    );
    const object = (await services.untilEndpoints('web', '10.9.0.1/')) as StoredEndpoints;
    assert.deepEqual(object.subsets?.[0]?.addresses, [{ ip: '10.9.0.1', hostname: 'h', nodeName: 'n1', targetRef }]);
    assert.equal(object.metadata.labels?.['service.kubernetes.io/headless'], '');

    await services.setReady('a', false);
    const [unready] = await services.untilSlices('web', '10.9.0.1!');
    assert.equal(
      unready?.metadata.annotations?.['endpoints.kubernetes.io/last-change-trigger-time'],
      '2031-02-03T04:05:06Z',
    );
    assert.equal(unready?.endpoints?.[0]?.hints, undefined);
  });

  it('follow the zone of a node, and a node that appears', async () => {
    await services.createService('web');
    await services.createPod('a', '10.9.0.1', { spec: { nodeName: 'n1' } });
    await scene.run(['endpointslice']);
    await services.untilSlices('web', '');
    await scene.create('nodes', { metadata: { name: 'n1' } });
    await services.untilSlices('web', '10.9.0.1');
    await scene.update('nodes', '', 'n1', ({ metadata }) => {
      metadata.labels = { 'topology.kubernetes.io/zone': 'z2' };
    });
    await scene.until<StoredSlice, true>(slices, 'a zone', ([slice]) => slice?.endpoints?.[0]?.zone === 'z2');
  });

  it('show pods that end as serving, and only in slices', async () => {
    await scene.create('nodes', { metadata: { name: 'n1' } });
    await services.createService('web');
    await services.createPod('a', '10.9.0.1', { spec: { nodeName: 'n1', terminationGracePeriodSeconds: 30 } });
    await scene.run(all);
    await services.untilEndpoints('web', '10.9.0.1/');
    await scene.delete('pods', 'default', 'a', { gracePeriodSeconds: 30 });
    await services.untilEndpoints('web', '');
    const [slice] = await services.untilSlices('web', '10.9.0.1!');
    assert.deepEqual(slice?.endpoints?.[0]?.conditions, { ready: false, serving: true, terminating: true });
  });

  it('leave services without a selector and external names alone', async () => {
    await scene.run(['endpoint', 'endpointslice']);
    await scene.create('services', {
      metadata: { name: 'bare', namespace: 'default' },
      spec: { ports: [{ port: 80 }] },
    });
    await scene.create('endpoints', {
      metadata: { name: 'bare', namespace: 'default' },
      subsets: [{ addresses: [{ ip: '192.0.2.1' }] }],
    });
    await services.createService('out', { type: 'ExternalName', externalName: 'a.example', ports: [] });
    await services.createService('web');
    await services.untilEndpoints('web', '');
    await services.untilSlices('web', '');
    assert.equal(ServiceScene.endpointsText(await scene.get('endpoints', 'default', 'bare')), '192.0.2.1/');
    assert.equal(await scene.find('endpoints', 'default', 'out'), undefined);
    await services.untilSlices('bare', '', 0);
  });

  it('are restored when somebody changes or deletes them', async () => {
    await services.createService('web');
    await services.createPod('a', '10.9.0.1');
    await scene.run(all);
    await services.untilEndpoints('web', '10.9.0.1/');
    const [slice] = await services.untilSlices('web', '10.9.0.1');
    await scene.update<StoredEndpoints>('endpoints', 'default', 'web', (object) => {
      object.subsets = [{ addresses: [{ ip: '192.0.2.9' }] }];
    });
    await services.untilEndpoints('web', '10.9.0.1/');
    await scene.delete('endpoints', 'default', 'web');
    await services.untilEndpoints('web', '10.9.0.1/');
    await scene.update<StoredSlice>(slices, 'default', slice?.metadata.name ?? '', (object) => {
      object.endpoints = [];
      object.metadata.labels = { ...object.metadata.labels, more: 'x' };
    });
    const [restored] = await services.untilSlices('web', '10.9.0.1');
    assert.equal(restored?.metadata.labels?.more, undefined);
    await scene.delete(slices, 'default', slice?.metadata.name ?? '');
    await services.untilSlices('web', '10.9.0.1');
  });

  it('follow the service: its labels, ports and selector', async () => {
    await services.createService('web');
    await services.createPod('a', '10.9.0.1');
    await services.createPod('z', '10.9.0.26', { app: 'zzz' });
    await scene.run(all);
    const [first] = await services.untilSlices('web', '10.9.0.1');
    await scene.update<StoredService>('services', 'default', 'web', (service) => {
      service.metadata.labels = { now: 'labelled' };
      service.spec.ports = [{ name: 'web', port: 80, targetPort: 9090, protocol: 'TCP' }];
    });
    await scene.until<StoredSlice, true>(slices, 'other ports', ([slice]) => slice?.ports?.[0]?.port === 9090);
    const changed = await scene.get<StoredSlice>(slices, 'default', first?.metadata.name ?? '');
    assert.equal(changed.metadata.labels?.now, 'labelled');
    await scene.update<StoredService>('services', 'default', 'web', ({ spec }) => {
      spec.selector = { app: 'zzz' };
    });
    await services.untilEndpoints('web', '10.9.0.26/');
    await services.untilSlices('web', '10.9.0.26');
  });

  it('are removed when the service went while no loop ran, but not the lock of an election', async () => {
    await services.createService('web');
    const running = await scene.run(all);
    await services.untilEndpoints('web', '');
    await services.untilSlices('web', '');
    await running.stop();
    await scene.create('endpoints', {
      metadata: {
        name: 'lock',
        namespace: 'default',
        annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' },
        labels: { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' },
      },
    });
    await scene.create('endpoints', { metadata: { name: 'early', namespace: 'default' } });
    await scene.delete('services', 'default', 'web');
    await scene.run(all);
    await services.untilEndpoints('web', undefined);
    await services.untilSlices('web', '', 0);
    assert.ok(await scene.find('endpoints', 'default', 'lock'));
    assert.ok(await scene.find('endpoints', 'default', 'early'));
  });

  it('come out once when two processes write them', async () => {
    await scene.run(all);
    await scene.run(all);
    const names = ['s1', 's2', 's3', 's4'];
    await Promise.all(names.map((name) => services.createService(name, { selector: { app: 'web' } })));
    await services.createPod('a', '10.9.0.1');
    await services.createPod('b', '10.9.0.2');
    for (const name of names) {
      await services.untilSlices(name, '10.9.0.1 10.9.0.2');
      await services.untilEndpoints(name, '10.9.0.1 10.9.0.2/');
    }
  });

  it('go on where another process stopped', async () => {
    const first = await scene.run(all);
    await services.createService('web');
    await services.createPod('a', '10.9.0.1');
    await services.untilSlices('web', '10.9.0.1');
    await first.stop();
    await services.createPod('b', '10.9.0.2');
    await scene.run(all);
    const [slice] = await services.untilSlices('web', '10.9.0.1 10.9.0.2');
    assert.ok(slice);
    await services.untilEndpoints('web', '10.9.0.1 10.9.0.2/');
  });

  it('are cut at a thousand addresses, and a hundred in a slice', async () => {
    await services.createService('web');
    const count = 1_003;
    const ids = Array.from({ length: count }, (_, i) => i);
    const address = (i: number) => `10.9.${1 + Math.floor(i / 200)}.${1 + (i % 200)}`;
    for (let at = 0; at < count; at += 100) {
      await Promise.all(
        ids.slice(at, at + 100).map((i) => services.createPod(`p${i}`, address(i), { ready: i !== 5 })),
      );
    }
    await scene.run(['endpoint', 'endpointslice']);
    const total = ({ subsets }: StoredEndpoints) => (subsets ?? []).flatMap(({ addresses = [] }) => addresses).length;
    const annotation = 'endpoints.kubernetes.io/over-capacity';
    const cut = await scene.until<StoredEndpoints, StoredEndpoints>(
      'endpoints',
      'all',
      ([one]) => one && total(one) > 0 && one,
    );
    assert.equal(total(cut), 1_000);
    assert.equal(cut.subsets?.[0]?.notReadyAddresses, undefined, 'ready ones go first');
    assert.equal(cut.metadata.annotations?.[annotation], 'truncated');
    const found = await scene.until<StoredSlice, readonly StoredSlice[]>(slices, 'slices', (list) => {
      const sum = endpointCount(list);
      return sum === count && list;
    });
    assert.deepEqual(
      found.map((slice) => endpointCount([slice])).sort((a, b) => a - b),
      [3, ...Array.from({ length: 10 }, () => 100)],
    );
    const versions = new Map(found.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
    await services.setReady('p7', false);
    await services.setReady('p5', true);
    await scene.delete('pods', 'default', 'p9', { gracePeriodSeconds: 0 });
    await scene.delete('pods', 'default', 'p10', { gracePeriodSeconds: 0 });
    await scene.delete('pods', 'default', 'p11', { gracePeriodSeconds: 0 });
    await scene.until<StoredEndpoints, true>('endpoints', 'room again', ([one]) => {
      return one !== undefined && total(one) === 999 && one.metadata.annotations?.[annotation] === undefined;
    });
    const after = await scene.until<StoredSlice, readonly StoredSlice[]>(slices, 'slices', (list) => {
      return endpointCount(list) === count - 3 && list;
    });
    const untouched = after.filter(({ metadata }) => versions.get(metadata.name) === metadata.resourceVersion);
    assert.ok(untouched.length >= 6, `only the slices of changed pods are written: ${untouched.length} are as before`);
  });
});
