import type { Service } from '../../../objects/apis/core/v1/service.types.js';
import type { EndpointSlice } from '../../../objects/apis/discovery/v1/endpoint-slice.types.js';
import { sliceView, targetsOf } from '../rules/endpoint-view.js';
import type { Family } from '../rules/family.js';
import type { ServiceRules, SetName } from '../rules/rule-types.js';
import { serviceRules } from '../rules/service-rules.js';
import { servicePortsOf } from '../rules/service-view.js';
import { usableTargets } from '../rules/usable-targets.js';

/** A service with one port, `http` (TCP, 80 to 8080), and the fields that a test sets. */
export function sampleService(spec: object = {}, ingress: readonly object[] = []): Service {
  return {
    metadata: { namespace: 'web', name: 'shop', uid: 'u-shop' },
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.96.0.7',
      clusterIPs: ['10.96.0.7'],
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
      ...spec,
    },
    status: { loadBalancer: { ingress } },
  } as unknown as Service;
}

/** An endpoint on a node, ready if nothing else is said. */
export function sampleEndpoint(address: string, nodeName: string, more: object = {}): object {
  return { addresses: [address], nodeName, conditions: { ready: true, serving: true, terminating: false }, ...more };
}

/** The conditions of a pod that ends and still answers. */
export const ending = { conditions: { ready: false, serving: true, terminating: true } };

/** A slice of the sample service. */
export function sampleSlice(endpoints: readonly object[], more: object = {}): EndpointSlice {
  return {
    metadata: { namespace: 'web', name: 'shop-1', uid: 'u-1', labels: { 'kubernetes.io/service-name': 'shop' } },
    addressType: 'IPv4',
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    endpoints,
    ...more,
  } as unknown as EndpointSlice;
}

/**
 * The entries of a service in the table of the node `here`, which is in the zone `east` and has the address 192.0.2.1.
 */
export function rulesOf(service: Service, slices: readonly EndpointSlice[], family: Family = 'IPv4'): ServiceRules {
  const views = slices.flatMap((slice) => {
    const view = sliceView(slice);
    return view?.family === family ? [view] : [];
  });
  const ports = servicePortsOf(service, family).map((port) => ({
    service: 'web/shop',
    port,
    targets: usableTargets(targetsOf(views, port), port, { name: 'here', zone: 'east' }),
  }));
  const nodeIP = family === 'IPv4' ? '192.0.2.1' : '2001:db8::1';
  return serviceRules(ports, { family, nodeName: 'here', nodeIP, masqueradeMark: 0x4000 });
}

/** The elements of a set as lines. */
export function elementsOf({ elements }: ServiceRules, set: SetName): string[] {
  return elements.flatMap((each) =>
    each.set === set ? [each.value === '' ? each.key : `${each.key} : ${each.value}`] : [],
  );
}
