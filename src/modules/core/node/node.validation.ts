import { isDeepStrictEqual } from 'node:util';
import {
  duplicate,
  type FieldError,
  FieldPath,
  forbidden,
  internal,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { validateLabelName } from '../../../base/machinery/label-rules.js';
import { isValidLabelValue } from '../../../base/machinery/names.js';
import { structForm } from '../../../base/machinery/schema/struct-form.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { type Taint, taint as taintType } from '../../../objects/apis/core/v1/affinity.types.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import { checkQuantity } from '../../../objects/apis/core/v1/validation/resources.validation.js';
import { validateCidr } from '../../../objects/apis/networking/v1/validation/cidr.validation.js';
import { parseIpNetwork } from '../../../objects/apis/networking/v1/validation/ip-network.js';

const specPath = FieldPath.of('spec');
const podCidrsPath = specPath.child('podCIDRs');
/** The field that messages name for taints, as clients know it. */
const taintsPath = FieldPath.of('metadata', 'taints');
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/**
 * Validates a node.
 *
 * @param known ranges that the node has already: they may be spelt as no new range may
 */
function validateNode(object: Node, names: VendorNames, known: readonly string[] = []): FieldError[] {
  const errors: FieldError[] = [];
  validateTaints(object.spec.taints ?? [], errors);
  validateResources(object, names, errors);
  const cidrs = object.spec.podCIDRs ?? [];
  cidrs.forEach((cidr, i) => {
    if (!known.includes(cidr)) errors.push(...validateCidr(cidr, podCidrsPath.index(i)));
  });
  const networks = cidrs.map(parseIpNetwork);
  const unreadable = cidrs.length > 1 ? networks.indexOf(undefined) : -1;
  if (unreadable >= 0) {
    const fault = `invalid CIDR[${unreadable}]: <nil> (invalid CIDR address: ${cidrs[unreadable]})`;
    const detail = `invalid PodCIDRs. failed to check with dual stack with error:${fault}`;
    errors.push(internal(podCidrsPath, detail));
  }
  const families = new Set(networks.map((network) => network?.family));
  if (unreadable >= 0 || families.size < networks.length) {
    errors.push(invalid(podCidrsPath, cidrs, 'may specify no more than one CIDR for each IP family'));
  }
  return errors;
}

/** Validates a changed node, including the checks of {@link validateNodeChange}. */
export function validateNodeUpdate(object: Node, old: Node, names: VendorNames): FieldError[] {
  return [...validateNode(object, names, old.spec.podCIDRs), ...validateNodeChange(object, old, names)];
}

/** Checks that only changeable fields of a node change: ranges and the provider's id are set once. */
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

  if ((old.spec.podCIDRs ?? []).length > 0 && !isDeepStrictEqual(spec.podCIDRs, old.spec.podCIDRs)) {
    errors.push(forbidden(podCidrsPath, 'node updates may not change podCIDR except from "" to valid'));
  }
  validateTaints(spec.taints ?? [], errors);
  if (old.spec.providerID && spec.providerID !== old.spec.providerID) {
    const change = spec.providerID ? 'modified' : 'cleared';
    errors.push(invalid(specPath.child('providerID'), null, `field cannot be ${change} once set`));
  }
  if (spec.externalID !== old.spec.externalID) {
    errors.push(forbidden(specPath.child('externalID'), 'may not be updated'));
  }
  return errors;
}

/** Validates a new node, whose status counts. */
export function validateNewNode(object: Node, names: VendorNames): FieldError[] {
  const errors = validateNode(object, names);
  validateDeclaredFeatures(object.status.declaredFeatures ?? [], errors);
  return errors;
}

/** Validates a status that an agent reports, including the checks of {@link validateNodeChange}. */
export function validateNodeStatus(object: Node, old: Node, names: VendorNames): FieldError[] {
  const errors = validateNodeChange(object, old, names);
  validateDeclaredFeatures(object.status.declaredFeatures ?? [], errors);
  return errors;
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
      // The path that clients know for taints does not exist in the object.
      const error = duplicate(path, structForm(taintType, taint));
      errors.push({ ...error, message: `${error.message}: taints must be unique by key and effect pair` });
    }
    seen.add(key);
  });
}

const featuresPath = FieldPath.of('status', 'declaredFeatures');
const maxFeatureLength = 253;
const featureRule =
  "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";

/** Validates the names of the features that a node has: each once, in the order of the alphabet. */
function validateDeclaredFeatures(features: readonly string[], errors: FieldError[]): void {
  const seen = new Set<string>();
  features.forEach((name, i) => {
    const path = featuresPath.index(i);
    const refuse = (rule: string) =>
      errors.push(invalid(path, name, `invalid feature name ${JSON.stringify(name)}: ${rule}`));
    if (name.length > maxFeatureLength) refuse(`must be no more than ${maxFeatureLength} characters`);
    else if (!/^[A-Z][A-Za-z0-9]*(?:\/[A-Za-z0-9]+)*$/.test(name)) refuse(featureRule);
    if (seen.has(name)) errors.push(duplicate(path, name));
    else if (i > 0 && name < (features[i - 1] as string)) {
      errors.push(invalid(path, name, 'list must be sorted alphabetically'));
    }
    seen.add(name);
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
