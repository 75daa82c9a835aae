import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Service } from '../../../objects/apis/core/v1/service.types.js';
import { canonicalIp } from '../../../objects/apis/networking/v1/validation/ip-network.js';
import { isHeadless } from './service.rules.js';

/** Warnings about fields of a service that have no effect, or soon will have none. */
export function serviceWarnings({ metadata, spec }: Service, { labelPrefix }: VendorNames): string[] {
  const warnings: string[] = [];
  const hints = `service.${labelPrefix}/topology-aware-hints`;
  if (metadata.annotations?.[hints] !== undefined) {
    const mode = `service.${labelPrefix}/topology-mode`;
    warnings.push(`annotation ${hints} is deprecated, please use ${mode} instead`);
  }
  if (isHeadless({ metadata, spec } as Service)) {
    if (spec.loadBalancerIP) warnings.push('spec.loadBalancerIP is ignored for headless services');
    if ((spec.externalIPs ?? []).length > 0) warnings.push('spec.externalIPs is ignored for headless services');
    if (spec.sessionAffinity === 'ClientIP') warnings.push('spec.SessionAffinity is ignored for headless services');
  } else if ((spec.externalIPs ?? []).length > 0 && spec.type === 'ExternalName') {
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  } else if ((spec.externalIPs ?? []).length > 0) {
    warnings.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters');
  }
  spec.externalIPs?.forEach((ip, i) => {
    const canonical = canonicalIp(ip);
    if (canonical === undefined || canonical === ip) return;
    const form = `IPv6 address ${JSON.stringify(ip)} should be in RFC 5952 canonical format (${JSON.stringify(canonical)})`;
    warnings.push(`spec.externalIPs[${i}]: ${form}`);
  });
  if (spec.type !== 'ExternalName' && spec.externalName) {
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  if (spec.trafficDistribution === 'PreferClose') {
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  }
  return warnings;
}
