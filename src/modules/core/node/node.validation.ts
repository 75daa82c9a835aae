import { isDeepStrictEqual } from 'node:util';
import {
  duplicate,
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  rootPath,
} from '../../../base/machinery/field-error.js';
import { validateLabelName } from '../../../base/machinery/label-rules.js';
import { isValidLabelValue } from '../../../base/machinery/names.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Taint } from '../../../objects/apis/core/v1/affinity.types.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import { checkQuantity } from '../../../objects/apis/core/v1/validation/resources.validation.js';
import { parseIpNetwork } from '../../../objects/apis/networking/v1/validation/ip-network.js';

const specPath = FieldPath.of('spec');
const podCidrsPath = specPath.child('podCIDRs');
/** The field under which clients of these messages look for taints. */
const taintsPath = FieldPath.of('metadata', 'taints');
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Broken rules of a node. */
export function validateNode(object: Node, names: VendorNames): FieldError[] {
  const errors: FieldError[] = [];
  validateTaints(object.spec.taints ?? [], errors);
  validateResources(object, names, errors);
  const cidrs = object.spec.podCIDRs ?? [];
  const networks = cidrs.map(parseIpNetwork);
  networks.forEach((network, i) => {
    if (network === undefined) errors.push(invalid(podCidrsPath.index(i), cidrs, 'must be valid CIDR'));
  });
  const known = networks.filter((network) => network !== undefined);
  if (new Set(known.map(({ family }) => family)).size < known.length) {
    errors.push(invalid(podCidrsPath, cidrs, 'may specify no more than one CIDR for each IP family'));
  }
  return errors;
}

/** Broken rules of a changed node, including those of {@link validateNodeChange}. */
export function validateNodeUpdate(object: Node, old: Node, names: VendorNames): FieldError[] {
  return [...validateNode(object, names), ...validateNodeChange(object, old, names)];
}

/**
 * Broken rules about what may change: in the spec only taints, scheduling, and ranges and ids that were not set before.
 */
export function validateNodeChange(object: Node, old: Node, names: VendorNames): FieldError[] {
  const errors: FieldError[] = [];
  const { spec, status } = object;
  validateResources(object, names, errors);
  const addresses = new Set<string>();
  status.addresses?.forEach((address, i) => {
    const key = JSON.stringify(address);
    if (addresses.has(key)) errors.push(duplicate(FieldPath.of('status', 'addresses').index(i), address));
    addresses.add(key);
  });

  const allowed = { ...old.spec };
  copyFields(allowed, spec, ['taints', 'unschedulable']);
  if ((old.spec.podCIDRs ?? []).length === 0) copyFields(allowed, spec, ['podCIDR', 'podCIDRs']);
  else if (!isDeepStrictEqual(spec.podCIDRs, old.spec.podCIDRs)) {
    errors.push(forbidden(podCidrsPath, 'node updates may not change podCIDR except from "" to valid'));
  }
  if (!old.spec.providerID) copyFields(allowed, spec, ['providerID']);
  else if (spec.providerID !== old.spec.providerID) {
    const detail = 'node updates may not change providerID except from "" to valid';
    errors.push(forbidden(specPath.child('providerID'), detail));
  }
  validateTaints(spec.taints ?? [], errors);
  if (!isDeepStrictEqual(allowed, { ...spec })) {
    const detail =
      'node updates may only change labels, taints, or capacity (or configSource, if the DynamicKubeletConfig feature gate is enabled)';
    errors.push(forbidden(rootPath, detail));
  }
  return errors;
}

function copyFields(to: Node['spec'], from: Node['spec'], fields: readonly (keyof Node['spec'])[]): void {
  for (const field of fields) {
    if (from[field] === undefined) delete to[field];
    else Object.assign(to, { [field]: from[field] });
  }
}

function validateTaints(taints: readonly Taint[], errors: FieldError[]): void {
  const seen = new Set<string>();
  taints.forEach((taint, i) => {
    const path = taintsPath.index(i);
    errors.push(...validateLabelName(taint.key, path.child('key')));
    const value = taint.value ?? '';
    for (const m of isValidLabelValue(value)) errors.push(invalid(path.child('value'), value, m));
    if (taint.effect === '') errors.push(required(path.child('effect')));
    else if (!effects.includes(taint.effect)) errors.push(notSupported(path.child('effect'), taint.effect, effects));
    const key = `${taint.effect}/${taint.key}`;
    if (seen.has(key)) {
      const error = duplicate(path, taint);
      errors.push({ ...error, message: `${error.message}: taints must be unique by key and effect pair` });
    }
    seen.add(key);
  });
}

function validateResources({ status }: Node, names: VendorNames, errors: FieldError[]): void {
  for (const field of ['capacity', 'allocatable'] as const) {
    const path = FieldPath.of('status', field);
    for (const [name, value] of Object.entries(status[field] ?? {})) {
      checkQuantity(name, value, path.child(name), names, errors);
    }
  }
}
