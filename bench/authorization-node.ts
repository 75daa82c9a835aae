import { parseArgs } from 'node:util';
import type { ApiObject } from '../src/base/machinery/api-object.js';
import { attributesOf } from '../src/base/machinery/authorizer.js';
import { vendorNames } from '../src/base/machinery/vendor.js';
import type { Pod } from '../src/objects/apis/core/v1/pod.types.js';
import { NodeAuthorizer } from '../src/server/authorization/node/node.authorizer.js';
import { NodeGraph } from '../src/server/authorization/node/node-graph.js';
import { nodeRules } from '../src/server/authorization/node/node-mode.js';
import { podReferences, referenceKey } from '../src/server/authorization/node/pod-references.js';
import { parseRequestInfo } from '../src/server/endpoints/request-info/request-info.js';

/*
 * Decisions of the mode Node for a large cluster: by default 50,000 pods on 5,000 nodes in 1,000 namespaces, each with an
 * account, two secrets, two config maps and, every fifth, a claim with a volume and its secret; one node has the 500 pods
 * that are the most it can have. Prints one JSON line per case: memory of the graph, processor time of a change, time per
 * decision (p50, p99 by the clock) and processor time per decision. Run with --expose-gc.
 */

const { values: flags } = parseArgs({
  options: {
    nodes: { type: 'string', default: '5000' },
    pods: { type: 'string', default: '50000' },
    decisions: { type: 'string', default: '200000' },
  },
});
const [nodeCount, podCount, decisions] = [Number(flags.nodes), Number(flags.pods), Number(flags.decisions)];
const namespaceCount = 1000;
const crowded = 500;
const names = vendorNames('k8s.io');
const mirror = `${names.labelPrefix}/config.mirror`;

function podJson(i: number, nodeName: string): string {
  return JSON.stringify({
    metadata: { name: `pod-${i}`, namespace: `ns-${i % namespaceCount}`, labels: { app: 'a' } },
    spec: {
      nodeName,
      serviceAccountName: 'default',
      imagePullSecrets: [{ name: 'pull' }],
      containers: [
        {
          name: 'c',
          image: 'registry.example.com/a:1',
          env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: `settings-${i % 50}`, key: 'a' } } }],
          volumeMounts: [{ name: 'own', mountPath: '/own' }],
        },
      ],
      volumes: [
        { name: 'own', secret: { secretName: `secret-${i}` } },
        { name: 'ca', projected: { sources: [{ configMap: { name: 'root-ca' } }] } },
        ...(i % 5 === 0 ? [{ name: 'data', persistentVolumeClaim: { claimName: `claim-${i}` } }] : []),
      ],
    },
    status: { phase: 'Running' },
  });
}

function show(line: object): void {
  console.log(JSON.stringify(line));
}

const collect = (globalThis as { gc?: () => void }).gc ?? (() => undefined);
const graph = new NodeGraph();
function set(i: number, node: string): void {
  const pod = JSON.parse(podJson(i, node)) as Pod & ApiObject;
  graph.setPod(`ns-${i % namespaceCount}/pod-${i}`, podReferences(pod, mirror));
}

collect();
const before = process.memoryUsage().heapUsed;
for (let i = 0; i < podCount; i++) {
  set(i, i < crowded ? 'crowded' : `node-${i % nodeCount}`);
  if (i % 5 !== 0) continue;
  const namespace = `ns-${i % namespaceCount}`;
  graph.setVolume(`pv-${i}`, {
    claim: referenceKey('claim', namespace, `claim-${i}`),
    secrets: [referenceKey('secret', namespace, `volume-secret-${i}`)],
  });
}
collect();
const mib = (process.memoryUsage().heapUsed - before) / 2 ** 20;
show({ what: 'memory', heapMiB: Number(mib.toFixed(1)), ...graph.sizes });

/** CPU time of `run` in microseconds per call. */
function cpuUsEach(calls: number, run: (i: number) => void): number {
  const began = process.cpuUsage();
  for (let i = 0; i < calls; i++) run(i);
  const { user, system } = process.cpuUsage(began);
  return Number(((user + system) / calls).toFixed(2));
}

const parseOnly = cpuUsEach(20_000, (i) => JSON.parse(podJson(i + crowded, `node-${i % nodeCount}`)));
const unchanged = cpuUsEach(20_000, (i) => set(i + crowded, `node-${(i + crowded) % nodeCount}`));
const moved = cpuUsEach(20_000, (i) => set(i + crowded, `node-${(i + crowded + 1) % nodeCount}`));
cpuUsEach(20_000, (i) => set(i + crowded, `node-${(i + crowded) % nodeCount}`));
show({ what: 'change', parseUs: parseOnly, unchangedUs: unchanged, movedUs: moved });

const denied = Promise.resolve();
const authorizer = new NodeAuthorizer({
  graph,
  state: { lostForMs: 0, catchUp: () => denied },
  commonRules: nodeRules(names),
  names,
  maxLostMs: 1,
});

const last = crowded + 7 * nodeCount;
const cases: readonly (readonly [string, string, string])[] = [
  [
    'secret of a pod',
    `node-${last % nodeCount}`,
    `/api/v1/namespaces/ns-${last % namespaceCount}/secrets/secret-${last}`,
  ],
  [
    'secret of a volume',
    `node-${last % nodeCount}`,
    `/api/v1/namespaces/ns-${last % namespaceCount}/secrets/volume-secret-${last}`,
  ],
  ['common rule', 'node-1', '/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Dnode-1'],
  ['secret of the last of 500 pods', 'crowded', `/api/v1/namespaces/ns-${crowded - 1}/secrets/secret-${crowded - 1}`],
  ['secret of another node', 'node-1', `/api/v1/namespaces/ns-0/secrets/secret-0`],
  ['secret of another node, 500 pods', 'crowded', `/api/v1/namespaces/ns-500/secrets/secret-500`],
];
for (const [what, node, url] of cases) {
  const [path = '', query = ''] = url.split('?');
  const user = { name: `system:node:${node}`, uid: '', groups: ['system:nodes', 'system:authenticated'], extra: {} };
  const attributes = attributesOf(user, parseRequestInfo('GET', path, new URLSearchParams(query)));
  const answer = await authorizer.authorize(attributes);
  for (let i = 0; i < 20_000; i++) await authorizer.authorize(attributes);
  const times = new Float64Array(decisions);
  const began = process.cpuUsage();
  for (let i = 0; i < decisions; i++) {
    const start = process.hrtime.bigint();
    const asked = authorizer.authorize(attributes);
    if (asked instanceof Promise) await asked;
    times[i] = Number(process.hrtime.bigint() - start) / 1000;
  }
  const { user: own, system } = process.cpuUsage(began);
  times.sort();
  const at = (share: number): number => Number((times[Math.floor((decisions - 1) * share)] as number).toFixed(2));
  const cpuUs = Number(((own + system) / decisions).toFixed(2));
  show({ what, decision: answer.decision, p50Us: at(0.5), p99Us: at(0.99), cpuUsEach: cpuUs });
}
