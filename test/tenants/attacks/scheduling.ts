import type { Attack } from '../attack.js';
import { filler, pod, times } from './bodies.js';

const expressions = (n: number, count: number) =>
  times(count, (i) => ({ key: `k${i}`, operator: 'In', values: [`v${n % 7}-${i}`] }));

/** Pods that are expensive to schedule. */
export const scheduling: readonly Attack[] = [
  {
    name: 'affinity',
    about: '510 pods of 2 MB with 3,500 terms of ten expressions against other pods',
    most: 510,
    parallel: 8,
    act: (attacker, n) => {
      const term = (i: number) => ({
        topologyKey: 'kubernetes.io/hostname',
        labelSelector: { matchExpressions: expressions(n + i, 10) },
      });
      const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: times(3500, term) } };
      return attacker.create('pods', pod(`p-${n}`, { affinity }), n);
    },
  },
  {
    name: 'affinity-running',
    about: '100 pods that run and keep 500 terms of three expressions each against all others',
    most: 100,
    parallel: 4,
    act: (attacker, n) => {
      const term = (i: number) => ({
        topologyKey: 'kubernetes.io/hostname',
        namespaceSelector: {},
        labelSelector: { matchExpressions: expressions(n + i, 3) },
      });
      const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: times(500, term) } };
      const where = attacker.target.hasScheduler ? {} : { nodeName: 'sim-0' };
      return attacker.create('pods', pod(`p-${n}`, { affinity, ...where }), n);
    },
  },
  {
    name: 'constraints',
    about: '2,000 pods with 100 spread constraints, 200 tolerations and 300 terms about nodes',
    most: 2000,
    parallel: 8,
    act: (attacker, n) => {
      const topologySpreadConstraints = times(100, (i) => ({
        maxSkew: 1,
        topologyKey: `example.com/zone-${i}`,
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchExpressions: expressions(n, 5) },
      }));
      const tolerations = times(200, (i) => ({ key: `t-${i}`, operator: 'Exists' }));
      const nodeSelectorTerms = times(300, () => ({ matchExpressions: expressions(n, 5) }));
      const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
      const spec = { topologySpreadConstraints, tolerations, affinity: { nodeAffinity } };
      return attacker.create('pods', pod(`p-${n}`, spec), n);
    },
  },
  {
    name: 'pending-pods',
    about: '5,000 pods that no node has room for, whose annotations change all the time',
    parallel: 16,
    act: async (attacker, n) => {
      const requests = { cpu: '1000', memory: '1Ti' };
      const containers = [{ name: 'c', image: 'x', resources: { requests } }];
      if (n < 5000) return attacker.create('pods', pod(`p-${n}`, { containers }), n);
      const body = { metadata: { annotations: { n: filler(2000, n) } } };
      return attacker.send({ method: 'PATCH', path: attacker.path(`pods/p-${n % 5000}`), body }, n);
    },
  },
  {
    name: 'pod-churn',
    about: 'pods that are made and deleted at once, as fast as the server lets them',
    act: async (attacker, n) => {
      await attacker.create('pods', pod(`p-${n}`, {}), n);
      await attacker.send({ method: 'DELETE', path: attacker.path(`pods/p-${n}`) }, n);
    },
  },
  {
    name: 'claims',
    about: '3,000 claims of storage that pods wait for',
    most: 6000,
    parallel: 8,
    act: (attacker, n) => {
      const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
      if (n % 2 === 0)
        return attacker.create('persistentvolumeclaims', { metadata: { name: `c-${n}` }, spec: claim }, n);
      const volumes = times(20, (i) => ({ name: `v-${i}`, persistentVolumeClaim: { claimName: `c-${n - 1}` } }));
      return attacker.create('pods', pod(`p-${n}`, { volumes }), n);
    },
  },
];
