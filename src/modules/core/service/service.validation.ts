import {
  duplicate,
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { validateLabels } from '../../../base/machinery/label-rules.js';
import { isDns1123Subdomain, isQualifiedName } from '../../../base/machinery/names.js';
import type { Service } from '../../../objects/apis/core/v1/service.types.js';
import { validateIp, validateNonSpecialIp } from '../../../objects/apis/core/v1/validation/ip-address.validation.js';
import { validatePortStatuses } from '../../../objects/apis/core/v1/validation/port-status.validation.js';
import { validateCidr } from '../../../objects/apis/networking/v1/validation/cidr.validation.js';
import { ipFamily } from '../../../objects/apis/networking/v1/validation/ip-network.js';
import { isExternallyAccessible, isHeadless, mayHaveNodePorts, needsHealthCheckPort } from './service.rules.js';
import { validateServicePorts } from './service-ports.validation.js';

export type IpFamilyName = 'IPv4' | 'IPv6';

const specPath = FieldPath.of('spec');
const clusterIPsPath = specPath.child('clusterIPs');
const nodeAgentPort = 10250;
const longestAffinitySeconds = 86_400;
const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const affinities = ['ClientIP', 'None'];
const policies = ['Cluster', 'Local'];
const familyPolicies = ['SingleStack', 'PreferDualStack', 'RequireDualStack'];

/** Broken rules of a service, in the order that clients of these messages know. */
export function validateService(
  object: Service,
  family: IpFamilyName,
  knownRanges: readonly string[] = [],
): FieldError[] {
  const errors: FieldError[] = [];
  const { spec } = object;
  if ((spec.ports ?? []).length === 0 && !isHeadless(object) && spec.type !== 'ExternalName') {
    errors.push(required(specPath.child('ports')));
  }
  validateType(object, errors);
  validateServicePorts(object, errors);
  if (spec.selector !== undefined) errors.push(...validateLabels(spec.selector, specPath.child('selector')));
  validateAffinity(object, errors);
  validateClusterIps(object, family, errors);
  spec.externalIPs?.forEach((ip, i) => {
    const path = specPath.child('externalIPs').index(i);
    const broken = validateIp(ip, path);
    errors.push(...(broken.length > 0 ? broken : validateNonSpecialIp(ip, path)));
  });
  if (!types.includes(spec.type ?? '')) errors.push(notSupported(specPath.child('type'), spec.type, types));
  validateNodePorts(object, errors);
  validateDuplicatePorts(object, errors);
  validateLoadBalancer(object, knownRanges, errors);
  validateTraffic(object, errors);
  return errors;
}

function validateType(object: Service, errors: FieldError[]): void {
  const { spec } = object;
  if (spec.type === 'LoadBalancer') {
    spec.ports?.forEach(({ port }, i) => {
      // An open port here would open every node's agent to the world.
      if (port !== nodeAgentPort) return;
      const detail = `may not expose port ${port} externally since it is used by kubelet`;
      errors.push(invalid(specPath.child('ports').index(i), port, detail));
    });
  }
  if (mayHaveNodePorts(object) && isHeadless(object)) {
    errors.push(invalid(clusterIPsPath.index(0), 'None', `may not be set to 'None' for ${spec.type} services`));
  }
  if (spec.type !== 'ExternalName') return;
  const detail = 'may not be set for ExternalName services';
  for (const field of ['clusterIPs', 'ipFamilies'] as const) {
    if ((spec[field] ?? []).length > 0) errors.push(forbidden(specPath.child(field), detail));
  }
  if (spec.ipFamilyPolicy !== undefined) errors.push(forbidden(specPath.child('ipFamilyPolicy'), detail));
  const path = specPath.child('externalName');
  const name = spec.externalName ?? '';
  // A trailing dot marks a complete name.
  const host = name.endsWith('.') ? name.slice(0, -1) : name;
  if (host === '') errors.push(required(path));
  else for (const m of isDns1123Subdomain(host)) errors.push(invalid(path, host, m));
}

function validateAffinity({ spec }: Service, errors: FieldError[]): void {
  const path = specPath.child('sessionAffinity');
  if (!spec.sessionAffinity) errors.push(required(path));
  else if (!affinities.includes(spec.sessionAffinity)) {
    errors.push(notSupported(path, spec.sessionAffinity, affinities));
  }
  if (spec.sessionAffinity !== 'ClientIP') return;
  const seconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds;
  const secondsPath = specPath.child('sessionAffinityConfig').child('clientIP').child('timeoutSeconds');
  if (seconds === undefined) errors.push(required(secondsPath, 'when session affinity type is ClientIP'));
  else if (seconds <= 0 || seconds > longestAffinitySeconds) {
    const detail = `must be greater than 0 and less than ${longestAffinitySeconds}`;
    errors.push(invalid(secondsPath, seconds, detail));
  }
}

function validateClusterIps(object: Service, family: IpFamilyName, errors: FieldError[]): void {
  const { spec } = object;
  const ips = spec.clusterIPs ?? [];
  if (spec.type === 'ExternalName') return;
  validateFamilies(object, family, errors);
  if (ips.length > 0 && !spec.clusterIP) {
    errors.push(invalid(clusterIPsPath, ips, 'must be empty when clusterIP is empty'));
    return;
  }
  if (ips.length > 0 && ips[0] !== spec.clusterIP) {
    errors.push(invalid(clusterIPsPath, ips, 'element [0] must match clusterIP'));
  }
  ips.forEach((ip, i) => {
    const path = clusterIPsPath.index(i);
    if (i > 0 && (ip === 'None' || ips[0] === 'None')) {
      errors.push(invalid(path, ip, 'None must be the first and only value'));
    } else if (ip !== 'None') {
      errors.push(...validateIp(ip, path));
    }
  });
  const hasTwoOfOne =
    ips.length === 2 && ips[0] !== 'None' && ipFamily(ips[0] as string) === ipFamily(ips[1] as string);
  if (ips.length > 2) errors.push(invalid(clusterIPsPath, ips, 'may only hold up to 2 values'));
  else if (hasTwoOfOne) {
    errors.push(invalid(clusterIPsPath, ips, 'may specify no more than one IP for each IP family'));
  }
}

function validateFamilies(object: Service, family: IpFamilyName, errors: FieldError[]): void {
  const { spec } = object;
  const policyPath = specPath.child('ipFamilyPolicy');
  const policy = spec.ipFamilyPolicy;
  const isOpen = isHeadless(object) && Object.keys(spec.selector ?? {}).length === 0;
  if (policy !== undefined && !familyPolicies.includes(policy)) {
    errors.push(notSupported(policyPath, policy, familyPolicies));
  } else if (policy === 'RequireDualStack' && !isOpen) {
    errors.push(invalid(policyPath, policy, 'this cluster is not configured for dual-stack services'));
  }
  const seen = new Set<string>();
  spec.ipFamilies?.forEach((name, i) => {
    const path = specPath.child('ipFamilies').index(i);
    if (name !== 'IPv4' && name !== 'IPv6') errors.push(notSupported(path, name, ['IPv4', 'IPv6']));
    else if (seen.has(name)) errors.push(duplicate(path, name));
    else if (name !== family && !isOpen) errors.push(invalid(path, name, 'not configured on this cluster'));
    seen.add(name);
  });
  if ((spec.ipFamilies ?? []).length > 2) {
    errors.push(invalid(specPath.child('ipFamilies'), spec.ipFamilies, 'may only hold up to 2 values'));
  }
}

function validateNodePorts({ spec }: Service, errors: FieldError[]): void {
  if (spec.type === 'ClusterIP') {
    spec.ports?.forEach(({ nodePort }, i) => {
      if (!nodePort) return;
      const path = specPath.child('ports').index(i).child('nodePort');
      errors.push(forbidden(path, "may not be used when `type` is 'ClusterIP'"));
    });
  }
  const seen = new Set<string>();
  spec.ports?.forEach(({ nodePort, protocol }, i) => {
    if (!nodePort) return;
    const key = `${protocol}/${nodePort}`;
    if (seen.has(key)) errors.push(duplicate(specPath.child('ports').index(i).child('nodePort'), nodePort));
    seen.add(key);
  });
}

function validateDuplicatePorts({ spec }: Service, errors: FieldError[]): void {
  const seen = new Set<string>();
  spec.ports?.forEach(({ port, protocol }, i) => {
    const key = `${protocol}/${port}`;
    if (seen.has(key)) errors.push(duplicate(specPath.child('ports').index(i), { protocol, port }));
    seen.add(key);
  });
}

function validateLoadBalancer({ spec }: Service, knownRanges: readonly string[], errors: FieldError[]): void {
  const isLoadBalancer = spec.type === 'LoadBalancer';
  const onlyThere = "may only be used when `type` is 'LoadBalancer'";
  const ranges = spec.loadBalancerSourceRanges ?? [];
  if (ranges.length > 0) {
    const path = specPath.child('LoadBalancerSourceRanges');
    if (!isLoadBalancer) errors.push(forbidden(path, onlyThere));
    // Proxies read them in their own ways; what was accepted before stays acceptable.
    ranges.forEach((range, i) => {
      if (!knownRanges.includes(range)) errors.push(...validateCidr(range.trim(), path.index(i)));
    });
  }
  const nodePortsPath = specPath.child('allocateLoadBalancerNodePorts');
  if (isLoadBalancer && spec.allocateLoadBalancerNodePorts === undefined) errors.push(required(nodePortsPath));
  if (!isLoadBalancer && spec.allocateLoadBalancerNodePorts !== undefined) {
    errors.push(forbidden(nodePortsPath, onlyThere));
  }
  if (spec.loadBalancerClass === undefined) return;
  const classPath = specPath.child('loadBalancerClass');
  if (!isLoadBalancer) errors.push(forbidden(classPath, onlyThere));
  for (const m of isQualifiedName(spec.loadBalancerClass)) errors.push(invalid(classPath, spec.loadBalancerClass, m));
}

function validateTraffic(object: Service, errors: FieldError[]): void {
  const { spec } = object;
  const externalPath = specPath.child('externalTrafficPolicy');
  const internalPath = specPath.child('internalTrafficPolicy');
  const checkPath = specPath.child('healthCheckNodePort');
  const countBefore = errors.length;
  const external = spec.externalTrafficPolicy;
  const checkPort = spec.healthCheckNodePort ?? 0;
  if (external && !policies.includes(external)) {
    errors.push(notSupported(externalPath, external, policies));
  }
  if (checkPort < 0) errors.push(invalid(checkPath, checkPort, 'HealthCheckNodePort must be not less than 0'));
  if (errors.length === countBefore) {
    if (external && !isExternallyAccessible(object)) {
      const detail = 'may only be set for externally-accessible services';
      errors.push(invalid(externalPath, external, detail));
    }
    if (checkPort !== 0 && !needsHealthCheckPort(object)) {
      const detail = 'HealthCheckNodePort can only be set on LoadBalancer service with ExternalTrafficPolicy=Local';
      errors.push(invalid(checkPath, checkPort, detail));
    }
  }
  const internal = spec.internalTrafficPolicy;
  if (internal !== undefined && !policies.includes(internal))
    errors.push(notSupported(internalPath, internal, policies));
  const distribution = spec.trafficDistribution;
  const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
  if (distribution !== undefined && !distributions.includes(distribution)) {
    errors.push(notSupported(specPath.child('trafficDistribution'), distribution, distributions));
  }
}

/** Broken rules of a changed service: an allocated address stays. */
export function validateServiceUpdate(object: Service, old: Service, family: IpFamilyName): FieldError[] {
  const errors: FieldError[] = [];
  const hadIps = old.spec.clusterIPs ?? [];
  const ips = object.spec.clusterIPs ?? [];
  if (object.spec.type !== 'ExternalName' && old.spec.type !== 'ExternalName' && hadIps.length > 0) {
    const path = clusterIPsPath.index(0);
    if (ips[0] !== hadIps[0]) errors.push(invalid(path, ips, 'may not change once set'));
    const hadFamilies = old.spec.ipFamilies?.[0];
    const families = object.spec.ipFamilies?.[0];
    if (hadFamilies !== undefined && families !== undefined && hadFamilies !== families) {
      errors.push(invalid(specPath.child('ipFamilies').index(0), object.spec.ipFamilies, 'may not change once set'));
    }
  }
  if (object.spec.type === 'LoadBalancer' && old.spec.type === 'LoadBalancer') {
    if (object.spec.loadBalancerClass !== old.spec.loadBalancerClass) {
      const path = specPath.child('loadBalancerClass');
      errors.push(invalid(path, object.spec.loadBalancerClass, 'may not change once set'));
    }
  }
  const keepsCheck = needsHealthCheckPort(object) && needsHealthCheckPort(old) && old.spec.healthCheckNodePort;
  if (keepsCheck && object.spec.healthCheckNodePort !== old.spec.healthCheckNodePort) {
    const path = specPath.child('healthCheckNodePort');
    errors.push(invalid(path, object.spec.healthCheckNodePort ?? 0, 'field is immutable'));
  }
  errors.push(...validateService(object, family, old.spec.loadBalancerSourceRanges));
  return errors;
}

/** Broken rules of the observed load balancers. */
export function validateServiceStatus(object: Service): FieldError[] {
  const errors: FieldError[] = [];
  const listPath = FieldPath.of('status', 'loadBalancer', 'ingress');
  const ingresses = object.status.loadBalancer.ingress ?? [];
  if (ingresses.length > 0 && object.spec.type !== 'LoadBalancer') {
    errors.push(forbidden(listPath, "may only be used when `spec.type` is 'LoadBalancer'"));
  }
  ingresses.forEach(({ ip, hostname, ipMode, ports = [] }, i) => {
    const path = listPath.index(i);
    errors.push(...validatePortStatuses(ports, path.child('ports')));
    if (ip && ipFamily(ip) === undefined) errors.push(invalid(path.child('ip'), ip, 'must be a valid IP address'));
    if (ipMode !== undefined) {
      if (!ip) errors.push(forbidden(path.child('ipMode'), 'may not be specified when `ip` is not set'));
      if (ipMode !== 'VIP' && ipMode !== 'Proxy') {
        errors.push(notSupported(path.child('ipMode'), ipMode, ['VIP', 'Proxy']));
      }
    }
    if (!hostname) return;
    const hostPath = path.child('hostname');
    for (const m of isDns1123Subdomain(hostname)) errors.push(invalid(hostPath, hostname, m));
    if (ipFamily(hostname) !== undefined) {
      errors.push(invalid(hostPath, hostname, 'must be a DNS name, not an IP address'));
    }
  });
  return errors;
}
