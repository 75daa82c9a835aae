import type { ApiObject } from '../../machinery/api-object.js';
import { serverContext } from '../../machinery/internal-context.js';
import type { RequestContext } from '../../machinery/request-context.js';
import { decode } from '../../machinery/schema/index.js';
import { StatusError } from '../../machinery/status-error.js';
import type { GroupContext } from '../../registry/group-context.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { Store } from '../../registry/store.js';
import { IpRange } from './service/allocation/ip-range.js';

const serviceName = 'kubernetes';
const defaultSecurePort = 6443;

/**
 * Creates what every cluster has, where it is absent: the namespaces and the service that leads to the API server,
 * under the first address of the range. Safe for many processes that start at once. `securePort` is the port that the
 * API is served on.
 */
export async function ensureSystemObjects(context: GroupContext, securePort = defaultSecurePort): Promise<void> {
  const { names } = context;
  const namespaces = ['default', names.systemNamespace, names.publicNamespace, names.nodeLeaseNamespace];
  for (const name of namespaces) {
    await ensure(context, 'namespaces', { metadata: { name } });
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
    await ensure(context, 'services', service({ clusterIP }));
  } catch (error) {
    // Another service has the address, from before this one: any other will do.
    if (!(error instanceof StatusError && error.reason === 'Invalid')) throw error;
    await ensure(context, 'services', service({}));
  }
}

async function ensure(context: GroupContext, resourceName: string, body: ApiObject): Promise<void> {
  const resource = context.registry.find('', 'v1', resourceName);
  if (resource === undefined) throw new Error(`the resource ${resourceName} is not registered`);
  const { name = '', namespace = '' } = body.metadata;
  const storage = context.storage;
  if ((await storage.get({ resource: resource.storageResource, namespace, name })) !== undefined) return;
  const object = decode(resource.served.type, body).value as ApiObject;
  resource.definition.strategy.applyDefaults?.(object);
  const store = new Store(resource, storage, context.clock);
  try {
    await store.create(systemRequest(resource, body, context), object, {
      dryRun: false,
      validate: () => Promise.resolve(),
    });
  } catch (error) {
    if (!(error instanceof StatusError && error.reason === 'AlreadyExists')) throw error;
  }
}

/** The server's own request, which no client sent. */
function systemRequest({ definition, served }: ServedResource, body: ApiObject, context: GroupContext): RequestContext {
  const { name = '', namespace = '' } = body.metadata;
  return serverContext(context.clock.now(), undefined, {
    isResourceRequest: true,
    path: '',
    verb: 'create',
    apiPrefix: 'api',
    apiGroup: definition.group,
    apiVersion: served.version,
    namespace,
    resource: definition.resource,
    subresource: '',
    name,
    parts: [definition.resource],
  });
}
