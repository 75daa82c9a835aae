import assert from 'node:assert/strict';
import {
  type Any,
  condition,
  deployment,
  ownerReference,
  pretend,
  type Scenario,
  type Scene,
  template,
} from '../scene.js';

/** Checks that the loops still do everybody else's work. */
async function lifeGoesOn(scene: Scene, name = 'witness'): Promise<void> {
  await scene.create('deployments', deployment(name, 1));
  await scene.until('deployments', name, 'available', ({ status }) => status?.availableReplicas === 1);
}

const huge = 2 ** 31 - 1;
/** JSON has no greater one. */
const longest = Number.MAX_SAFE_INTEGER;
/** No node has such a label. */
const nowhere = { nodeSelector: { 'example.com/none': 'x' } };
const never = { ...nowhere, restartPolicy: 'Never' };

const set = (name: string, spec: object) => ({
  metadata: { name },
  spec: {
    serviceName: name,
    selector: { matchLabels: { app: name } },
    template: template({ app: name }, {}, nowhere),
    ...spec,
  },
});

/** Writes a status that no loop would write. */
async function forge(scene: Scene, resource: string, name: string, status: object, expected = 200): Promise<void> {
  const answer = await scene.client.patch(scene.path(resource, `${name}/status`), 'merge', { status });
  assert.equal(answer.status, expected, answer.text);
}

export const hostile: readonly Scenario[] = [
  {
    name: 'a parallel stateful set of 2,147,483,647 pods stops nobody else',
    run: async (scene) => {
      await scene.create('statefulsets', set('sea', { replicas: huge, podManagementPolicy: 'Parallel' }));
      await scene.untilAll('pods', 'some pods', (pods) => pods.length > 2);
      await lifeGoesOn(scene);
      await scene.delete('statefulsets', 'sea');
      await scene.untilAll(
        'pods',
        'no pods of it',
        (pods) => !pods.some(({ metadata }) => metadata.labels.app === 'sea'),
      );
    },
  },
  {
    name: 'a stateful set whose numbers begin at 2,147,483,647',
    run: async (scene) => {
      const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: huge } };
      await scene.create('statefulsets', set('far', { replicas: huge, ordinals: { start: huge }, updateStrategy }));
      await scene.untilAll('pods', 'the first', (pods) => pods.length === 1);
      await lifeGoesOn(scene);
    },
  },
  {
    name: 'a replica set of 2,147,483,647 pods stops nobody else, and ends when it is deleted',
    run: async (scene) => {
      const one = deployment('sea', huge, {}, template({ app: 'sea' }, {}, nowhere));
      await scene.create('replicasets', one);
      await scene.untilAll('pods', 'some pods', (pods) => pods.length > 2);
      await lifeGoesOn(scene);
      await scene.delete('replicasets', 'sea');
      await scene.untilAll(
        'pods',
        'no pods of it',
        (pods) => !pods.some(({ metadata }) => metadata.labels.app === 'sea'),
      );
    },
  },
  {
    name: 'an indexed job of 2,147,483,647 completions that says it has done nearly all',
    run: async (scene) => {
      const spec = { completionMode: 'Indexed', completions: huge, parallelism: 2, template: template({}, {}, never) };
      await scene.create('jobs', { metadata: { name: 'long' }, spec });
      await scene.untilAll('pods', 'two pods', (pods) => pods.length === 2);
      const odd = Array.from({ length: 60_000 }, (_, i) => 2 * i + 11).join(',');
      await forge(scene, 'jobs', 'long', { completedIndexes: odd, succeeded: 60_000 });
      await scene.patch('jobs', 'long', { spec: { parallelism: 5 } });
      await forge(scene, 'jobs', 'long', { completedIndexes: '2-999999990', succeeded: 999999989 });
      await scene.patch('jobs', 'long', { spec: { parallelism: 6 } });
      await lifeGoesOn(scene);
    },
  },
  {
    name: 'a job with the greatest numbers',
    run: async (scene) => {
      const spec = {
        completions: huge,
        parallelism: huge,
        backoffLimit: huge,
        activeDeadlineSeconds: longest,
        ttlSecondsAfterFinished: huge,
        template: template({}, {}, { ...never, activeDeadlineSeconds: huge }),
      };
      await scene.create('jobs', { metadata: { name: 'vast' }, spec });
      await scene.untilAll('pods', 'some pods', (pods) => pods.length > 2);
      const last = {
        ...spec,
        parallelism: 1,
        completions: 1,
        template: template({}, pretend({ 'run-seconds': '0.1' }), { restartPolicy: 'Never' }),
      };
      await scene.create('jobs', { metadata: { name: 'kept' }, spec: last });
      await scene.until('jobs', 'kept', 'complete', (job) => condition(job, 'Complete')?.status === 'True');
      await lifeGoesOn(scene);
      await scene.get('jobs', 'kept');
      await scene.client.delete(scene.path('jobs', 'vast'), { propagationPolicy: 'Background' });
    },
  },
  {
    name: 'cron jobs that never run, ran in the year 1, or will have run in the year 9999',
    run: async (scene) => {
      const cron = (name: string, spec: object) => ({
        metadata: { name },
        spec: { schedule: '* * * * *', jobTemplate: { spec: { template: template({}, {}, never) } }, ...spec },
      });
      await scene.create('cronjobs', cron('never', { schedule: '0 0 30 2 *' }));
      await scene.create('cronjobs', cron('zoned', { schedule: '0 0 30 2 *', timeZone: 'Asia/Kathmandu' }));
      for (const [name, lastScheduleTime] of [
        ['old', '0001-01-01T00:00:00Z'],
        ['new', '9999-12-31T23:59:59Z'],
      ] as const) {
        await scene.create('cronjobs', cron(name, { startingDeadlineSeconds: longest }));
        await forge(scene, 'cronjobs', name, { lastScheduleTime });
      }
      await lifeGoesOn(scene);
    },
  },
  {
    name: 'owners in a circle, owners of themselves, owners that cannot be',
    run: async (scene) => {
      const made: Any[] = [];
      for (const name of ['a', 'b', 'c']) made.push(await scene.create('configmaps', { metadata: { name } }));
      for (const [i, name] of ['a', 'b', 'c'].entries()) {
        const owner = ownerReference(
          { kind: 'ConfigMap', apiVersion: 'v1', ...made[(i + 1) % 3] },
          { blockOwnerDeletion: true },
        );
        await scene.patch('configmaps', name, { metadata: { ownerReferences: [owner] } });
      }
      const self = await scene.create('configmaps', { metadata: { name: 'self' } });
      await scene.patch('configmaps', 'self', {
        metadata: { ownerReferences: [ownerReference(self, { blockOwnerDeletion: true })] },
      });
      const reference = (fields: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x', ...fields });
      const odd = [
        { apiVersion: 'no.such/v9', kind: 'Nothing' },
        { apiVersion: 'v1', kind: '__proto__', name: '__proto__', uid: '__proto__' },
        { kind: 'Node', name: 'no-such-node' },
        { kind: 'Namespace', name: scene.namespace, uid: 'wrong' },
        { apiVersion: 'apps/v1', kind: 'Deployment', name: '../../x', uid: '../x' },
      ];
      for (const [i, fields] of odd.entries()) {
        await scene.create('configmaps', { metadata: { name: `odd-${i}`, ownerReferences: [reference(fields)] } });
      }
      for (const [i, policy] of ['Foreground', 'Background'].entries()) {
        await scene.delete('configmaps', i === 0 ? 'a' : 'self', { propagationPolicy: policy });
      }
      for (const name of ['a', 'b', 'c', 'self', 'odd-3']) await scene.untilGone('configmaps', name);
      await lifeGoesOn(scene);
    },
  },
  {
    name: 'names and labels that mean something to the language',
    run: async (scene) => {
      for (const key of ['constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
        const name = key.toLowerCase();
        await scene.create('services', {
          metadata: { name },
          spec: { selector: { [key]: key }, ports: [{ port: 80 }] },
        });
        const pod = template({ [key]: key });
        const selector = { matchLabels: { [key]: key } };
        await scene.create('deployments', { metadata: { name }, spec: { replicas: 1, selector, template: pod } });
        await scene.create('poddisruptionbudgets', { metadata: { name }, spec: { minAvailable: 1, selector } });
        const near = { labelSelector: selector, topologyKey: key };
        const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near] } };
        const topologySpreadConstraints = [
          { maxSkew: 1, topologyKey: key, whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector },
        ];
        await scene.create('pods', { metadata: { name: `${name}-apart` }, spec: template({}, {}, { affinity }).spec });
        await scene.create('pods', {
          metadata: { name: `${name}-spread` },
          spec: template({}, {}, { topologySpreadConstraints }).spec,
        });
      }
      for (const key of ['constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
        const name = key.toLowerCase();
        await scene.until('deployments', name, 'available', ({ status }) => status?.availableReplicas === 1);
        await scene.until('endpoints', name, 'one', ({ subsets }) => subsets?.[0]?.addresses?.length === 1);
        await scene.until(
          'poddisruptionbudgets',
          name,
          'one pod',
          ({ status }) => status?.expectedPods === 1 && status?.currentHealthy === 1,
        );
        await scene.until(
          'pods',
          `${name}-spread`,
          'no place',
          (pod) => condition(pod, 'PodScheduled')?.status === 'False',
        );
        await scene.until(
          'pods',
          `${name}-apart`,
          'placed',
          (pod) => condition(pod, 'PodScheduled')?.status === 'True',
        );
      }
      await lifeGoesOn(scene);
    },
  },
  {
    name: 'pods with forged states and odd numbers',
    run: async (scene) => {
      const pods: [string, object, object?][] = [
        [
          'cpu',
          {
            containers: [
              { name: 'main', image: 'web', resources: { requests: { cpu: '9223372036854775807', memory: '9E' } } },
            ],
          },
        ],
        [
          'frac',
          {
            containers: [{ name: 'main', image: 'web', resources: { requests: { cpu: '0.000000001', memory: '1n' } } }],
          },
        ],
        [
          'tol',
          {
            tolerations: [
              {
                key: 'node.kubernetes.io/not-ready',
                operator: 'Exists',
                effect: 'NoExecute',
                tolerationSeconds: -longest,
              },
            ],
          },
        ],
        ['tol2', { tolerations: [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: longest }] }],
        ['grace', { terminationGracePeriodSeconds: longest }],
        ['prio', { schedulerName: 'default-scheduler', activeDeadlineSeconds: huge }],
      ];
      for (const [name, spec] of pods) {
        await scene.create('pods', {
          metadata: { name, labels: { app: 'odd' } },
          spec: { containers: [{ name: 'main', image: 'web' }], ...spec },
        });
      }
      await scene.until('pods', 'grace', 'runs', (pod) => pod.status.phase === 'Running');
      await scene.delete('pods', 'grace', {});
      const oddities = {
        conditions: [
          { type: 'Ready', status: 'True', lastTransitionTime: '0001-01-01T00:00:00Z' },
          { type: 'x', status: 'y' },
        ],
        containerStatuses: [{ name: 'nobody', ready: true, restartCount: huge, image: '', imageID: '', state: {} }],
        startTime: '9999-12-31T23:59:59Z',
        podIPs: [{ ip: '1.2.3.4' }, { ip: '::1' }],
        podIP: '1.2.3.4',
      };
      await forge(scene, 'pods', 'prio', oddities);
      await lifeGoesOn(scene);
      await scene.untilGone('pods', 'grace');
    },
  },
  {
    name: 'autoscalers, budgets and services of everything and nothing',
    run: async (scene) => {
      const target = (kind: string, name: string, apiVersion = 'apps/v1') => ({
        scaleTargetRef: { kind, name, apiVersion },
      });
      for (const [i, ref] of [
        target('Deployment', 'none'),
        target('HorizontalPodAutoscaler', 'h-1', 'autoscaling/v2'),
        target('Nothing', 'x', 'a/b'),
        target('ReplicationController', 'x', 'v1'),
      ].entries()) {
        await scene.create('horizontalpodautoscalers', {
          metadata: { name: `h-${i}` },
          spec: { ...ref, minReplicas: huge, maxReplicas: huge },
        });
      }
      for (let i = 0; i < 30; i++) {
        await scene.create('poddisruptionbudgets', {
          metadata: { name: `all-${i}` },
          spec: { selector: {}, minAvailable: i % 2 ? '100%' : huge },
        });
        await scene.create('services', {
          metadata: { name: `svc-${i}` },
          spec: {
            selector: { app: 'witness' },
            ports: Array.from({ length: 100 }, (_, p) => ({ name: `p${p}`, port: p + 1 })),
          },
        });
      }
      await lifeGoesOn(scene);
      await forge(scene, 'poddisruptionbudgets', 'all-0', {
        disruptedPods: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`p-${i}`, '9999-12-31T23:59:59Z'])),
      });
      await lifeGoesOn(scene, 'witness-2');
    },
  },
  {
    name: 'nodes that say nonsense',
    isAlone: true,
    run: async (scene) => {
      const node = `nonsense-${scene.namespace}`;
      const name = node;
      await scene.create('nodes', {
        metadata: { name, labels: { 'topology.kubernetes.io/zone': 'constructor' } },
        spec: { taints: [{ key: 'x', effect: 'NoExecute', timeAdded: '9999-12-31T23:59:59Z' }] },
      });
      const status = {
        allocatable: { cpu: '-5', memory: '1e300', pods: '9E', constructor: '1' },
        capacity: { cpu: '1n' },
        conditions: [{ type: 'Ready', status: 'Maybe', lastHeartbeatTime: '9999-12-31T23:59:59Z' }],
        addresses: [{ type: 'x', address: 'y' }],
        images: Array.from({ length: 2000 }, (_, i) => ({ names: [`i-${i}`], sizeBytes: longest })),
      };
      await forge(scene, 'nodes', name, status, 422);
      const { cpu: _cpu, ...rest } = status.allocatable;
      await forge(scene, 'nodes', name, { ...status, allocatable: rest });
      await lifeGoesOn(scene);
      await scene.create('pods', {
        metadata: { name: 'there' },
        spec: { nodeName: name, containers: [{ name: 'main', image: 'web' }] },
      });
      await lifeGoesOn(scene, 'witness-2');
      await scene.delete('nodes', name);
    },
  },
];
