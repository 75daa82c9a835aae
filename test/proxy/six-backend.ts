import { systemTimers } from '../../src/base/machinery/timers.js';
import { vendorNames } from '../../src/base/machinery/vendor.js';
import { Logger } from '../../src/base/observability/logger.js';
import { ClusterView } from '../../src/nodes/proxy/cluster-view.js';
import { ProxyHealth } from '../../src/nodes/proxy/health/proxy-health.js';
import { kernelTable } from '../../src/nodes/proxy/nftables/kernel-table.js';
import { NftablesBackend } from '../../src/nodes/proxy/nftables/nftables-backend.js';
import { ProxyMetrics } from '../../src/nodes/proxy/proxy-metrics.js';
import { proxyNames } from '../../src/nodes/proxy/proxy-names.js';
import { sampleEndpoint, sampleService, sampleSlice } from '../../src/nodes/proxy/testing/samples.js';

/** IPv6 addresses of services: a plain one, and one with session affinity. */
export const sixServices = { plain: 'fd00:96::29', sticky: 'fd00:96::30' } as const;

/**
 * Writes rules for IPv6 services without a server, whose services have one family. Both services have the endpoints
 * `fd00:244:1::2` here and `fd00:244:2::2` elsewhere, and node ports 30029 and 30030.
 */
export async function writeSixRules(): Promise<boolean> {
  const names = proxyNames(vendorNames('k8s.io', 'kubernetes'));
  const view: ClusterView = new ClusterView({
    names,
    families: ['IPv6'],
    onChange: (service) => backend.changed(service),
  });
  const backend = new NftablesBackend({
    options: {
      ...{
        nodeName: 'here',
        mode: 'nftables',
        networkPolicies: false,
        detectLocalMode: 'ClusterCIDR',
        clusterCidrs: ['fd00:244::/32'],
      },
      ...{ podBridgeInterface: '', podInterfaceNamePrefix: '', masqueradeAll: false, masqueradeBit: 14 },
      ...{ nodePortAddresses: [], minSyncPeriodMs: 0, syncPeriodMs: 30_000, healthz: undefined, metrics: undefined },
    },
    names,
    view,
    tables: new Map([['IPv6', kernelTable('IPv6')]]),
    conntrack: { forgetStale: async () => 0 },
    node: () => undefined,
    serviceCidrs: () => ['fd00:96::/112'],
    metrics: new ProxyMetrics(['IPv6']),
    health: new ProxyHealth(systemTimers, 60_000),
    timers: systemTimers,
    logger: new Logger('warn'),
    takeTriggers: () => [],
  });
  const endpoints = [sampleEndpoint('fd00:244:1::2', 'here'), sampleEndpoint('fd00:244:2::2', 'there')];
  for (const [name, clusterIP] of Object.entries(sixServices)) {
    const ports = [{ name: 'http', protocol: 'TCP', port: 80, nodePort: name === 'plain' ? 30_029 : 30_030 }];
    const affinity = name === 'plain' ? {} : { sessionAffinity: 'ClientIP' };
    const spec = { clusterIP, clusterIPs: [clusterIP], type: 'NodePort', ports, ...affinity };
    const labels = { 'kubernetes.io/service-name': name };
    const metadata = { namespace: 'six', name, uid: name, labels };
    view.putService({ ...sampleService(spec), metadata } as Parameters<typeof view.putService>[0]);
    const slice = sampleSlice(endpoints, { addressType: 'IPv6', metadata });
    view.putSlice(slice as Parameters<typeof view.putSlice>[0]);
  }
  return await backend.sync();
}
