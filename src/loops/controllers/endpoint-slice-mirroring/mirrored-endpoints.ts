import { isIP } from 'node:net';
import type { EndpointAddress, EndpointSubset } from '../../../objects/apis/core/v1/endpoints.types.js';
import type { Endpoint } from '../../../objects/apis/discovery/v1/endpoint-slice.types.js';
import type { PortGroup } from '../services/pack-slices.js';
import { type AddressFamily, familyOf, type PortAtPods } from '../services/service-pods.js';

export interface Mirrored {
  readonly groups: PortGroup[];
  /** Addresses that were left out: addresses that are not IP addresses, and addresses above the limit. */
  readonly invalid: number;
  readonly tooMany: number;
}

interface OpenGroup {
  readonly family: AddressFamily;
  readonly ports: readonly PortAtPods[];
  readonly endpoints: Map<string, Endpoint>;
}

/**
 * The content of Endpoints as endpoints of slices, by family and ports; of each subset at most `most` addresses, ready
 * ones first. An address that is both ready and not counts as ready.
 */
export function mirroredEndpoints(subsets: readonly EndpointSubset[], most: number): Mirrored {
  const groups = new Map<string, OpenGroup>();
  let invalid = 0;
  let tooMany = 0;
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    const named: PortAtPods[] = ports.map(({ name = '', port, protocol = 'TCP', appProtocol }) => ({
      name,
      port,
      protocol,
      ...(appProtocol === undefined ? {} : { appProtocol }),
    }));
    const key = JSON.stringify(named);
    let taken = 0;
    const all = [
      ...addresses.map((one) => ({ one, ready: true })),
      ...notReadyAddresses.map((one) => ({ one, ready: false })),
    ];
    for (const { one, ready } of all) {
      if (isIP(one.ip) === 0) invalid += 1;
      else if (taken >= most) tooMany += 1;
      else {
        const family = familyOf(one.ip);
        const group: OpenGroup = groups.get(family + key) ?? { family, ports: named, endpoints: new Map() };
        groups.set(family + key, group);
        const { uid, name, namespace } = one.targetRef ?? {};
        const identity = JSON.stringify([one.ip, one.hostname, namespace, name, uid]);
        if (group.endpoints.has(identity)) continue;
        group.endpoints.set(identity, endpointOf(one, ready));
        taken += 1;
      }
    }
  }
  const closed = [...groups.values()].map(({ endpoints, ...rest }) => ({
    ...rest,
    endpoints: [...endpoints.values()],
  }));
  return { groups: closed, invalid, tooMany };
}

function endpointOf({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname ? { hostname } : {}),
    ...(targetRef === undefined ? {} : { targetRef }),
    ...(nodeName === undefined ? {} : { nodeName }),
  };
}
