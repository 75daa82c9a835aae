import {
  always,
  enumOf,
  type Infer,
  inline,
  int32,
  kind,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { protocol } from '../../core/v1/container.types.js';
import { typedLocalObjectReference } from '../../core/v1/reference.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const serviceBackendPort = struct(
  'networking.v1.ServiceBackendPort',
  {
    name: optional(1, string, { doc: 'Name of the port.' }),
    number: optional(2, int32, { doc: 'Number of the port.' }),
  },
  { mapType: 'atomic' },
);
export type ServiceBackendPort = Infer<typeof serviceBackendPort>;

export const ingressServiceBackend = struct('networking.v1.IngressServiceBackend', {
  name: required(1, string, { doc: 'Name of the service.' }),
  port: always(2, serviceBackendPort, { doc: 'Port of the service.' }),
});
export type IngressServiceBackend = Infer<typeof ingressServiceBackend>;

export const ingressBackend = struct('networking.v1.IngressBackend', {
  service: pointer(4, ingressServiceBackend, { doc: 'A service.' }),
  resource: pointer(3, typedLocalObjectReference, { doc: 'Another object that takes requests.' }),
});
export type IngressBackend = Infer<typeof ingressBackend>;

export const ingressTLS = struct('networking.v1.IngressTLS', {
  hosts: optional(1, list(string), { doc: 'Host names that the certificate is for.' }),
  secretName: optional(2, string, { doc: 'Secret with the certificate.' }),
});
export type IngressTLS = Infer<typeof ingressTLS>;

export const pathType = enumOf('Exact', 'ImplementationSpecific', 'Prefix');
export type PathType = Infer<typeof pathType>;

export const httpIngressPath = struct('networking.v1.HTTPIngressPath', {
  path: optional(1, string, { doc: 'Path to match.' }),
  pathType: required(3, pathType, { nullable: true, doc: 'Exact, Prefix or ImplementationSpecific.' }),
  backend: required(2, ingressBackend, { doc: 'Where requests go.' }),
});
export type HTTPIngressPath = Infer<typeof httpIngressPath>;

export const httpIngressRuleValue = struct('networking.v1.HTTPIngressRuleValue', {
  paths: required(1, list(httpIngressPath), { doc: 'Paths and where they lead.' }),
});
export type HTTPIngressRuleValue = Infer<typeof httpIngressRuleValue>;

export const ingressRuleValue = struct('networking.v1.IngressRuleValue', {
  http: pointer(1, httpIngressRuleValue, { doc: 'Rules by path.' }),
});
export type IngressRuleValue = Infer<typeof ingressRuleValue>;

export const ingressRule = struct(
  'networking.v1.IngressRule',
  {
    host: optional(1, string, { doc: 'Host name; * for its first part matches any. Empty for all hosts.' }),
    ingressRuleValue: inline(2, ingressRuleValue),
  },
  { doc: 'Rules of one host.' },
);
export type IngressRule = Infer<typeof ingressRule>;

export const ingressSpec = struct(
  'networking.v1.IngressSpec',
  {
    ingressClassName: pointer(4, string, { doc: 'Class of the controller that does it.' }),
    defaultBackend: pointer(1, ingressBackend, { doc: 'Where requests go that no rule matches.' }),
    tls: optional(2, list(ingressTLS), { doc: 'Hosts with certificates.' }),
    rules: optional(3, list(ingressRule), { doc: 'Rules by host.' }),
  },
  { doc: 'Which requests go where.' },
);
export type IngressSpec = Infer<typeof ingressSpec>;

export const ingressPortStatus = struct('networking.v1.IngressPortStatus', {
  port: required(1, int32),
  protocol: required(2, protocol),
  error: pointer(3, string),
});
export type IngressPortStatus = Infer<typeof ingressPortStatus>;

export const ingressLoadBalancerIngress = struct('networking.v1.IngressLoadBalancerIngress', {
  ip: optional(1, string),
  hostname: optional(2, string),
  ports: optional(4, list(ingressPortStatus)),
});
export type IngressLoadBalancerIngress = Infer<typeof ingressLoadBalancerIngress>;

export const ingressLoadBalancerStatus = struct('networking.v1.IngressLoadBalancerStatus', {
  ingress: optional(1, list(ingressLoadBalancerIngress)),
});
export type IngressLoadBalancerStatus = Infer<typeof ingressLoadBalancerStatus>;

export const ingressStatus = struct('networking.v1.IngressStatus', {
  loadBalancer: always(1, ingressLoadBalancerStatus, { doc: 'Addresses of the load balancer.' }),
});
export type IngressStatus = Infer<typeof ingressStatus>;

export const ingress = kind(
  { group: 'networking', version: 'v1', kind: 'Ingress', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, ingressSpec),
    status: always(3, ingressStatus),
  },
  { doc: 'Leads requests from outside to services by host and path.' },
);
export type Ingress = Infer<typeof ingress>;

export const ingressList = listKind(ingress);
export type IngressList = Infer<typeof ingressList>;
