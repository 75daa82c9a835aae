import assert from 'node:assert/strict';
import { type Any, condition, deployment, isReady, pretend, type Scenario, type Scene, template } from '../scene.js';

const hostname = 'kubernetes.io/hostname';
const pod = (name: string, spec: object = {}, labels: object = {}, annotations: object = {}) => ({
  metadata: { name, labels, annotations },
  spec: template({}, {}, spec).spec,
});
const on = (node: Any) => ({ nodeSelector: { [hostname]: node.metadata.name } });
const isUnschedulable = (object: unknown) => condition(object, 'PodScheduled')?.reason === 'Unschedulable';
const ready = (scene: Scene, name: string) => scene.until('pods', name, 'ready', isReady);
const nodeAffinity = (required: object[] | undefined, preferred: object[] = []) => ({
  affinity: {
    nodeAffinity: {
      ...(required && { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: required } }),
      preferredDuringSchedulingIgnoredDuringExecution: preferred,
    },
  },
});

/** Gives a node an amount of a resource that only this scenario uses. */
async function resourceOn(scene: Scene, node: Any, count: number): Promise<string> {
  const resource = `example.com/${scene.namespace}`;
  const amount = { [resource]: String(count) };
  const status = { capacity: amount, allocatable: amount };
  const answer = await scene.client.patch(`/api/v1/nodes/${node.metadata.name}/status`, 'merge', { status });
  assert.equal(answer.status, 200, answer.text);
  return resource;
}
const asks = (resource: string, count = 1) => {
  const amount = { [resource]: String(count) };
  return { containers: [{ name: 'main', image: 'web:1', resources: { limits: amount, requests: amount } }] };
};

/** Puts a taint on a node while the workload runs. */
async function tainted(scene: Scene, node: Any, effect: string, work: (key: string) => Promise<void>): Promise<void> {
  const key = `taint.example/${scene.namespace}`;
  const { name } = node.metadata;
  await scene.patch('nodes', name, { spec: { taints: [{ key, value: 'yes', effect }] } });
  try {
    await work(key);
  } finally {
    await scene.patch('nodes', name, { spec: { taints: null } });
  }
}

const someNode = async (scene: Scene): Promise<Any> => (await scene.list('nodes')).at(1);

export const placement: readonly Scenario[] = [
  {
    name: 'required node affinity chooses by expressions',
    run: async (scene) => {
      const node = await someNode(scene);
      const matchExpressions = [
        { key: hostname, operator: 'In', values: [node.metadata.name, 'nowhere'] },
        { key: 'no-such-label', operator: 'DoesNotExist' },
      ];
      await scene.create('pods', pod('picky', nodeAffinity([{ matchExpressions }])));
      assert.equal((await ready(scene, 'picky')).spec.nodeName, node.metadata.name);
      await scene.create(
        'pods',
        pod('lost', nodeAffinity([{ matchExpressions: [{ key: 'none', operator: 'Exists' }] }])),
      );
      const waits = await scene.until('pods', 'lost', 'unschedulable', isUnschedulable);
      assert.match(condition(waits, 'PodScheduled').message, /didn't match/);
    },
  },
  {
    name: 'node affinity compares numbers',
    run: async (scene) => {
      const node = await someNode(scene);
      const key = `size.example/${scene.namespace}`;
      await scene.patch('nodes', node.metadata.name, { metadata: { labels: { [key]: '12' } } });
      const term = (operator: string, value: string) => [{ matchExpressions: [{ key, operator, values: [value] }] }];
      await scene.create('pods', pod('above', nodeAffinity(term('Gt', '9'))));
      await scene.create('pods', pod('below', nodeAffinity(term('Lt', '9'))));
      assert.equal((await ready(scene, 'above')).spec.nodeName, node.metadata.name);
      await scene.until('pods', 'below', 'unschedulable', isUnschedulable);
    },
  },
  {
    name: 'a node is chosen by its name as a field',
    run: async (scene) => {
      const node = await someNode(scene);
      const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node.metadata.name] }];
      await scene.create('pods', pod('field', nodeAffinity([{ matchFields }])));
      assert.equal((await ready(scene, 'field')).spec.nodeName, node.metadata.name);
    },
  },
  {
    name: 'preferred node affinity wins over other scores',
    run: async (scene) => {
      const node = await someNode(scene);
      const matchExpressions = [{ key: hostname, operator: 'In', values: [node.metadata.name] }];
      await scene.create(
        'pods',
        pod('fond', nodeAffinity(undefined, [{ weight: 100, preference: { matchExpressions } }])),
      );
      assert.equal((await ready(scene, 'fond')).spec.nodeName, node.metadata.name);
    },
  },
  {
    name: 'a pod that names its node needs no scheduler',
    run: async (scene) => {
      const node = await someNode(scene);
      await scene.create('pods', pod('direct', { nodeName: node.metadata.name }));
      const running = await ready(scene, 'direct');
      assert.ok(
        !(await scene.list('events')).some(
          ({ reason, involvedObject }) => reason === 'Scheduled' && involvedObject.name === 'direct',
        ),
      );
      assert.equal(running.spec.nodeName, node.metadata.name);
    },
  },
  {
    name: 'a resource is given as often as there is of it, again when a pod has ended',
    run: async (scene) => {
      const resource = await resourceOn(scene, await someNode(scene), 2);
      const limits = asks(resource);
      for (const name of ['a', 'b']) await scene.create('pods', pod(name, limits));
      await ready(scene, 'a');
      await ready(scene, 'b');
      await scene.create('pods', pod('c', limits));
      const waits = await scene.until('pods', 'c', 'unschedulable', isUnschedulable);
      assert.match(condition(waits, 'PodScheduled').message, new RegExp(`Insufficient ${resource}`));
      await scene.delete('pods', 'a');
      await ready(scene, 'c');
    },
  },
  {
    name: 'a pod that may not preempt waits',
    run: async (scene) => {
      const meek = `meek-${scene.namespace}`;
      await scene.create('priorityclasses', { metadata: { name: meek }, value: 1000, preemptionPolicy: 'Never' });
      const resource = await resourceOn(scene, await someNode(scene), 1);
      await scene.create('pods', pod('plain', asks(resource)));
      await ready(scene, 'plain');
      await scene.create('pods', pod('meek', { ...asks(resource), priorityClassName: meek }));
      await scene.until('pods', 'meek', 'unschedulable', isUnschedulable);
      await scene.stays('the other runs', async () => isReady(await scene.get('pods', 'plain')));
      await scene.delete('pods', 'plain');
      await ready(scene, 'meek');
    },
  },
  {
    name: 'the least important pod makes room',
    run: async (scene) => {
      const name = (text: string) => `${text}-${scene.namespace}`;
      for (const [text, value] of [
        ['low', 10],
        ['middle', 20],
        ['high', 30],
      ] as const) {
        await scene.create('priorityclasses', { metadata: { name: name(text) }, value });
      }
      const resource = await resourceOn(scene, await someNode(scene), 2);
      for (const text of ['low', 'middle']) {
        await scene.create('pods', pod(text, { ...asks(resource), priorityClassName: name(text) }));
        await ready(scene, text);
      }
      await scene.create('pods', pod('high', { ...asks(resource), priorityClassName: name('high') }));
      await ready(scene, 'high');
      await scene.untilGone('pods', 'low');
      assert.ok(isReady(await scene.get('pods', 'middle')));
    },
  },
  {
    name: 'affinity finds pods in the namespaces with a label',
    since: '1.22',
    run: async (scene) => {
      const inner = `${scene.namespace}-friends`;
      await scene.create('namespaces', { metadata: { name: inner, labels: { friends: scene.namespace } } });
      const path = `/api/v1/namespaces/${inner}/pods`;
      // Pods need the account of their namespace.
      await scene.wait(
        'a friend',
        async () => (await scene.client.post(path, pod('friend', {}, { app: 'friend' }))).status === 201,
      );
      const term = {
        topologyKey: hostname,
        labelSelector: { matchLabels: { app: 'friend' } },
        namespaceSelector: { matchLabels: { friends: scene.namespace } },
      };
      const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
      await scene.create('pods', pod('fan', { affinity }));
      const fan = await ready(scene, 'fan');
      assert.equal(fan.spec.nodeName, (await scene.client.get(`${path}/friend`)).body.spec.nodeName);
      await scene.delete('namespaces', inner);
    },
  },
  {
    name: 'a running pod keeps away those that it has anti-affinity to',
    run: async (scene) => {
      const node = await someNode(scene);
      const term = { topologyKey: hostname, labelSelector: { matchLabels: { app: 'noisy' } } };
      const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
      await scene.create('pods', pod('quiet', { ...on(node), affinity }));
      await ready(scene, 'quiet');
      await scene.create('pods', pod('noisy', on(node), { app: 'noisy' }));
      const waits = await scene.until('pods', 'noisy', 'unschedulable', isUnschedulable);
      assert.match(condition(waits, 'PodScheduled').message, /anti-affinity/);
      await scene.delete('pods', 'quiet');
      await ready(scene, 'noisy');
    },
  },
  {
    name: 'a spread that is only wished for does not hold pods back',
    run: async (scene) => {
      const node = await someNode(scene);
      const constraint = {
        maxSkew: 1,
        topologyKey: hostname,
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: { app: 'web' } },
      };
      const pods = template({ app: 'web' }, {}, { ...on(node), topologySpreadConstraints: [constraint] });
      await scene.create('deployments', deployment('web', 3, {}, pods));
      await scene.untilAll('pods', 'three', (all) => all.filter(isReady).length === 3);
    },
  },
  {
    name: 'each gate has to go',
    since: '1.26',
    run: async (scene) => {
      const gate = (name: string) => ({ name: `example.com/${name}` });
      await scene.create('pods', pod('gated', { schedulingGates: [gate('a'), gate('b')] }));
      await scene.patch('pods', 'gated', { spec: { schedulingGates: [gate('b')] } });
      await scene.stays('it waits', async () => (await scene.get('pods', 'gated')).spec.nodeName === undefined);
      await scene.patch('pods', 'gated', { spec: { schedulingGates: null } });
      await ready(scene, 'gated');
    },
  },
  {
    name: 'NoSchedule keeps pods away that do not tolerate it, and lets others run on',
    isAlone: true,
    run: async (scene) => {
      const node = await someNode(scene);
      await scene.create('pods', pod('before', on(node)));
      await ready(scene, 'before');
      await tainted(scene, node, 'NoSchedule', async (key) => {
        await scene.create('pods', pod('refused', on(node)));
        const tolerations = [{ key, operator: 'Equal', value: 'yes', effect: 'NoSchedule' }];
        await scene.create('pods', pod('tolerant', { ...on(node), tolerations }));
        await ready(scene, 'tolerant');
        const waits = await scene.until('pods', 'refused', 'unschedulable', isUnschedulable);
        assert.match(condition(waits, 'PodScheduled').message, /taint/);
        assert.ok(isReady(await scene.get('pods', 'before')));
      });
      await ready(scene, 'refused');
    },
  },
  {
    name: 'NoExecute ends pods that do not tolerate it, and others after their time',
    isAlone: true,
    run: async (scene) => {
      const node = await someNode(scene);
      const key = `taint.example/${scene.namespace}`;
      const tolerates = (seconds?: number) => ({
        tolerations: [{ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds }],
      });
      await scene.create('pods', pod('plain', on(node)));
      await scene.create('pods', pod('for-a-while', { ...on(node), ...tolerates(3) }));
      await scene.create('pods', pod('for-ever', { ...on(node), ...tolerates() }));
      for (const name of ['plain', 'for-a-while', 'for-ever']) await ready(scene, name);
      await tainted(scene, node, 'NoExecute', async () => {
        await scene.untilGone('pods', 'plain');
        assert.ok(isReady(await scene.get('pods', 'for-ever')));
        await scene.untilGone('pods', 'for-a-while');
        await scene.stays('it runs on', async () => isReady(await scene.get('pods', 'for-ever')));
      });
      await scene.event('TaintManagerEviction', 'plain');
    },
  },
  {
    name: 'a taint that goes in time saves the pod',
    isAlone: true,
    run: async (scene) => {
      const node = await someNode(scene);
      const key = `taint.example/${scene.namespace}`;
      const tolerations = [{ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 4 }];
      await scene.create('pods', pod('lucky', { ...on(node), tolerations }));
      await ready(scene, 'lucky');
      await tainted(scene, node, 'NoExecute', async () => {
        await scene.stays('it runs', async () => isReady(await scene.get('pods', 'lucky')), 1000);
      });
      await scene.stays('it runs on', async () => isReady(await scene.get('pods', 'lucky')), 5000);
    },
  },
  {
    name: 'pods of a node that is gone are removed',
    isAlone: true,
    run: async (scene) => {
      const name = `gone-${scene.namespace}`;
      await scene.create('nodes', { metadata: { name }, spec: { unschedulable: true } });
      await scene.create('pods', pod('stranded', { nodeName: name }, {}, pretend({})));
      await scene.delete('nodes', name);
      // The loops wait 40 seconds: a node may come back.
      await scene.untilGone('pods', 'stranded');
    },
  },
];
