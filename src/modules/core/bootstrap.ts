import type { ApiObject } from '../../machinery/api-object.js';
import { StatusError } from '../../machinery/status-error.js';
import { ensureObject } from '../../registry/ensure-object.js';
import type { GroupContext } from '../../registry/group-context.js';
import { IpRange } from './service/allocation/ip-range.js';

const serviceName = 'kubernetes';
const defaultSecurePort = 6443;
const core = (resource: string) => ({ group: '', version: 'v1', resource });

/**
 * Creates what every cluster has, where it is absent: the namespaces and the service that leads to the API server,
 * under the first address of the range. Safe for many processes that start at once. `securePort` is the port that the
 * API is served on.
 */
export async function ensureSystemObjects(context: GroupContext, securePort = defaultSecurePort): Promise<void> {
  const { names } = context;
  const namespaces = ['default', names.systemNamespace, names.publicNamespace, names.nodeLeaseNamespace];
  for (const name of namespaces) {
    await ensureObject(context, core('namespaces'), { metadata: { name } });
  }
  await ensureApiService(context, securePort);
}

async function ensureApiService(context: GroupContext, securePort: number): Promise<void> {
  const clusterIP = new IpRange(context.serviceClusterIpRange).at(0);
  const service = (address: { clusterIP?: string }): ApiObject => ({
    metadata: {
      name: serviceName,
      namespace: 'default',
      labels: { component: 'apiserver', provider: 'kubernetes' },
    },
    spec: {
      ...address,
      type: 'ClusterIP',
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: securePort }],
    },
  });
  try {
    await ensureObject(context, core('services'), service({ clusterIP }));
  } catch (error) {
    // Another service has the address, from before this one: any other will do.
    if (!(error instanceof StatusError && error.reason === 'Invalid')) throw error;
    await ensureObject(context, core('services'), service({}));
  }
}
