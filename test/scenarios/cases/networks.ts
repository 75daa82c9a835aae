import assert from 'node:assert/strict';
import { type Any, deployment, isReady, pretend, type Scenario, type Scene, template } from '../scene.js';

const service = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }], ...spec },
});
const pod = (name: string, spec: object = {}, annotations: object = {}) => ({
  metadata: { name, labels: { app: 'web' }, annotations },
  spec: template({}, {}, spec).spec,
});
const slicesOf = (scene: Scene, name: string, what: string, isSo: (slices: Any[]) => unknown) =>
  scene.untilAll('endpointslices', what, isSo, `kubernetes.io/service-name=${name}`);
const endpointsOf = (slices: readonly Any[]): Any[] => slices.flatMap(({ endpoints }) => endpoints ?? []);
const addresses = (endpoints: Any): string[] =>
  (endpoints.subsets ?? []).flatMap((subset: Any) => (subset.addresses ?? []).map(({ ip }: Any) => ip)).sort();

export const networks: readonly Scenario[] = [
  {
    name: 'a service without a selector gets no endpoints',
    run: async (scene) => {
      await scene.create('services', service('outside', { selector: undefined }));
      await scene.create('pods', pod('web'));
      await scene.until('pods', 'web', 'ready', isReady);
      assert.ok(!(await scene.list('endpoints')).some(({ metadata }) => metadata.name === 'outside'));
      assert.equal((await scene.list('endpointslices', 'kubernetes.io/service-name=outside')).length, 0);
    },
  },
  {
    name: 'several ports and protocols are all listed',
    run: async (scene) => {
      const ports = [
        { name: 'http', port: 80, targetPort: 8080 },
        { name: 'dns', port: 53, protocol: 'UDP' },
        { name: 'sctp', port: 99, protocol: 'SCTP', targetPort: 100 },
      ];
      await scene.create('services', service('web', { ports }));
      await scene.create('pods', pod('web'));
      const slices = await slicesOf(scene, 'web', 'an endpoint', (all) => endpointsOf(all).length === 1);
      const reported = slices[0].ports.map(({ name, port, protocol }: Any) => `${name} ${port} ${protocol}`).sort();
      assert.deepEqual(reported, ['dns 53 UDP', 'http 8080 TCP', 'sctp 100 SCTP']);
      const { subsets } = await scene.get('endpoints', 'web');
      assert.equal(subsets[0].ports.length, 3);
    },
  },
  {
    name: 'slices tell node and zone of each pod',
    since: '1.21',
    run: async (scene) => {
      await scene.create('services', service('web'));
      await scene.create('pods', pod('web'));
      const running = await scene.until('pods', 'web', 'ready', isReady);
      const slices = await slicesOf(
        scene,
        'web',
        'a ready one',
        (all) => endpointsOf(all)[0]?.conditions.ready === true,
      );
      const [endpoint] = endpointsOf(slices);
      const node = await scene.get('nodes', running.spec.nodeName);
      assert.equal(endpoint.nodeName, running.spec.nodeName);
      assert.equal(endpoint.zone, node.metadata.labels['topology.kubernetes.io/zone']);
      assert.equal(endpoint.targetRef.uid, running.metadata.uid);
    },
  },
  {
    name: 'a pod that ends serves on in slices, but is not ready',
    since: '1.22',
    run: async (scene) => {
      await scene.create('services', service('web'));
      const spec = { terminationGracePeriodSeconds: 600 };
      await scene.create('pods', pod('web', spec, pretend({ 'stop-seconds': '600' })));
      await scene.until('pods', 'web', 'ready', isReady);
      await scene.delete('pods', 'web');
      await slicesOf(scene, 'web', 'terminating', (all) => {
        const { ready, serving, terminating } = endpointsOf(all)[0]?.conditions ?? {};
        return ready === false && serving === true && terminating === true;
      });
      await scene.delete('pods', 'web', { gracePeriodSeconds: 0 });
      await scene.untilGone('pods', 'web');
      await slicesOf(scene, 'web', 'nothing', (all) => endpointsOf(all).length === 0);
    },
  },
  {
    name: 'a pod that has ended has no endpoint',
    upstream: 'release 1.20 compares with the endpoints in its cache, which may be old when pods end soon',
    run: async (scene) => {
      await scene.create('services', service('web'));
      await scene.create('pods', pod('task', { restartPolicy: 'Never' }, pretend({ 'run-seconds': 'forever' })));
      await slicesOf(scene, 'web', 'one', (all) => endpointsOf(all).length === 1);
      await scene.patch('pods', 'task', { metadata: { annotations: pretend({ 'run-seconds': '0' }) } });
      await scene.until('pods', 'task', 'ended', ({ status }) => status.phase === 'Succeeded');
      await slicesOf(scene, 'web', 'none', (all) => endpointsOf(all).length === 0);
      await scene.until('endpoints', 'web', 'none', ({ subsets }) => (subsets ?? []).length === 0);
    },
  },
  {
    name: 'a pod whose labels change leaves one service for another',
    run: async (scene) => {
      await scene.create('services', service('web'));
      await scene.create('services', service('canary', { selector: { app: 'canary' } }));
      await scene.create('pods', pod('web'));
      await scene.until('endpoints', 'web', 'an address', (one) => addresses(one).length === 1);
      await scene.patch('pods', 'web', { metadata: { labels: { app: 'canary' } } });
      await scene.until('endpoints', 'canary', 'the address', (one) => addresses(one).length === 1);
      await scene.until('endpoints', 'web', 'no address', (one) => addresses(one).length === 0);
    },
  },
  {
    name: 'slices and endpoints that somebody empties are filled again',
    upstream: 'release 1.20 makes deleted endpoints again, but does not look at changed ones',
    run: async (scene) => {
      await scene.create('services', service('web'));
      await scene.create('deployments', deployment('web', 2));
      const slices = await slicesOf(
        scene,
        'web',
        'two',
        (all) => endpointsOf(all).filter((e) => e.conditions.ready).length === 2,
      );
      await scene.until('endpoints', 'web', 'two', (one) => addresses(one).length === 2);
      await scene.patch('endpointslices', slices[0].metadata.name, { endpoints: [] });
      await slicesOf(scene, 'web', 'two again', (all) => endpointsOf(all).length === 2);
      await scene.patch('endpoints', 'web', { subsets: null });
      await scene.until('endpoints', 'web', 'two again', (one) => addresses(one).length === 2);
      await scene.delete('endpoints', 'web');
      await scene.until('endpoints', 'web', 'two once more', (one) => addresses(one).length === 2);
    },
  },
  {
    name: 'a new target port reaches slices and endpoints',
    run: async (scene) => {
      await scene.create('services', service('web'));
      await scene.create('pods', pod('web'));
      await scene.until('endpoints', 'web', 'an address', (one) => addresses(one).length === 1);
      await scene.patch('services', 'web', { spec: { ports: [{ name: 'http', port: 80, targetPort: 9090 }] } });
      await scene.until('endpoints', 'web', 'the port', ({ subsets }) => subsets?.[0]?.ports[0].port === 9090);
      await slicesOf(scene, 'web', 'the port', (all) => all.some(({ ports }) => ports?.[0]?.port === 9090));
    },
  },
  {
    name: 'a mirrored slice follows its endpoints, and goes with them',
    run: async (scene) => {
      await scene.create('services', service('manual', { selector: undefined }));
      const subsets = (ip: string) => [{ addresses: [{ ip }], ports: [{ name: 'http', port: 80 }] }];
      await scene.create('endpoints', { metadata: { name: 'manual' }, subsets: subsets('10.1.2.3') });
      const has = (ip: string) => slicesOf(scene, 'manual', ip, (all) => endpointsOf(all)[0]?.addresses[0] === ip);
      await has('10.1.2.3');
      await scene.patch('endpoints', 'manual', { subsets: subsets('10.1.2.4') });
      await has('10.1.2.4');
      await scene.delete('endpoints', 'manual');
      await slicesOf(scene, 'manual', 'nothing', (all) => all.length === 0);
    },
  },
];
