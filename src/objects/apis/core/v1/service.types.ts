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
} from '../../../../base/machinery/schema/index.js';
import { condition } from '../../meta/v1/condition.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { protocol } from './container.types.js';

export const servicePort = struct(
  'core.v1.ServicePort',
  {
    name: optional(1, string, { doc: 'Unique within the service; needed for more than one port.' }),
    protocol: optional(2, protocol, { default: 'TCP', doc: 'TCP, UDP or SCTP.' }),
    appProtocol: pointer(6, string, { doc: 'Protocol of the application.' }),
    port: required(3, int32, { doc: 'Port of the service.' }),
    targetPort: always(4, intOrString, { doc: 'Port of the pods, or its name.' }),
    nodePort: optional(5, int32, { doc: 'Port of every node that leads here.' }),
  },
  { doc: 'A port of a service.' },
);
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

export const serviceSpec = struct(
  'core.v1.ServiceSpec',
  {
    ports: optional(1, list(servicePort), { ...mergedBy('port', 'protocol'), doc: 'Ports of the service.' }),
    selector: optional(2, map(string), { mapType: 'atomic', doc: 'Labels of the pods that requests go to.' }),
    clusterIP: optional(3, string, { doc: 'Address inside the cluster; None for no address.' }),
    clusterIPs: optional(18, list(string), { doc: 'Addresses inside the cluster, one per family.' }),
    type: optional(4, serviceType, { doc: 'ClusterIP, NodePort, LoadBalancer or ExternalName.' }),
    externalIPs: optional(5, list(string), { doc: 'Further addresses that lead here.' }),
    sessionAffinity: optional(7, serviceAffinity, { doc: 'Whether requests of one client go to the same pod.' }),
    loadBalancerIP: optional(8, string, { doc: 'Wanted address of the load balancer.' }),
    loadBalancerSourceRanges: optional(9, list(string), { doc: 'Clients that the load balancer lets in.' }),
    externalName: optional(10, string, { doc: 'Name that lookups are referred to.' }),
    externalTrafficPolicy: optional(11, serviceExternalTrafficPolicy, {
      doc: 'Cluster or Local: where requests from outside may go.',
    }),
    healthCheckNodePort: optional(12, int32, { doc: "Port for the load balancer's checks of nodes." }),
    publishNotReadyAddresses: optional(13, bool, { doc: 'Show pods that are not ready as well.' }),
    sessionAffinityConfig: pointer(14, sessionAffinityConfig, { doc: 'Settings of the session affinity.' }),
    ipFamilies: optional(19, list(ipFamily), { doc: 'IPv4 and IPv6, in order.' }),
    ipFamilyPolicy: pointer(17, ipFamilyPolicy, { doc: 'Whether one or two families are used.' }),
    allocateLoadBalancerNodePorts: pointer(20, bool, { doc: 'Whether load balancers need ports of the nodes.' }),
    loadBalancerClass: pointer(21, string, { doc: 'Which implementation makes the load balancer.' }),
    internalTrafficPolicy: pointer(22, serviceInternalTrafficPolicy, {
      doc: 'Cluster or Local: where requests from inside may go.',
    }),
    trafficDistribution: pointer(23, string, { doc: 'Preference for near pods.' }),
  },
  { doc: 'How a service is reached and where it leads.' },
);
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

export const serviceStatus = struct(
  'core.v1.ServiceStatus',
  {
    loadBalancer: always(1, loadBalancerStatus, { doc: 'Addresses of the load balancer.' }),
    conditions: optional(2, list(condition), {
      ...mergedBy('type'),
      doc: 'Aspects of the state, each with its reason.',
    }),
  },
  { doc: 'What was made for a service.' },
);
export type ServiceStatus = Infer<typeof serviceStatus>;

export const service = kind(
  { group: '', version: 'v1', kind: 'Service', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, serviceSpec),
    status: always(3, serviceStatus),
  },
  { doc: 'One stable address for a changing set of pods.' },
);
export type Service = Infer<typeof service>;

export const serviceList = listKind(service);
export type ServiceList = Infer<typeof serviceList>;
