import type { Attack } from '../attack.js';
import { filler, pod, times, workload } from './bodies.js';

/** Services, disruption budgets and other objects that select pods. */
export const networks: readonly Attack[] = [
  {
    name: 'services',
    about: '2,000 services that select all 300 pods of the namespace, which come and go',
    parallel: 16,
    prepare: async (attacker) => {
      const where = attacker.target.hasScheduler ? {} : { nodeName: 'sim-0' };
      await attacker.create('apps/v1/deployments', workload('all', 300, where));
    },
    act: async (attacker, n) => {
      const spec = {
        clusterIP: 'None',
        selector: { app: 'all' },
        ports: times(50, (i) => ({ name: `p${i}`, port: 80 + i })),
      };
      if (n < 2000) return attacker.create('services', { metadata: { name: `s-${n}` }, spec }, n);
      const path = attacker.path('apps/v1/deployments/all');
      await attacker.send({ method: 'PATCH', path, body: { spec: { replicas: n % 2 === 0 ? 10 : 300 } } }, n);
      return attacker.rest(500);
    },
  },
  {
    name: 'addresses',
    about: 'services that take all addresses and node ports they can get, and give them back',
    parallel: 16,
    act: async (attacker, n) => {
      const ports = times(20, (i) => ({ name: `p${i}`, port: 80 + i }));
      await attacker.create('services', { metadata: { name: `s-${n}` }, spec: { type: 'NodePort', ports } }, n);
      if (n % 2 === 0) await attacker.send({ method: 'DELETE', path: attacker.path(`services/s-${n}`) }, n);
    },
  },
  {
    name: 'budgets',
    about: '1,000 disruption budgets over all pods, and evictions without end',
    parallel: 16,
    prepare: async (attacker) => {
      const where = attacker.target.hasScheduler ? {} : { nodeName: 'sim-0' };
      for (let n = 0; n < 200; n++) await attacker.create('pods', pod(`p-${n}`, where), n);
    },
    act: async (attacker, n) => {
      const spec = { minAvailable: '50%', selector: { matchLabels: { app: 'mallory' } } };
      if (n < 1000) {
        await attacker.create('policy/v1/poddisruptionbudgets', { metadata: { name: `b-${n}` }, spec }, n);
      }
      const name = `p-${n % 200}`;
      await attacker.create(
        `pods/${name}/eviction`,
        { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } },
        n,
      );
    },
  },
  {
    name: 'policies-and-ingresses',
    about: '1,000 network policies and ingresses of 1 MB',
    most: 1000,
    parallel: 4,
    act: (attacker, n) => {
      const from = times(2000, (i) => ({ podSelector: { matchLabels: { [`l${i}`]: filler(60, n) } } }));
      const policy = { podSelector: {}, ingress: times(5, () => ({ from })) };
      if (n % 2 === 0) {
        const name = { metadata: { name: `n-${n}` } };
        return attacker.create('networking.k8s.io/v1/networkpolicies', { ...name, spec: policy }, n);
      }
      const paths = times(20, (i) => ({
        path: `/${i}`,
        pathType: 'Prefix',
        backend: { service: { name: 's', port: { number: 80 } } },
      }));
      const rules = times(500, (i) => ({ host: `h${i}.example.com`, http: { paths } }));
      return attacker.create('networking.k8s.io/v1/ingresses', { metadata: { name: `i-${n}` }, spec: { rules } }, n);
    },
  },
  {
    name: 'quotas',
    about:
      '200 quotas and 200 limit ranges that an administrator set, beside creates, deletes and dry runs that they count',
    parallel: 16,
    prepare: async (attacker) => {
      const hard = Object.fromEntries(times(50, (i) => [`count/kind${i}.example.com`, '5']));
      Object.assign(hard, { pods: '100000', 'count/configmaps': '100000' });
      const max = Object.fromEntries(times(50, (i) => [`example.com/r${i}`, '5']));
      const limits = [
        { type: 'Container', max, default: max, defaultRequest: max },
        { type: 'Pod', max },
      ];
      for (let n = 0; n < 200; n++) {
        const metadata = { name: `q-${n}` };
        await attacker.asAdmin({
          method: 'POST',
          path: attacker.path('resourcequotas'),
          body: { metadata, spec: { hard } },
        });
        await attacker.asAdmin({
          method: 'POST',
          path: attacker.path('limitranges'),
          body: { metadata, spec: { limits } },
        });
      }
    },
    act: async (attacker, n) => {
      await attacker.create(
        'pods',
        pod(`p-${n}`, { containers: times(20, (i) => ({ name: `c${i}`, image: 'x' })) }),
        n,
      );
      await attacker.create('configmaps?dryRun=All', { metadata: { name: `c-${n}` } }, n);
      await attacker.create('configmaps', { metadata: { name: `c-${n}` } }, n);
      if (n % 2 === 0) await attacker.send({ method: 'DELETE', path: attacker.path(`configmaps/c-${n}`) }, n);
    },
  },
];
