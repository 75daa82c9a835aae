import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import type { IPAddress } from '../../../objects/apis/networking/v1/service-cidr.types.js';
import { canonicalIp } from '../../../objects/apis/networking/v1/validation/ip-network.js';
import { createIfFree } from '../../../objects/registry/allocation/create-if-free.js';
import { readStored } from '../../../objects/registry/store/object-codec.js';
import type { ResourceStores } from '../../../objects/registry/store/resource-stores.js';

/**
 * Writes a deleted IPAddress again if a service still has the address; otherwise another service could get it. Does
 * nothing when another writer took it first. Throws a storage error: then the address stays free for others.
 *
 * @param resource storage resource of IPAddress objects
 */
export async function restoreAddress(
  { storage, registry, clock }: Pick<ResourceStores, 'storage' | 'registry' | 'clock'>,
  resource: string,
  { kind, apiVersion, metadata, spec }: IPAddress & ApiObject,
): Promise<void> {
  const { name = '', labels, annotations } = metadata;
  const parent = spec.parentRef;
  if (parent === undefined || parent.group || parent.resource !== 'services') return;
  const service = await storage.get({
    resource: 'services',
    namespace: parent.namespace ?? '',
    name: parent.name ?? '',
  });
  if (service === undefined || !hasAddress(await readStored(registry, service), name)) return;
  const restored: ApiObject = {
    kind,
    apiVersion,
    metadata: {
      name,
      creationTimestamp: formatTime(clock.now()),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec,
  };
  await createIfFree(storage, { resource, namespace: '', name }, restored);
}

function hasAddress(service: ApiObject, address: string): boolean {
  const { type, clusterIP, clusterIPs } = service.spec as {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly clusterIPs?: readonly string[];
  };
  return type !== 'ExternalName' && [clusterIP ?? '', ...(clusterIPs ?? [])].some((ip) => canonicalIp(ip) === address);
}
