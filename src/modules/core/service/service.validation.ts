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
import { isDns1123Subdomain, isPortNumber, isQualifiedName } from '../../../base/machinery/names.js';
import type { Service } from '../../../objects/apis/core/v1/service.types.js';
import {
  validateNonSpecialIp,
  validatePlainIp,
} from '../../../objects/apis/core/v1/validation/ip-address.validation.js';
import { validateCidr } from '../../../objects/apis/networking/v1/validation/cidr.validation.js';
import { ipFamily } from '../../../objects/apis/networking/v1/validation/ip-network.js';
import {
  isExternallyAccessible,
  isHeadless,
  mayHaveNodePorts,
  needsClusterIp,
  needsHealthCheckPort,
} from './service.rules.js';
import {
  type IpFamilyName,
  validateAddresses,
  validateClusterIps,
  validateKeptAddresses,
} from './service-addresses.validation.js';
import { validateServicePorts } from './service-ports.validation.js';

const specPath = FieldPath.of('spec');
const clusterIPsPath = specPath.child('clusterIPs');
const longestAffinitySeconds = 86_400;
const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const affinities = ['ClientIP', 'None'];
const policies = ['Cluster', 'Local'];
const sourceRangesKey = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const onlyThere = "may only be used when `type` is 'LoadBalancer'";

/** Validates a service. Errors are in the order that clients know. */
export function validateService(object: Service, families: readonly IpFamilyName[], old?: Service): FieldError[] {
  // Addresses are validated first: if they have errors, only those are reported.
  const addressErrors = needsClusterIp(object) ? validateAddresses(object, undefined, families) : [];
  if (addressErrors.length > 0) return addressErrors;
  const errors: FieldError[] = [];
  const { spec } = object;
  if ((spec.ports ?? []).length === 0 && !isHeadless(object) && spec.type !== 'ExternalName') {
    errors.push(required(specPath.child('ports')));
  }
  validateType(object, errors);
  validateServicePorts(object, errors);
  if (spec.selector !== undefined) errors.push(...validateLabels(spec.selector, specPath.child('selector')));
  validateAffinity(object, errors);
  validateClusterIps(object, errors);
  const knownIPs = old?.spec.externalIPs ?? [];
  spec.externalIPs?.forEach((ip, i) => {
    const path = specPath.child('externalIPs').index(i);
    const broken = validatePlainIp(ip, path, knownIPs);
    errors.push(...(broken.length > 0 ? broken : validateNonSpecialIp(ip, path)));
  });
  if (!types.includes(spec.type ?? '')) errors.push(notSupported(specPath.child('type'), spec.type, types));
  validateNodePorts(object, errors);
  validateDuplicatePorts(object, errors);
  validateLoadBalancer(object, old, errors);
  validateTraffic(object, errors);
  return errors;
}

function validateType(object: Service, errors: FieldError[]): void {
  const { spec } = object;
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
    const path = specPath.child('ports').index(i).child('nodePort');
    if (seen.has(key)) {
      // A port that may not be set is not allocated either.
      const isForbidden = spec.type === 'ClusterIP';
      errors.push(
        isForbidden ? duplicate(path, nodePort) : invalid(path, nodePort, 'provided port is already allocated'),
      );
    }
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

function validateLoadBalancer(object: Service, old: Service | undefined, errors: FieldError[]): void {
  const { spec } = object;
  const isLoadBalancer = spec.type === 'LoadBalancer';
  validateSourceRanges(object, old, errors);
  const nodePortsPath = specPath.child('allocateLoadBalancerNodePorts');
  if (isLoadBalancer && spec.allocateLoadBalancerNodePorts === undefined) errors.push(required(nodePortsPath));
  if (!isLoadBalancer && spec.allocateLoadBalancerNodePorts !== undefined) {
    errors.push(forbidden(nodePortsPath, onlyThere));
  }
  if (spec.loadBalancerClass === undefined) return;
  const classPath = specPath.child('loadBalancerClass');
  if (!isLoadBalancer) errors.push(forbidden(classPath, onlyThere));
  else
    for (const m of isQualifiedName(spec.loadBalancerClass)) errors.push(invalid(classPath, spec.loadBalancerClass, m));
}

/**
 * Validates the clients that a load balancer lets in, in the field or in the annotation from before it. Proxies read
 * ranges in their own ways, so new values must be unambiguous; values once accepted stay valid.
 */
function validateSourceRanges({ metadata, spec }: Service, old: Service | undefined, errors: FieldError[]): void {
  const isLoadBalancer = spec.type === 'LoadBalancer';
  const ranges = spec.loadBalancerSourceRanges ?? [];
  if (ranges.length > 0) {
    const path = specPath.child('LoadBalancerSourceRanges');
    if (!isLoadBalancer) errors.push(forbidden(path, onlyThere));
    const known = (old?.spec.loadBalancerSourceRanges ?? []).map((range) => range.trim());
    ranges.forEach((range, i) => {
      if (!known.includes(range.trim())) errors.push(...validateCidr(range.trim(), path.index(i)));
    });
    return;
  }
  const text = metadata.annotations?.[sourceRangesKey];
  if (text === undefined) return;
  const path = FieldPath.of('metadata').child('annotations').key(sourceRangesKey);
  if (!isLoadBalancer) errors.push(forbidden(path, onlyThere));
  if (text.trim() === '' || text === old?.metadata.annotations?.[sourceRangesKey]) return;
  for (const range of text.split(',')) errors.push(...validateCidr(range.trim(), path));
}

function validateTraffic(object: Service, errors: FieldError[]): void {
  const { spec } = object;
  const externalPath = specPath.child('externalTrafficPolicy');
  const internalPath = specPath.child('internalTrafficPolicy');
  const checkPath = specPath.child('healthCheckNodePort');
  const external = spec.externalTrafficPolicy;
  const checkPort = spec.healthCheckNodePort ?? 0;
  if (external && !isExternallyAccessible(object)) {
    errors.push(invalid(externalPath, external, 'may only be set for externally-accessible services'));
  } else if (external && !policies.includes(external)) {
    errors.push(notSupported(externalPath, external, policies));
  }
  if (checkPort !== 0) {
    if (!needsHealthCheckPort(object)) {
      const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
      errors.push(invalid(checkPath, checkPort, detail));
    } else for (const m of isPortNumber(checkPort)) errors.push(invalid(checkPath, checkPort, m));
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

/** Validates a changed service: allocated addresses must stay, but for the second one, which comes and goes with the policy. */
export function validateServiceUpdate(object: Service, old: Service, families: readonly IpFamilyName[]): FieldError[] {
  const addressErrors = needsClusterIp(object) ? validateAddresses(object, old, families) : [];
  if (addressErrors.length > 0) return addressErrors;
  const errors = needsClusterIp(object) && needsClusterIp(old) ? validateKeptAddresses(object, old) : [];
  if (object.spec.type === 'LoadBalancer' && old.spec.type === 'LoadBalancer') {
    if (object.spec.loadBalancerClass !== old.spec.loadBalancerClass) {
      const path = specPath.child('loadBalancerClass');
      errors.push(invalid(path, object.spec.loadBalancerClass, 'may not change once set'));
    }
  }
  const keepsCheck = needsHealthCheckPort(object) && needsHealthCheckPort(old) && old.spec.healthCheckNodePort;
  if (keepsCheck && object.spec.healthCheckNodePort !== old.spec.healthCheckNodePort) {
    const path = specPath.child('healthCheckNodePort');
    errors.push(forbidden(path, 'field is immutable'));
  }
  errors.push(...validateService(object, families, old));
  return errors;
}

/** Validates the observed load balancers. Addresses of the old status stay valid. */
export function validateServiceStatus(object: Service, old: Service): FieldError[] {
  const known = (old.status.loadBalancer.ingress ?? []).map(({ ip }) => ip);
  const errors: FieldError[] = [];
  const listPath = FieldPath.of('status', 'loadBalancer', 'ingress');
  const ingresses = object.status.loadBalancer.ingress ?? [];
  if (ingresses.length > 0 && object.spec.type !== 'LoadBalancer') {
    errors.push(forbidden(listPath, "may only be used when `spec.type` is 'LoadBalancer'"));
    return errors;
  }
  ingresses.forEach(({ ip, hostname, ipMode }, i) => {
    const path = listPath.index(i);
    if (ip) errors.push(...validatePlainIp(ip, path.child('ip'), known));
    if (ipMode !== undefined && !ip) {
      errors.push(forbidden(path.child('ipMode'), 'may not be specified when `ip` is not set'));
    } else if (ipMode !== undefined && ipMode !== 'VIP' && ipMode !== 'Proxy') {
      errors.push(notSupported(path.child('ipMode'), ipMode, ['Proxy', 'VIP']));
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
