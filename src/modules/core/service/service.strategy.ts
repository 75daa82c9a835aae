import { isDeepStrictEqual } from 'node:util';
import { isDns1123Label } from '../../../base/machinery/names.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Service } from '../../../objects/apis/core/v1/service.types.js';
import { maskTrailingDash } from '../../../objects/registry/metadata/before-create.js';
import type { Strategy } from '../../../objects/registry/strategy.js';
import type { ServiceAllocator } from './allocation/service-allocator.js';
import { applyServiceDefaults } from './service.defaults.js';
import {
  isExternallyAccessible,
  mayHaveNodePorts,
  needsClusterIp,
  needsHealthCheckPort,
  needsNodePorts,
} from './service.rules.js';
import { validateService, validateServiceUpdate } from './service.validation.js';
import { chooseFamilies, keepsPreference } from './service-families.js';
import { serviceWarnings } from './service-warnings.js';

/** Rules of services on writes; addresses and ports come from the allocator. */
export function serviceStrategy(allocator: ServiceAllocator, names: VendorNames): Strategy<Service> {
  const { families } = allocator;
  return {
    validateName: (name, prefix) => isDns1123Label(prefix ? maskTrailingDash(name) : name),
    applyDefaults: applyServiceDefaults,

    prepareForCreate(_context, object) {
      object.status = { loadBalancer: {} };
      const { spec } = object;
      if (spec.clusterIP && (spec.clusterIPs ?? []).length === 0) spec.clusterIPs = [spec.clusterIP];
      chooseFamilies(object, undefined, families);
      dropOfNames(object);
    },

    validate: (_context, object) => validateService(object, families),
    reserveForCreate: (_context, object, dryRun) => allocator.reserveForCreate(object, dryRun),

    prepareForUpdate(_context, object, old) {
      followClusterIp(object, old);
      const isSettled = keepsPreference(object, old);
      keepAllocated(object, old);
      dropUnneeded(object, old);
      if (!isSettled) chooseFamilies(object, old, families);
      dropOfNames(object);
    },

    validateUpdate: (_context, object, old) => validateServiceUpdate(object, old, families),
    reserveForUpdate: (_context, object, old, dryRun) => allocator.reserveForUpdate(object, old, dryRun),
    afterDelete: (object) => allocator.afterDelete(object),
    warnings: (_context, object) => serviceWarnings(object, names),
  };
}

/** Updates the list of addresses from `clusterIP`: some clients know and change only that field. */
function followClusterIp({ spec }: Service, { spec: old }: Service): void {
  const isListUnchanged = isDeepStrictEqual(spec.clusterIPs ?? [], old.clusterIPs ?? []);
  if (spec.clusterIP === old.clusterIP || !isListUnchanged) {
    if (spec.clusterIP && (spec.clusterIPs ?? []).length === 0) spec.clusterIPs = [spec.clusterIP];
    return;
  }
  if (spec.clusterIP) spec.clusterIPs = [spec.clusterIP, ...(spec.clusterIPs ?? []).slice(1)];
  else delete spec.clusterIPs;
}

/** Keeps names that the server allocated and the client left out. */
function keepAllocated(object: Service, old: Service): void {
  const { spec } = object;
  if (needsClusterIp(object) && needsClusterIp(old)) {
    if (!spec.clusterIP && old.spec.clusterIP) spec.clusterIP = old.spec.clusterIP;
    if (spec.clusterIP === old.spec.clusterIP && (spec.clusterIPs ?? []).length === 0 && old.spec.clusterIPs) {
      spec.clusterIPs = old.spec.clusterIPs;
    }
    if (spec.ipFamilies === undefined && old.spec.ipFamilies !== undefined) spec.ipFamilies = old.spec.ipFamilies;
    if (spec.ipFamilyPolicy === undefined && old.spec.ipFamilyPolicy !== undefined) {
      spec.ipFamilyPolicy = old.spec.ipFamilyPolicy;
    }
  }
  if (needsNodePorts(object) && mayHaveNodePorts(old)) keepNodePorts(object, old);
  if (needsHealthCheckPort(object) && needsHealthCheckPort(old) && old.spec.healthCheckNodePort) {
    spec.healthCheckNodePort ||= old.spec.healthCheckNodePort;
  }
}

function keepNodePorts(object: Service, old: Service): void {
  const keyOf = (port: { protocol?: string; port: number }): string => `${port.protocol}/${port.port}`;
  const before = new Map((old.spec.ports ?? []).map((port) => [keyOf(port), port.nodePort ?? 0]));
  const used = new Set((object.spec.ports ?? []).map((port) => `${port.protocol}/${port.nodePort ?? 0}`));
  for (const port of object.spec.ports ?? []) {
    if (port.nodePort) continue;
    const kept = before.get(keyOf(port)) ?? 0;
    if (kept !== 0 && !used.has(`${port.protocol}/${kept}`)) port.nodePort = kept;
  }
}

/** A service that is a name of another one has no traffic of its own. */
function dropOfNames({ spec }: Service): void {
  const policy = spec.internalTrafficPolicy;
  // An unknown policy stays, to be refused.
  if (spec.type === 'ExternalName' && (policy === 'Cluster' || policy === 'Local')) delete spec.internalTrafficPolicy;
}

/** A change of type removes fields that only the old type has, unless the client changed them as well. */
function dropUnneeded(object: Service, old: Service): void {
  const { spec } = object;
  const isSame = (field: keyof Service['spec']): boolean => isDeepStrictEqual(spec[field], old.spec[field]);
  if (needsClusterIp(old) && !needsClusterIp(object)) {
    if (isSame('clusterIP') && isSame('clusterIPs')) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    if (isSame('ipFamilies')) delete spec.ipFamilies;
    if (isSame('ipFamilyPolicy')) delete spec.ipFamilyPolicy;
    if (isSame('internalTrafficPolicy')) delete spec.internalTrafficPolicy;
  }
  if (mayHaveNodePorts(old) && !mayHaveNodePorts(object)) {
    const before = new Set((old.spec.ports ?? []).map((port) => port.nodePort));
    for (const port of spec.ports ?? []) if (before.has(port.nodePort)) delete port.nodePort;
  }
  if (isExternallyAccessible(old) && !isExternallyAccessible(object) && isSame('externalTrafficPolicy')) {
    delete spec.externalTrafficPolicy;
  }
  if (needsHealthCheckPort(old) && !needsHealthCheckPort(object) && isSame('healthCheckNodePort')) {
    delete spec.healthCheckNodePort;
  }
  if (old.spec.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    if (isSame('allocateLoadBalancerNodePorts')) delete spec.allocateLoadBalancerNodePorts;
    if (isSame('loadBalancerClass')) delete spec.loadBalancerClass;
  }
}
