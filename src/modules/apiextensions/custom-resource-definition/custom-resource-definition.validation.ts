import { type FieldError, FieldPath, invalid, notSupported, required } from '../../../base/machinery/field-error.js';
import { isDns1123Subdomain } from '../../../base/machinery/names.js';
import { ownValue } from '../../../base/machinery/own-value.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionStatus,
} from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';
import {
  apiApproval,
  approvalAnnotation,
  isProtectedGroup,
} from '../../../objects/custom-resources/definition/api-approval.js';
import { isConditionTrue } from '../../../objects/custom-resources/definition/definition-conditions.js';
import { conversionErrors, conversionReviewVersions } from './conversion.validation.js';
import { nameCountErrors, namesErrors, requiredNamesErrors } from './definition-names.validation.js';
import { sharedPartsErrors, versionsErrors } from './versions.validation.js';

const metadataPath = FieldPath.of('metadata');
const specPath = FieldPath.of('spec');
const statusPath = FieldPath.of('status');
const scopes: readonly string[] = ['Cluster', 'Namespaced'];

/** Validates a new definition. */
export function definitionErrors(object: CustomResourceDefinition, names: VendorNames): FieldError[] {
  return [
    ...nameErrors(object),
    ...specErrors(object.spec, undefined, true),
    ...statusErrors(object.status),
    ...storedVersionsErrors(object),
    ...approvalErrors(object, undefined, names),
    ...preserveErrors(object, undefined),
  ];
}

/**
 * Validates a changed definition. Fields that objects and paths depend on can't change once it is in use. Faults that
 * older rules allowed stay allowed.
 */
export function definitionUpdateErrors(
  object: CustomResourceDefinition,
  old: CustomResourceDefinition,
  names: VendorNames,
): FieldError[] {
  const oldReviews = old.spec.conversion?.webhook?.conversionReviewVersions ?? [];
  const needsKnownReview =
    oldReviews.length === 0 || oldReviews.some((version) => conversionReviewVersions.includes(version));
  return [
    ...specErrors(object.spec, old.spec, needsKnownReview),
    ...immutableErrors(object.spec, old.spec, isConditionTrue(old, 'Established')),
    ...statusErrors(object.status),
    ...storedVersionsErrors(object, old),
    ...approvalErrors(object, old, names),
    ...preserveErrors(object, old),
  ];
}

/** Validates the status: the accepted names must follow the rules for names. */
export function statusErrors({ acceptedNames }: CustomResourceDefinitionStatus): FieldError[] {
  return namesErrors(acceptedNames, statusPath.child('acceptedNames'));
}

/** Checks that the name of a definition follows from its spec, so no two definitions can have the same paths. */
function nameErrors({ metadata, spec }: CustomResourceDefinition): FieldError[] {
  const name = metadata.name ?? '';
  if (name === `${spec.names.plural}.${spec.group}`) return [];
  return [invalid(metadataPath.child('name'), name, 'must be spec.names.plural+"."+spec.group')];
}

function specErrors(
  spec: CustomResourceDefinitionSpec,
  old: CustomResourceDefinitionSpec | undefined,
  needsKnownReview: boolean,
): FieldError[] {
  const { group, scope, names, conversion } = spec;
  const namesPath = specPath.child('names');
  const tooManyNames = nameCountErrors(names, old?.names, namesPath);
  if (tooManyNames.length > 0) return tooManyNames;
  return [
    ...groupErrors(group),
    ...scopeErrors(scope),
    ...versionsErrors(spec, specPath),
    ...requiredNamesErrors(names, namesPath),
    ...namesErrors(names, namesPath),
    ...sharedPartsErrors(spec, specPath),
    ...(conversion === undefined ? [] : conversionErrors(conversion, specPath.child('conversion'), needsKnownReview)),
  ];
}

function groupErrors(group: string): FieldError[] {
  const path = specPath.child('group');
  if (group === '') return [required(path)];
  const broken = isDns1123Subdomain(group);
  if (broken.length > 0) return [invalid(path, group, broken.join(','))];
  return group.includes('.') ? [] : [invalid(path, group, 'should be a domain with at least one dot')];
}

function scopeErrors(scope: string): FieldError[] {
  const path = specPath.child('scope');
  if (scope === '') return [required(path)];
  return scopes.includes(scope) ? [] : [notSupported(path, scope, scopes)];
}

function immutableErrors(
  spec: CustomResourceDefinitionSpec,
  old: CustomResourceDefinitionSpec,
  isEstablished: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  const check = (path: FieldPath, value: string, before: string) => {
    if (value !== before) errors.push(invalid(path, value, 'field is immutable'));
  };
  const namesPath = specPath.child('names');
  if (isEstablished) {
    check(specPath.child('scope'), spec.scope, old.scope);
    check(namesPath.child('kind'), spec.names.kind, old.names.kind);
  }
  check(specPath.child('group'), spec.group, old.group);
  check(namesPath.child('plural'), spec.names.plural, old.names.plural);
  return errors;
}

function storedVersionsErrors(
  { spec, status }: CustomResourceDefinition,
  old?: CustomResourceDefinition,
): FieldError[] {
  const path = statusPath.child('storedVersions');
  const stored = status.storedVersions ?? [];
  const versions = spec.versions ?? [];
  const errors: FieldError[] = [];
  // A new definition has no list of them yet.
  const shown = old === undefined ? null : stored;
  if (stored.length === 0) return [invalid(path, shown, 'must have at least one stored version')];
  for (const { name, storage } of versions) {
    if (storage && !stored.includes(name)) errors.push(invalid(path, stored, `must have the storage version ${name}`));
  }
  const known = new Set(versions.map(({ name }) => name));
  for (const [i, name] of stored.entries()) {
    if (known.has(name)) continue;
    const advice = `${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push(invalid(path.index(i), name, `missing from spec.versions; ${advice}`));
  }
  return errors;
}

/** Checks the approval that a protected group needs. An unchanged approval is not checked. */
function approvalErrors(
  { metadata, spec }: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
  names: VendorNames,
): FieldError[] {
  if (!isProtectedGroup(spec.group, names)) return [];
  const { state, reason } = apiApproval(metadata.annotations, names);
  if (old !== undefined && apiApproval(old.metadata.annotations, names).state === state) return [];
  const key = approvalAnnotation(names);
  const path = metadataPath.child('annotations').key(key);
  if (state === 'missing') return [required(path, reason)];
  return state === 'invalid' ? [invalid(path, ownValue(metadata.annotations, key), reason)] : [];
}

function preserveErrors({ spec }: CustomResourceDefinition, old: CustomResourceDefinition | undefined): FieldError[] {
  if (spec.preserveUnknownFields !== true || old?.spec.preserveUnknownFields === true) return [];
  const detail =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [invalid(specPath.child('preserveUnknownFields'), true, detail)];
}
