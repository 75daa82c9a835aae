import type { Attack } from '../attack.js';
import { filler, template, times, workload } from './bodies.js';

const heavy = (n: number) => times(10, (i) => [`note-${i}`, filler(20_000, n)]);
/** A template of about 900 KB: nearly the largest that a deployment can contain. */
const heavySpec = (n: number) => ({
  nodeSelector: { 'example.com/none': 'x' },
  containers: [{ name: 'c', image: 'x', env: times(350, (i) => ({ name: `E${i}`, value: filler(2000, n) })) }],
});

/** A few objects that make the control loops do a lot of work. */
export const workloads: readonly Attack[] = [
  {
    name: 'templates',
    about: 'deployments, replica sets, stateful sets and jobs of 900 KB a template and 100,000 replicas',
    parallel: 4,
    most: 40,
    act: async (attacker, n) => {
      const kinds = ['apps/v1/deployments', 'apps/v1/replicasets', 'apps/v1/statefulsets', 'batch/v1/jobs'];
      const kind = kinds[n % kinds.length] as string;
      const body = workload(`t-${n}`, 100_000, heavySpec(n), Object.fromEntries(heavy(n)));
      if (kind.endsWith('jobs')) {
        const { template: made } = body.spec as { template: { metadata: object; spec: object } };
        const spec = { ...made, spec: { ...made.spec, restartPolicy: 'Never' } };
        Object.assign(body, { spec: { parallelism: 100_000, completions: 100_000, template: spec } });
      } else if (kind.endsWith('statefulsets')) {
        Object.assign(body.spec as object, { serviceName: 'x', podManagementPolicy: 'Parallel' });
      }
      await attacker.create(kind, body, n);
      await attacker.rest(500);
    },
  },
  {
    name: 'replicas',
    about: '200 small deployments of 100,000 replicas that no node has room for',
    parallel: 8,
    most: 200,
    act: (attacker, n) => attacker.create('apps/v1/deployments', workload(`r-${n}`, 100_000), n),
  },
  {
    name: 'running-replicas',
    about: '20 deployments of 1,000 replicas that run, scaled to 0 and back',
    parallel: 4,
    act: async (attacker, n) => {
      const name = `run-${n % 20}`;
      const spec = attacker.target.hasScheduler ? {} : { nodeName: 'sim-0' };
      const made = await attacker.create('apps/v1/deployments', workload(name, 1000, spec), n);
      if (made?.status !== 409) return;
      const path = attacker.path(`apps/v1/deployments/${name}`);
      await attacker.send({ method: 'PATCH', path, body: { spec: { replicas: n % 2 === 0 ? 0 : 1000 } } }, n);
      await attacker.rest(500);
    },
  },
  {
    name: 'rollout-churn',
    about: 'templates of 100 deployments that change all the time, each kept as a replica set',
    parallel: 16,
    act: async (attacker, n) => {
      const name = `churn-${n % 100}`;
      const path = attacker.path(`apps/v1/deployments/${name}`);
      if (n < 100) {
        const body = workload(name, 20);
        Object.assign(body.spec as object, { revisionHistoryLimit: 1_000_000 });
        await attacker.create('apps/v1/deployments', body, n);
      } else {
        const body = { spec: { template: { metadata: { annotations: { n: filler(5000, n) } } } } };
        await attacker.send({ method: 'PATCH', path, body }, n);
      }
    },
  },
  {
    name: 'jobs',
    about: 'indexed jobs of 100,000 completions, jobs whose pods fail, and 1,000 cron jobs of every minute',
    parallel: 8,
    most: 2000,
    act: (attacker, n) => {
      const made = template({ app: 'job' }, { restartPolicy: 'Never', nodeSelector: { 'example.com/none': 'x' } });
      const spec = { parallelism: 1000, completions: 100_000, completionMode: 'Indexed', template: made };
      if (n % 4 === 0) return attacker.create('batch/v1/jobs', { metadata: { name: `j-${n}` }, spec }, n);
      const small = { ...spec, parallelism: 50, completions: 50, backoffLimit: 1_000_000 };
      if (n % 4 === 1) return attacker.create('batch/v1/jobs', { metadata: { name: `j-${n}` }, spec: small }, n);
      const cron = { schedule: '* * * * *', concurrencyPolicy: 'Allow', jobTemplate: { spec: small } };
      return attacker.create('batch/v1/cronjobs', { metadata: { name: `c-${n}` }, spec: cron }, n);
    },
  },
  {
    name: 'autoscalers',
    about: '2,000 autoscalers with 50 metrics each over a few workloads',
    most: 2000,
    prepare: async (attacker) => {
      for (let n = 0; n < 10; n++) await attacker.create('apps/v1/deployments', workload(`scaled-${n}`, 2), n);
    },
    act: (attacker, n) => {
      const metrics = times(50, (i) => ({
        type: 'Pods',
        pods: { metric: { name: `m-${i}` }, target: { type: 'AverageValue', averageValue: '1' } },
      }));
      const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: `scaled-${n % 10}` };
      const spec = { scaleTargetRef, minReplicas: 1, maxReplicas: 100_000, metrics };
      return attacker.create('autoscaling/v2/horizontalpodautoscalers', { metadata: { name: `h-${n}` }, spec }, n);
    },
  },
  {
    name: 'sets-of-all-nodes',
    about: '500 daemon sets and 200 stateful sets with claims, whose templates change',
    parallel: 8,
    act: async (attacker, n) => {
      const name = `s-${n % 500}`;
      const { replicas: _, ...rest } = workload(name, 1, {}).spec as Record<string, unknown>;
      if (n < 500) await attacker.create('apps/v1/daemonsets', { metadata: { name }, spec: rest }, n);
      else if (n < 700) {
        const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
        const spec = {
          ...rest,
          replicas: 50,
          serviceName: 'x',
          podManagementPolicy: 'Parallel',
          volumeClaimTemplates: times(5, (i) => ({ metadata: { name: `v-${i}` }, spec: claim })),
        };
        await attacker.create('apps/v1/statefulsets', { metadata: { name }, spec }, n);
      } else {
        const body = { spec: { template: { metadata: { annotations: { n: String(n) } } } } };
        await attacker.send({ method: 'PATCH', path: attacker.path(`apps/v1/daemonsets/${name}`), body }, n);
      }
    },
  },
  {
    name: 'adoption',
    about: 'pods whose labels change all the time, so that sets adopt, release and replace them',
    parallel: 16,
    prepare: async (attacker) => {
      for (let n = 0; n < 20; n++) await attacker.create('apps/v1/replicasets', workload(`a-${n}`, 20), n);
    },
    act: async (attacker, n) => {
      const pods = await attacker.send({ method: 'GET', path: `${attacker.path('pods')}?limit=50` }, n);
      for (const { metadata } of (pods?.body?.items ?? []) as { metadata: { name: string } }[]) {
        const body = { metadata: { labels: { app: `a-${(n + metadata.name.length) % 20}` } } };
        await attacker.send({ method: 'PATCH', path: attacker.path(`pods/${metadata.name}`), body }, n);
        if (attacker.isOver) return;
      }
    },
  },
];
