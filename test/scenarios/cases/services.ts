import assert from 'node:assert/strict';
import { type Any, deployment, isReady, pretend, type Scenario, template } from '../scene.js';

const service = (name: string, app: string, spec: object = {}) => ({
  metadata: { name },
  spec: { selector: { app }, ports: [{ name: 'http', port: 80, targetPort: 8080 }], ...spec },
});
const addresses = (endpoints: Any, key: string): string[] =>
  (endpoints.subsets ?? []).flatMap((subset: Any) => (subset[key] ?? []).map(({ ip }: Any) => ip)).sort();

export const services: readonly Scenario[] = [
  {
    name: 'endpoints and slices list the ready pods of a service',
    upstream: 'release 1.20 writes the node into a field of an older version only',
    run: async (scene) => {
      await scene.create('services', service('web', 'web'));
      await scene.create('deployments', deployment('web', 3));
      const endpoints = await scene.until(
        'endpoints',
        'web',
        'three addresses',
        (object) => addresses(object, 'addresses').length === 3,
      );
      const pods = await scene.list('pods', 'app=web');
      assert.deepEqual(addresses(endpoints, 'addresses'), pods.map(({ status }) => status.podIP).sort());
      assert.deepEqual(endpoints.subsets[0].ports, [{ name: 'http', port: 8080, protocol: 'TCP' }]);
      assert.equal(endpoints.subsets[0].addresses[0].targetRef.kind, 'Pod');
      const slices = await scene.untilAll(
        'endpointslices',
        'a slice of three',
        (all) =>
          all.flatMap(({ endpoints: each }) => each ?? []).filter(({ conditions }) => conditions.ready).length === 3,
        'kubernetes.io/service-name=web',
      );
      assert.equal(slices.length, 1);
      assert.equal(slices[0].addressType, 'IPv4');
      assert.ok(
        slices[0].endpoints.every(
          ({ conditions, nodeName }: Any) => conditions.ready === true && nodeName !== undefined,
        ),
      );
    },
  },
  {
    name: 'a pod that is not ready is listed as such',
    run: async (scene) => {
      await scene.create('services', service('web', 'web'));
      await scene.create('pods', {
        metadata: { name: 'web', labels: { app: 'web' }, annotations: pretend({ 'ready-after': '3' }) },
        spec: template({}).spec,
      });
      const before = await scene.until(
        'endpoints',
        'web',
        'not ready',
        (object) => addresses(object, 'notReadyAddresses').length === 1,
      );
      assert.equal(addresses(before, 'addresses').length, 0);
      await scene.until('endpoints', 'web', 'ready', (object) => addresses(object, 'addresses').length === 1);
    },
  },
  {
    name: 'scaling to none empties endpoints and slices',
    run: async (scene) => {
      await scene.create('services', service('web', 'web'));
      await scene.create('deployments', deployment('web', 2));
      await scene.until('endpoints', 'web', 'two', (object) => addresses(object, 'addresses').length === 2);
      await scene.patch('deployments', 'web/scale', { spec: { replicas: 0 } });
      await scene.until('endpoints', 'web', 'none', (object) => (object.subsets ?? []).length === 0);
      await scene.untilAll('endpointslices', 'none', (all) =>
        all.every(({ endpoints }) => (endpoints ?? []).length === 0),
      );
    },
  },
  {
    name: 'publishNotReadyAddresses lists all',
    run: async (scene) => {
      await scene.create('services', service('web', 'web', { publishNotReadyAddresses: true, clusterIP: 'None' }));
      await scene.create('pods', {
        metadata: { name: 'web', labels: { app: 'web' }, annotations: pretend({ 'ready-after': 'never' }) },
        spec: template({}).spec,
      });
      await scene.until('endpoints', 'web', 'listed', (object) => addresses(object, 'addresses').length === 1);
    },
  },
  {
    name: 'endpoints without a selector are mirrored into a slice',
    run: async (scene) => {
      await scene.create('services', { metadata: { name: 'manual' }, spec: { ports: [{ port: 80 }] } });
      await scene.create('endpoints', {
        metadata: { name: 'manual' },
        subsets: [{ addresses: [{ ip: '192.0.2.7' }], ports: [{ port: 80 }] }],
      });
      const [slice] = await scene.untilAll(
        'endpointslices',
        'the mirror',
        (all) => all.length === 1 && all[0].endpoints?.length === 1,
        'kubernetes.io/service-name=manual',
      );
      assert.deepEqual(slice.endpoints[0].addresses, ['192.0.2.7']);
      assert.match(
        slice.metadata.labels['endpointslice.kubernetes.io/managed-by'],
        /^endpointslicemirroring-controller/,
      );
      await scene.delete('endpoints', 'manual');
      await scene.untilAll('endpointslices', 'no mirror', (all) => all.length === 0);
    },
  },
  {
    name: 'what belongs to a service goes with it',
    run: async (scene) => {
      await scene.create('services', service('web', 'web'));
      await scene.create('deployments', deployment('web', 1));
      await scene.untilAll('pods', 'ready', (pods) => pods.length === 1 && pods.every(isReady));
      await scene.untilAll('endpointslices', 'a slice', (all) => all.length === 1);
      await scene.delete('services', 'web');
      await scene.untilGone('endpoints', 'web');
      await scene.untilAll('endpointslices', 'no slice', (all) => all.length === 0);
    },
  },
  {
    name: 'a port by name leads to what each pod calls so',
    run: async (scene) => {
      const named = (port: number) => ({
        containers: [{ name: 'main', image: 'web:1', ports: [{ name: 'http', containerPort: port }] }],
      });
      await scene.create('services', service('web', 'web', { ports: [{ port: 80, targetPort: 'http' }] }));
      for (const port of [8080, 9090]) {
        const { metadata } = template({ app: 'web' });
        await scene.create('pods', { metadata: { name: `web-${port}`, ...metadata }, spec: named(port) });
      }
      const endpoints = await scene.until('endpoints', 'web', 'two', (object) => {
        return addresses(object, 'addresses').length === 2;
      });
      assert.equal(endpoints.subsets.length, 2);
      const slices = await scene.untilAll('endpointslices', 'two slices', (all) => {
        return all.length === 2 && all.every(({ ports }) => ports?.length === 1);
      });
      assert.deepEqual(slices.map(({ ports }) => ports[0].port).sort(), [8080, 9090]);
    },
  },
  {
    name: 'a port that no pod has leads nowhere',
    run: async (scene) => {
      await scene.create('services', service('web', 'web', { ports: [{ port: 80, targetPort: 'missing' }] }));
      await scene.create('deployments', deployment('web', 1));
      await scene.untilAll('pods', 'ready', (pods) => pods.length === 1 && pods.every(isReady));
      await scene.stays('no addresses', async () => {
        const [endpoints] = await scene.list('endpoints');
        return endpoints === undefined || (endpoints.subsets ?? []).length === 0;
      });
    },
  },
  {
    name: 'a service follows its selector',
    run: async (scene) => {
      for (const name of ['a', 'b']) await scene.create('deployments', deployment(name, 1));
      await scene.create('services', service('web', 'a'));
      const one = await scene.until('endpoints', 'web', 'one', (object) => addresses(object, 'addresses').length === 1);
      await scene.patch('services', 'web', { spec: { selector: { app: 'b' } } });
      const [before] = addresses(one, 'addresses');
      await scene.until('endpoints', 'web', 'another', (object) => {
        const [now] = addresses(object, 'addresses');
        return now !== undefined && now !== before;
      });
      await scene.untilAll('endpointslices', 'another', (all) => {
        const ips = all.flatMap(({ endpoints }) => (endpoints ?? []).flatMap((each: Any) => each.addresses));
        return ips.length === 1 && ips[0] !== before;
      });
    },
  },
  {
    name: 'a pod that ends is out of the endpoints before it is gone',
    since: '1.22',
    run: async (scene) => {
      await scene.create('services', service('web', 'web'));
      const { metadata, spec } = template({ app: 'web' }, pretend({ 'stop-seconds': '4' }));
      const body = { metadata: { name: 'web', ...metadata }, spec: { ...spec, terminationGracePeriodSeconds: 30 } };
      await scene.create('pods', body);
      await scene.until('endpoints', 'web', 'one', (object) => addresses(object, 'addresses').length === 1);
      await scene.delete('pods', 'web');
      await scene.until('endpoints', 'web', 'none', (object) => (object.subsets ?? []).length === 0);
      const [slice] = await scene.untilAll('endpointslices', 'an ending one', ([each]) => {
        return each?.endpoints?.[0]?.conditions.terminating === true;
      });
      assert.equal(slice.endpoints[0].conditions.ready, false);
      assert.equal((await scene.list('pods')).length, 1, 'it is still there');
    },
  },
  {
    name: 'a headless service gives pods of a stateful set their names',
    run: async (scene) => {
      await scene.create('services', service('db', 'db', { clusterIP: 'None' }));
      await scene.create('statefulsets', {
        metadata: { name: 'db' },
        spec: {
          replicas: 2,
          serviceName: 'db',
          selector: { matchLabels: { app: 'db' } },
          template: template({ app: 'db' }),
        },
      });
      const endpoints = await scene.until('endpoints', 'db', 'two', (object) => {
        return addresses(object, 'addresses').length === 2;
      });
      const hosts = endpoints.subsets.flatMap((subset: Any) => subset.addresses.map(({ hostname }: Any) => hostname));
      assert.deepEqual(hosts.sort(), ['db-0', 'db-1']);
      assert.equal(endpoints.metadata.labels['service.kubernetes.io/headless'], '');
    },
  },
  {
    name: 'endpoints with the label skip-mirror are not mirrored',
    run: async (scene) => {
      await scene.create('services', { metadata: { name: 'manual' }, spec: { ports: [{ port: 80 }] } });
      await scene.create('endpoints', {
        metadata: { name: 'manual', labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
        subsets: [{ addresses: [{ ip: '192.0.2.7' }], ports: [{ port: 80 }] }],
      });
      await scene.stays('no slices', async () => (await scene.list('endpointslices')).length === 0);
    },
  },
  {
    name: 'many pods fill slices of a hundred',
    run: async (scene) => {
      await scene.create('services', service('web', 'web'));
      await scene.create('deployments', deployment('web', 120));
      const count = (slices: Any[]) => slices.map(({ endpoints }) => (endpoints ?? []).length);
      const slices = await scene.untilAll('endpointslices', 'all', (all) => {
        return count(all).reduce((sum, each) => sum + each, 0) === 120;
      });
      assert.ok(Math.max(...count(slices)) <= 100);
      assert.ok(slices.length <= 3, `${count(slices)}`);
    },
  },
];
