import type { ApiObject } from '../../../../base/machinery/api-object.js';
import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';
import type { Service } from '../../../../objects/apis/core/v1/service.types.js';
import { canonicalIp } from '../../../../objects/apis/networking/v1/validation/ip-network.js';
import type { AllocationKind } from '../../../../objects/registry/allocation/allocations.js';

/** Storage resource of allocated node ports; no API shows it. */
export const nodePortResource = 'nodeports.internal';

/** Addresses are allocated by IPAddress objects, which clients can read. */
export function addressAllocations(names: VendorNames): AllocationKind {
  const group = groupName('networking', names);
  return {
    resource: `ipaddresses.${group}`,
    describe: (metadata, owner) => ({
      kind: 'IPAddress',
      apiVersion: `${group}/v1`,
      metadata: {
        ...metadata,
        labels: {
          [`ipaddress.${names.labelPrefix}/ip-family`]: metadata.name?.includes(':') ? 'IPv6' : 'IPv4',
          [`ipaddress.${names.labelPrefix}/managed-by`]: `ipallocator.${names.suffix}`,
        },
      },
      spec: { parentRef: { resource: 'services', namespace: owner.namespace, name: owner.name } },
    }),
    ownerOf(allocation) {
      const { parentRef } = (allocation.spec ?? {}) as { parentRef?: Record<string, string> };
      if (parentRef?.resource !== 'services' || parentRef.group) return undefined;
      return serviceKey({ namespace: parentRef.namespace ?? '', name: parentRef.name ?? '' });
    },
    holds: (service, name) => allocatedAddressesOf(service as unknown as Service).includes(name),
  };
}

/** Node ports are allocated by number, for all protocols. */
export const nodePortAllocations: AllocationKind = {
  resource: nodePortResource,
  describe: (metadata, owner) => ({
    kind: 'NodePortClaim',
    apiVersion: 'internal/v1',
    metadata,
    service: { namespace: owner.namespace, name: owner.name },
  }),
  ownerOf: (allocation: ApiObject) => serviceKey(allocation.service as { namespace: string; name: string }),
  holds: (service, name) => nodePortsOf(service as unknown as Service).has(Number(name)),
};

function serviceKey({ namespace, name }: { namespace: string; name: string }): ReturnType<AllocationKind['ownerOf']> {
  return { resource: 'services', namespace, name };
}

/** Addresses of the range that a service has, in canonical form. */
export function allocatedAddressesOf(service: Service): string[] {
  const { type, clusterIP, clusterIPs } = service.spec;
  if (type === 'ExternalName') return [];
  return (clusterIPs ?? [clusterIP ?? ''])
    .filter((address) => address !== '' && address !== 'None')
    .map((address) => canonicalIp(address) ?? address);
}

/** Node ports of a service, including the one for health checks. */
export function nodePortsOf(service: Service): Set<number> {
  const ports = new Set<number>();
  for (const { nodePort } of service.spec.ports ?? []) if (nodePort) ports.add(nodePort);
  if (service.spec.healthCheckNodePort) ports.add(service.spec.healthCheckNodePort);
  return ports;
}
