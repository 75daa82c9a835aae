import type { Service } from '../../../objects/apis/core/v1/service.types.js';

/** Whether a service has an address of its own or explicitly has none (`None`); an alias (ExternalName) has neither. */
export function needsClusterIp({ spec }: Service): boolean {
  return spec.type !== 'ExternalName';
}

/** Whether the service certainly has no address of its own. */
export function isHeadless({ spec }: Service): boolean {
  return (spec.clusterIPs?.[0] ?? spec.clusterIP) === 'None';
}

/** Whether every port of the service needs a node port. */
export function needsNodePorts({ spec }: Service): boolean {
  return spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);
}

/** Whether the ports of the service may have node ports. */
export function mayHaveNodePorts({ spec }: Service): boolean {
  return spec.type === 'NodePort' || spec.type === 'LoadBalancer';
}

/** Whether load balancers query each node for a pod of the service. */
export function needsHealthCheckPort({ spec }: Service): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
}

/** Whether traffic from outside the cluster can reach the service. */
export function isExternallyAccessible({ spec }: Service): boolean {
  if (spec.type === 'NodePort' || spec.type === 'LoadBalancer') return true;
  return spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0;
}
