import type { Service } from '../../../objects/apis/core/v1/service.types.js';
import { isExternallyAccessible } from './service.rules.js';

const affinitySeconds = 3 * 60 * 60;

/** Fills in the defaults of a service: the type ClusterIP, TCP, the same target port, and no session affinity. */
export function applyServiceDefaults(object: Service): void {
  const { spec } = object;
  spec.type ||= 'ClusterIP';
  spec.sessionAffinity ||= 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP') {
    const { clientIP, ...rest } = spec.sessionAffinityConfig ?? {};
    spec.sessionAffinityConfig = {
      ...rest,
      clientIP: { ...clientIP, timeoutSeconds: clientIP?.timeoutSeconds ?? affinitySeconds },
    };
  }
  for (const port of spec.ports ?? []) {
    port.protocol ||= 'TCP';
    if (port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port;
  }
  if (isExternallyAccessible(object)) spec.externalTrafficPolicy ||= 'Cluster';
  if (spec.type !== 'ExternalName') spec.internalTrafficPolicy ??= 'Cluster';
  if (spec.type === 'LoadBalancer') {
    spec.allocateLoadBalancerNodePorts ??= true;
    for (const ingress of object.status.loadBalancer.ingress ?? []) {
      if (ingress.ip) ingress.ipMode ??= 'VIP';
    }
  }
}
