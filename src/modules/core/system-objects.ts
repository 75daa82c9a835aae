import type { ApiObject } from '../../base/machinery/api-object.js';
import { serviceRangesOf } from '../../base/machinery/service-ranges.js';
import { StatusError } from '../../base/machinery/status-error.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { ServiceRanges } from '../../objects/registry/allocation/service-ranges.js';
import { ensureObject } from '../../objects/registry/store/ensure-object.js';
import type { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { IpRange } from './service/allocation/ip-range.js';

const serviceName = 'kubernetes';
const defaultSecurePort = 6443;
const core = (resource: string) => ({ group: '', resource });

/** The dependencies of {@link ensureSystemObjects}. */
export interface SystemDependencies {
  readonly names: VendorNames;
  readonly stores: ResourceStores;
  readonly ranges: ServiceRanges;
}

/**
 * Creates the objects that every cluster has, if they are missing: the namespaces, and the service for the API server
 * with the first address of the first range. Safe for many processes that start at once. `securePort` is the port that serves
 * the API.
 */
export async function ensureSystemObjects(
  { names, stores, ranges }: SystemDependencies,
  securePort = defaultSecurePort,
): Promise<void> {
  const manager = names.fieldManagers.server;
  const namespaces = ['default', names.systemNamespace, names.publicNamespace, names.nodeLeaseNamespace];
  for (const name of namespaces) {
    await ensureObject(stores, core('namespaces'), { metadata: { name } }, manager);
  }
  const clusterIP = new IpRange(serviceRangesOf(ranges.serviceClusterIpRange)[0] ?? '').at(0);
  await ensureApiService({ stores, manager, clusterIP, securePort });
}

interface ApiServiceOptions {
  readonly stores: ResourceStores;
  readonly manager: string;
  readonly clusterIP: string;
  readonly securePort: number;
}

async function ensureApiService({ stores, manager, clusterIP, securePort }: ApiServiceOptions): Promise<void> {
  const service = (address: { clusterIP?: string }): ApiObject => ({
    metadata: {
      name: serviceName,
      namespace: 'default',
      labels: { component: 'apiserver', provider: 'kubernetes' },
    },
    spec: {
      ...address,
      type: 'ClusterIP',
      ipFamilyPolicy: 'SingleStack',
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: securePort }],
    },
  });
  try {
    await ensureObject(stores, core('services'), service({ clusterIP }), manager);
  } catch (error) {
    // Another, older service has the address, so any other address will do.
    if (!(error instanceof StatusError && error.reason === 'Invalid')) throw error;
    await ensureObject(stores, core('services'), service({}), manager);
  }
}
