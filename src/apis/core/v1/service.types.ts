import {
  always,
  bool,
  enumOf,
  type Infer,
  int32,
  intOrString,
  kind,
  list,
  map,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../machinery/schema/index.js';
import { condition } from '../../meta/v1/condition.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { protocol } from './container.types.js';

export const servicePort = struct('core.v1.ServicePort', {
  name: optional(1, string),
  protocol: optional(2, protocol, { default: 'TCP' }),
  appProtocol: pointer(6, string),
  port: required(3, int32),
  targetPort: always(4, intOrString),
  nodePort: optional(5, int32),
});
export type ServicePort = Infer<typeof servicePort>;

export const serviceType = enumOf('ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort');
export type ServiceType = Infer<typeof serviceType>;

export const serviceAffinity = enumOf('ClientIP', 'None');
export type ServiceAffinity = Infer<typeof serviceAffinity>;

export const serviceExternalTrafficPolicy = enumOf('Cluster', 'Local');
export type ServiceExternalTrafficPolicy = Infer<typeof serviceExternalTrafficPolicy>;

export const clientIPConfig = struct('core.v1.ClientIPConfig', {
  timeoutSeconds: pointer(1, int32),
});
export type ClientIPConfig = Infer<typeof clientIPConfig>;

export const sessionAffinityConfig = struct('core.v1.SessionAffinityConfig', {
  clientIP: pointer(1, clientIPConfig),
});
export type SessionAffinityConfig = Infer<typeof sessionAffinityConfig>;

export const ipFamily = enumOf('', 'IPv4', 'IPv6');
export type IPFamily = Infer<typeof ipFamily>;

export const ipFamilyPolicy = enumOf('PreferDualStack', 'RequireDualStack', 'SingleStack');
export type IPFamilyPolicy = Infer<typeof ipFamilyPolicy>;

export const serviceInternalTrafficPolicy = enumOf('Cluster', 'Local');
export type ServiceInternalTrafficPolicy = Infer<typeof serviceInternalTrafficPolicy>;

export const serviceSpec = struct('core.v1.ServiceSpec', {
  ports: optional(1, list(servicePort), mergedBy('port', 'protocol')),
  selector: optional(2, map(string), { mapType: 'atomic' }),
  clusterIP: optional(3, string),
  clusterIPs: optional(18, list(string)),
  type: optional(4, serviceType),
  externalIPs: optional(5, list(string)),
  sessionAffinity: optional(7, serviceAffinity),
  loadBalancerIP: optional(8, string),
  loadBalancerSourceRanges: optional(9, list(string)),
  externalName: optional(10, string),
  externalTrafficPolicy: optional(11, serviceExternalTrafficPolicy),
  healthCheckNodePort: optional(12, int32),
  publishNotReadyAddresses: optional(13, bool),
  sessionAffinityConfig: pointer(14, sessionAffinityConfig),
  ipFamilies: optional(19, list(ipFamily)),
  ipFamilyPolicy: pointer(17, ipFamilyPolicy),
  allocateLoadBalancerNodePorts: pointer(20, bool),
  loadBalancerClass: pointer(21, string),
  internalTrafficPolicy: pointer(22, serviceInternalTrafficPolicy),
  trafficDistribution: pointer(23, string),
});
export type ServiceSpec = Infer<typeof serviceSpec>;

export const loadBalancerIPMode = enumOf('Proxy', 'VIP');
export type LoadBalancerIPMode = Infer<typeof loadBalancerIPMode>;

export const portStatus = struct('core.v1.PortStatus', {
  port: required(1, int32),
  protocol: required(2, protocol),
  error: pointer(3, string),
});
export type PortStatus = Infer<typeof portStatus>;

export const loadBalancerIngress = struct('core.v1.LoadBalancerIngress', {
  ip: optional(1, string),
  hostname: optional(2, string),
  ipMode: pointer(3, loadBalancerIPMode),
  ports: optional(4, list(portStatus)),
});
export type LoadBalancerIngress = Infer<typeof loadBalancerIngress>;

export const loadBalancerStatus = struct('core.v1.LoadBalancerStatus', {
  ingress: optional(1, list(loadBalancerIngress)),
});
export type LoadBalancerStatus = Infer<typeof loadBalancerStatus>;

export const serviceStatus = struct('core.v1.ServiceStatus', {
  loadBalancer: always(1, loadBalancerStatus),
  conditions: optional(2, list(condition), mergedBy('type')),
});
export type ServiceStatus = Infer<typeof serviceStatus>;

export const service = kind(
  { group: '', version: 'v1', kind: 'Service', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, serviceSpec),
    status: always(3, serviceStatus),
  },
);
export type Service = Infer<typeof service>;

export const serviceList = listKind(service);
export type ServiceList = Infer<typeof serviceList>;
