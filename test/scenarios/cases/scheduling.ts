import assert from 'node:assert/strict';
import { condition, deployment, isReady, type Scenario, template } from '../scene.js';

const pod = (name: string, spec: object, labels: object = {}) => ({
  metadata: { name, labels },
  spec: template({}, {}, spec).spec,
});
const requests = (cpu: string) => ({
  containers: [{ name: 'main', image: 'web:1', resources: { requests: { cpu } } }],
});
const isUnschedulable = (object: unknown) => condition(object, 'PodScheduled')?.reason === 'Unschedulable';

export const scheduling: readonly Scenario[] = [
  {
    name: 'a pod gets a node, runs, and says so',
    run: async (scene) => {
      await scene.create('pods', pod('a', {}));
      const running = await scene.until('pods', 'a', 'ready', isReady);
      assert.ok(running.spec.nodeName);
      assert.ok(running.status.podIP);
      assert.equal(running.status.phase, 'Running');
      assert.equal(condition(running, 'PodScheduled').status, 'True');
      assert.equal(
        await scene.event('Scheduled', 'a'),
        `Successfully assigned ${scene.namespace}/a to ${running.spec.nodeName}`,
      );
    },
  },
  {
    name: 'a pod that fits nowhere says why, and runs when it fits',
    run: async (scene) => {
      const nodes = (await scene.list('nodes')).length;
      await scene.create('pods', pod('big', requests('100000')));
      const waits = await scene.until('pods', 'big', 'unschedulable', isUnschedulable);
      assert.match(
        condition(waits, 'PodScheduled').message,
        new RegExp(`^0/${nodes} nodes are available: ${nodes} Insufficient cpu`),
      );
      await scene.event('FailedScheduling', 'big', /Insufficient cpu/);
    },
  },
  {
    name: 'a node selector waits for a node with the label',
    run: async (scene) => {
      const key = `label.example/${scene.namespace}`;
      await scene.create('pods', pod('picky', { nodeSelector: { [key]: 'yes' } }));
      await scene.until('pods', 'picky', 'unschedulable', isUnschedulable);
      const [node] = await scene.list('nodes');
      await scene.patch('nodes', node.metadata.name, { metadata: { labels: { [key]: 'yes' } } });
      const running = await scene.until('pods', 'picky', 'ready', isReady);
      assert.equal(running.spec.nodeName, node.metadata.name);
    },
  },
  {
    name: 'anti-affinity spreads pods over nodes',
    run: async (scene) => {
      const labelSelector = { matchLabels: { app: 'web' } };
      const affinity = {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname', labelSelector }],
        },
      };
      await scene.create('deployments', deployment('web', 3, {}, template({ app: 'web' }, {}, { affinity })));
      const pods = await scene.untilAll('pods', 'three ready', (all) => all.filter(isReady).length === 3);
      assert.equal(new Set(pods.map(({ spec }) => spec.nodeName)).size, 3);
    },
  },
  {
    name: 'affinity keeps pods together',
    run: async (scene) => {
      await scene.create('pods', pod('first', {}, { app: 'pair' }));
      const first = await scene.until('pods', 'first', 'ready', isReady);
      const labelSelector = { matchLabels: { app: 'pair' } };
      const affinity = {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname', labelSelector }],
        },
      };
      await scene.create('deployments', deployment('web', 3, {}, template({ app: 'web' }, {}, { affinity })));
      const pods = await scene.untilAll('pods', 'ready', (all) => all.filter(isReady).length === 3, 'app=web');
      assert.ok(pods.every(({ spec }) => spec.nodeName === first.spec.nodeName));
    },
  },
  {
    name: 'a spread constraint balances over nodes',
    run: async (scene) => {
      const labelSelector = { matchLabels: { app: 'web' } };
      const topologySpreadConstraints = [
        { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule', labelSelector },
      ];
      const nodes = (await scene.list('nodes')).length;
      const pods = template({ app: 'web' }, {}, { topologySpreadConstraints });
      await scene.create('deployments', deployment('web', nodes * 2, {}, pods));
      const all = await scene.untilAll('pods', 'ready', (each) => each.filter(isReady).length === nodes * 2);
      const counts = new Map<string, number>();
      for (const { spec } of all) counts.set(spec.nodeName, (counts.get(spec.nodeName) ?? 0) + 1);
      assert.ok(
        [...counts.values()].every((count) => count === 2),
        JSON.stringify([...counts]),
      );
    },
  },
  {
    name: 'host ports are given once per node',
    run: async (scene) => {
      const [node] = await scene.list('nodes');
      const nodeSelector = { 'kubernetes.io/hostname': node.metadata.name };
      const hostPort = 20000 + Math.floor(Math.random() * 10000);
      const containers = [{ name: 'main', image: 'web:1', ports: [{ containerPort: 80, hostPort }] }];
      await scene.create('pods', pod('first', { nodeSelector, containers }));
      await scene.until('pods', 'first', 'ready', isReady);
      await scene.create('pods', pod('second', { nodeSelector, containers }));
      const waits = await scene.until('pods', 'second', 'unschedulable', isUnschedulable);
      assert.match(condition(waits, 'PodScheduled').message, /free ports for the requested pod ports/);
      await scene.delete('pods', 'first');
      await scene.until('pods', 'second', 'ready', isReady);
    },
  },
  {
    name: 'another scheduler name leaves the pod alone',
    run: async (scene) => {
      await scene.create('pods', pod('theirs', { schedulerName: 'somebody-else' }));
      await scene.stays('it waits', async () => (await scene.get('pods', 'theirs')).spec.nodeName === undefined);
    },
  },
  {
    name: 'gates hold a pod back until they are removed',
    since: '1.26',
    run: async (scene) => {
      await scene.create('pods', pod('gated', { schedulingGates: [{ name: 'example.com/wait' }] }));
      const gated = await scene.until(
        'pods',
        'gated',
        'gated',
        (object) => condition(object, 'PodScheduled')?.reason === 'SchedulingGated',
      );
      assert.equal(gated.spec.nodeName, undefined);
      await scene.patch('pods', 'gated', { spec: { schedulingGates: [] } });
      await scene.until('pods', 'gated', 'ready', isReady);
    },
  },
  {
    name: 'a more important pod takes the place of another',
    run: async (scene) => {
      const important = `important-${scene.namespace}`;
      await scene.create('priorityclasses', { metadata: { name: important }, value: 1000 });
      const nodes = await scene.list('nodes');
      const node = nodes.at(-1);
      const nodeSelector = { 'kubernetes.io/hostname': node.metadata.name };
      const resource = `example.com/${scene.namespace}`;
      const answer = await scene.client.patch(`/api/v1/nodes/${node.metadata.name}/status`, 'merge', {
        status: { capacity: { [resource]: '1' }, allocatable: { [resource]: '1' } },
      });
      assert.equal(answer.status, 200, answer.text);
      const limits = { limits: { [resource]: '1' }, requests: { [resource]: '1' } };
      const containers = [{ name: 'main', image: 'web:1', resources: limits }];
      await scene.create('pods', pod('plain', { nodeSelector, containers }));
      await scene.until('pods', 'plain', 'ready', isReady);
      await scene.create('pods', pod('vip', { nodeSelector, containers, priorityClassName: important }));
      await scene.until('pods', 'vip', 'ready', isReady);
      await scene.untilGone('pods', 'plain');
      await scene.event('Preempted', 'plain');
    },
  },
  {
    name: 'a cordoned node gets no pods',
    run: async (scene) => {
      const [node] = (await scene.list('nodes')).slice(-2);
      const { name } = node.metadata;
      await scene.patch('nodes', name, { spec: { unschedulable: true } });
      try {
        await scene.create('pods', pod('cordoned', { nodeSelector: { 'kubernetes.io/hostname': name } }));
        const waits = await scene.until('pods', 'cordoned', 'unschedulable', isUnschedulable);
        assert.match(condition(waits, 'PodScheduled').message, /node\(s\) were unschedulable/);
      } finally {
        await scene.patch('nodes', name, { spec: { unschedulable: null } });
      }
      await scene.until('pods', 'cordoned', 'ready', isReady);
    },
  },
];
