// Measures how long the rules of 10,000 services with 100,000 endpoints take, and one change among them: the processor time of
// this program and that of nft, and the time that passes. As root, in a network namespace of its own: `npm run check:proxy-size`.
import { spawnSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { systemTimers } from '../../src/base/machinery/timers.js';
import { vendorNames } from '../../src/base/machinery/vendor.js';
import { Logger } from '../../src/base/observability/logger.js';
import { ClusterView } from '../../src/nodes/proxy/cluster-view.js';
import { ProxyHealth } from '../../src/nodes/proxy/health/proxy-health.js';
import { type KernelTable, kernelTable } from '../../src/nodes/proxy/nftables/kernel-table.js';
import { NftablesBackend } from '../../src/nodes/proxy/nftables/nftables-backend.js';
import { ProxyMetrics } from '../../src/nodes/proxy/proxy-metrics.js';
import { proxyNames } from '../../src/nodes/proxy/proxy-names.js';
import { sampleEndpoint, sampleService, sampleSlice } from '../../src/nodes/proxy/testing/samples.js';

const services = Number(process.argv[2] ?? 10_000);
const endpointsEach = 10;
const changes = 20;

let nftSeconds = 0;
/** Runs nft in a shell that measures the processor time of its programs. */
const table: KernelTable = {
  ...kernelTable('IPv4'),
  run: async (script) => {
    const { stderr, status } = spawnSync('bash', ['-c', 'TIMEFORMAT="%U %S"; time nft -f -'], { input: script });
    if (status !== 0) throw new Error(stderr.toString());
    const [user, system] = stderr.toString().trim().split(' ').map(Number);
    nftSeconds += (user ?? 0) + (system ?? 0);
  },
};

const names = proxyNames(vendorNames('k8s.io', 'kubernetes'));
const view: ClusterView = new ClusterView({
  names,
  families: ['IPv4'],
  onChange: (service) => backend.changed(service),
});
const backend = new NftablesBackend({
  options: {
    ...{
      nodeName: 'here',
      mode: 'nftables',
      networkPolicies: false,
      detectLocalMode: 'ClusterCIDR',
      clusterCidrs: ['10.128.0.0/9'],
    },
    ...{ podBridgeInterface: '', podInterfaceNamePrefix: '', masqueradeAll: false, masqueradeBit: 14 },
    ...{ nodePortAddresses: [], minSyncPeriodMs: 0, syncPeriodMs: 30_000, healthz: undefined, metrics: undefined },
  },
  names,
  view,
  tables: new Map([['IPv4', table]]),
  conntrack: { forgetStale: async () => 0 },
  node: () => undefined,
  serviceCidrs: () => ['10.96.0.0/12'],
  metrics: new ProxyMetrics(['IPv4']),
  health: new ProxyHealth(systemTimers, 60_000),
  timers: systemTimers,
  logger: new Logger('warn'),
  takeTriggers: () => [],
});

const metadata = (name: string) => ({
  ...{ namespace: 'load', name, uid: `u-${name}` },
  labels: { 'kubernetes.io/service-name': name },
});
const address = (base: number, index: number) => `${base}.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;

function putSlice(index: number, shift = 0): void {
  const name = `service-${index}`;
  const endpoints = Array.from({ length: endpointsEach }, (_, each) =>
    sampleEndpoint(address(10, 8_388_608 + index * endpointsEach + each + shift), each === 0 ? 'here' : 'there'),
  );
  view.putSlice({ ...sampleSlice(endpoints), metadata: metadata(name) } as Parameters<typeof view.putSlice>[0]);
}

async function measure(what: string, times: number, step: (index: number) => Promise<void> | void): Promise<void> {
  nftSeconds = 0;
  const began = performance.now();
  const before = process.cpuUsage();
  for (let index = 0; index < times; index++) {
    await step(index);
    if (!(await backend.sync())) throw new Error('the rules could not be written');
  }
  const { user, system } = process.cpuUsage(before);
  const each = (milliseconds: number) => `${(milliseconds / times).toFixed(1)} ms`;
  const parts = [each((user + system) / 1000), each(nftSeconds * 1000), each(performance.now() - began)];
  console.log(`${what}: ${parts[0]} of this program, ${parts[1]} of nft, ${parts[2]} in all`);
}

for (let index = 0; index < services; index++) {
  const clusterIP = address(10, 6_291_456 + index + 1);
  const service = sampleService({ clusterIP, clusterIPs: [clusterIP] });
  view.putService({ ...service, metadata: metadata(`service-${index}`) } as Parameters<typeof view.putService>[0]);
  putSlice(index);
}
console.log(`${services} services with ${services * endpointsEach} endpoints`);
await measure('all rules', 1, () => undefined);
await measure('all rules again', 1, distrust);
await measure('one endpoint of one service', changes, (index) => putSlice(index, 1_000_000));
await measure('a service less', changes, (index) => view.removeService(`u-service-${index}`));

/** The situation after somebody has removed the table. */
async function distrust(): Promise<void> {
  spawnSync('nft', ['flush', 'ruleset']);
  await backend.check();
}
