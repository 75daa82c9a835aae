import { type Clock, formatTime } from '../../../base/machinery/clock.js';
import { type FieldError, FieldPath, invalid, required } from '../../../base/machinery/field-error.js';
import { serviceRangesOf } from '../../../base/machinery/service-ranges.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import type { Condition } from '../../../objects/apis/meta/v1/condition.types.js';
import { type ServiceCIDR, serviceCIDR } from '../../../objects/apis/networking/v1/service-cidr.types.js';
import { validateCidr } from '../../../objects/apis/networking/v1/validation/cidr.validation.js';
import { canonicalNetwork, parseIpNetwork } from '../../../objects/apis/networking/v1/validation/ip-network.js';
import type { ServiceRanges } from '../../../objects/registry/allocation/service-ranges.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { clientMetadata, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';

const cidrsPath = FieldPath.of('spec', 'cidrs');
const maxCidrs = 2;

const columns: readonly TableColumn<ServiceCIDR>[] = [
  nameColumn,
  {
    name: 'CIDRs',
    type: 'string',
    description: 'Ranges of service addresses.',
    cell: (object) => (object.spec.cidrs ?? []).join(','),
  },
  ageColumn,
];

/** The name of the object for the range of the server's flag. */
export const defaultServiceCidrName = 'kubernetes';

/**
 * `servicecidrs`: ranges from which service addresses come. A controller writes their condition `Ready`; the object of
 * the flag's range has it from the start, so that it is ready where that controller does not run.
 */
export function serviceCidrResource(names: VendorNames, ranges: ServiceRanges, clock: Clock): ResourceDefinition {
  const range = defaultCidrs(ranges);
  return defineResource<ServiceCIDR>({
    group: groupName('networking', names),
    resource: 'servicecidrs',
    singular: 'servicecidr',
    kind: 'ServiceCIDR',
    namespaced: false,
    versions: [{ version: 'v1', type: serviceCIDR }],
    strategy: {
      prepareForCreate: (_context, object) => {
        const { metadata, spec } = object;
        const isDefault = metadata.name === defaultServiceCidrName && spec.cidrs?.join() === range.join();
        object.status = isDefault ? { conditions: [defaultReady(clock)] } : {};
      },
      validate: (_context, object) => validateServiceCidr(object),
      validateUpdate: (_context, object, old) => validateServiceCidrUpdate(object, old),
    },
    columns,
    subresources: [statusSubresource<ServiceCIDR>({ keptMetadata: clientMetadata })],
  });
}

/** The ranges of the server's flag, in canonical form. */
export function defaultCidrs({ serviceClusterIpRange }: ServiceRanges): string[] {
  return serviceRangesOf(serviceClusterIpRange).map((range) => {
    const network = parseIpNetwork(range);
    if (network === undefined) throw new Error(`${JSON.stringify(range)} is not an IP network`);
    return canonicalNetwork(network);
  });
}

function defaultReady(clock: Clock): Condition {
  const message = 'Kubernetes default Service CIDR is ready';
  return { type: 'Ready', status: 'True', lastTransitionTime: formatTime(clock.now()), reason: '', message };
}

/** Validates a new ServiceCIDR: one range, or one of each IP family. */
function validateServiceCidr(object: ServiceCIDR): FieldError[] {
  const cidrs = object.spec.cidrs ?? [];
  if (cidrs.length === 0) return [required(cidrsPath, 'at least one CIDR required')];
  if (cidrs.length > maxCidrs) return [invalid(cidrsPath, object.spec, `may only hold up to ${maxCidrs} values`)];
  const errors: FieldError[] = [];
  const networks = cidrs.map(parseIpNetwork);
  for (const [i, cidr] of cidrs.entries()) errors.push(...validateCidr(cidr, cidrsPath.index(i), true));
  if (networks.length === maxCidrs && networks[0] !== undefined && networks[0].family === networks[1]?.family) {
    const detail = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
    errors.push(invalid(cidrsPath, cidrs, detail));
  }
  return errors;
}

/** Validates a changed ServiceCIDR: a range may be added for the other IP family, nothing else. */
function validateServiceCidrUpdate(object: ServiceCIDR, old: ServiceCIDR): FieldError[] {
  const before = old.spec.cidrs ?? [];
  const now = object.spec.cidrs ?? [];
  const keepsAll = before.every((cidr, i) => now[i] === cidr) && now.length === before.length;
  if (keepsAll) return [];
  const isOneMore = before.length === 1 && now.length === maxCidrs;
  if (now.length !== before.length && !isOneMore) {
    return [invalid(cidrsPath, object.spec.cidrs ?? null, 'field is immutable')];
  }
  const changed = before.flatMap((cidr, i) => (now[i] === cidr ? [] : [i]));
  const errors = changed.map((i) => invalid(cidrsPath.index(i), now[i], 'field is immutable'));
  return isOneMore ? [...errors, ...validateServiceCidr(object)] : errors;
}
