import { isDeepStrictEqual } from 'node:util';
import { type FieldError, FieldPath, invalid, required } from '../../../base/machinery/field-error.js';
import { isDns1123Label } from '../../../base/machinery/names.js';
import type {
  StatefulSet,
  StatefulSetSpec,
  StatefulSetUpdateStrategy,
} from '../../../objects/apis/apps/v1/stateful-set.types.js';
import { validatePersistentVolumeClaimSpec } from '../../../objects/apis/core/v1/validation/claim-spec.validation.js';
import {
  checkNonNegative,
  checkOneOf,
  checkText,
  type PodValidationOptions,
} from '../../../objects/apis/core/v1/validation/common.validation.js';
import {
  checkCollisionCount,
  checkReplicaCounts,
} from '../../../objects/apis/core/v1/validation/replicas.validation.js';
import { validateReplicatedTemplate } from '../../../objects/apis/core/v1/validation/replicated-template.validation.js';
import { updateOptions } from '../../../objects/apis/core/v1/validation/update-options.js';
import { matcherOf } from '../../../objects/apis/meta/v1/validation/label-selector.validation.js';
import { checkAtMostAll, checkIntOrPercent, isZero } from '../rolling-update.validation.js';
import { checkSelectorUsable, validateOwnSelector } from '../selector.validation.js';

const specPath = FieldPath.of('spec');
const statusPath = FieldPath.of('status');

/** Validates a new stateful set, except for its metadata. */
export function validateNewStatefulSet(object: StatefulSet, options: PodValidationOptions): FieldError[] {
  return validateStatefulSet(object, options, true);
}

/** The templates of claims and the name of the service never change, so they are checked only when they are `isNew`. */
function validateStatefulSet({ spec }: StatefulSet, options: PodValidationOptions, isNew: boolean): FieldError[] {
  const errors: FieldError[] = [];
  checkPodManagement(spec.podManagementPolicy ?? '', errors);
  validateUpdateStrategy(spec.updateStrategy, errors);
  validateRetention(spec, errors);
  if (isNew) validateClaimTemplates(spec, errors);
  checkNonNegative(spec.replicas, specPath.child('replicas'), errors);
  checkNonNegative(spec.minReadySeconds, specPath.child('minReadySeconds'), errors);
  checkNonNegative(spec.ordinals?.start, specPath.child('ordinals').child('start'), errors);
  validateOwnSelector(spec.selector, 'statefulset', specPath.child('selector'), errors);
  if (checkSelectorUsable(spec.selector, '', specPath.child('selector'), errors)) {
    // Each pod has a disk of its own, so disks are never shared.
    const rules = { matches: matcherOf(spec.selector), replicas: 0, kind: 'StatefulSet' };
    const template = withClaimVolumes(spec);
    errors.push(...validateReplicatedTemplate(template, rules, specPath.child('template'), options));
  }
  if (isNew && spec.serviceName) {
    checkText(spec.serviceName, isDns1123Label, specPath.child('serviceName'), errors);
  }
  return errors;
}

function validateClaimTemplates({ volumeClaimTemplates }: StatefulSetSpec, errors: FieldError[]): void {
  volumeClaimTemplates?.forEach(({ spec }, i) => {
    const path = specPath.child('volumeClaimTemplates').index(i).child('spec');
    errors.push(...validatePersistentVolumeClaimSpec(spec, path));
  });
}

/** The template in the form of its pods: every claim template is a volume, in place of one with the same name. */
function withClaimVolumes({ template, volumeClaimTemplates }: StatefulSetSpec): StatefulSetSpec['template'] {
  const claims = [...new Set((volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name ?? ''))];
  if (claims.length === 0) return template;
  const own = (template.spec.volumes ?? []).filter(({ name }) => !claims.includes(name));
  const claimed = claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return { ...template, spec: { ...template.spec, volumes: [...own, ...claimed] } };
}

function checkPodManagement(policy: string, errors: FieldError[]): void {
  if (policy === 'OrderedReady' || policy === 'Parallel') return;
  const path = specPath.child('podManagementPolicy');
  errors.push(policy === '' ? required(path) : invalid(path, policy, "must be 'OrderedReady' or 'Parallel'"));
}

function validateUpdateStrategy(strategy: StatefulSetUpdateStrategy, errors: FieldError[]): void {
  const path = specPath.child('updateStrategy');
  const { type, rollingUpdate } = strategy;
  const rollingPath = path.child('rollingUpdate');
  if (!type) errors.push(required(path));
  else if (type === 'OnDelete') {
    if (rollingUpdate !== undefined) {
      const shown = { ...rollingUpdate, partition: rollingUpdate.partition ?? 0 };
      errors.push(invalid(rollingPath, shown, "only allowed for updateStrategy 'RollingUpdate'"));
    }
  } else if (type !== 'RollingUpdate') {
    errors.push(invalid(path, strategy, "must be 'RollingUpdate' or 'OnDelete'"));
  } else if (rollingUpdate !== undefined) {
    const { partition, maxUnavailable } = rollingUpdate;
    checkNonNegative(partition, rollingPath.child('partition'), errors);
    if (maxUnavailable === undefined) return;
    const unavailablePath = rollingPath.child('maxUnavailable');
    checkIntOrPercent(maxUnavailable, unavailablePath, errors);
    if (isZero(maxUnavailable)) errors.push(invalid(unavailablePath, maxUnavailable, 'cannot be 0'));
    checkAtMostAll(maxUnavailable, unavailablePath, errors);
  }
}

function validateRetention(spec: StatefulSetSpec, errors: FieldError[]): void {
  const policy = spec.persistentVolumeClaimRetentionPolicy;
  if (policy === undefined) return;
  const path = specPath.child('persistentVolumeClaimRetentionPolicy');
  for (const field of ['whenDeleted', 'whenScaled'] as const) {
    checkOneOf(policy[field] ?? '', ['Retain', 'Delete'], path.child(field), errors);
  }
}

/** Fields of the spec that can't change, in the order in which messages list them. */
const fixedFields = [
  'selector',
  'volumeClaimTemplates',
  'serviceName',
  'podManagementPolicy',
] as const satisfies readonly (keyof StatefulSetSpec)[];

/** Validates a changed stateful set. */
export function validateStatefulSetUpdate(
  object: StatefulSet,
  old: StatefulSet,
  options: PodValidationOptions,
): FieldError[] {
  const errors = validateStatefulSet(object, updateOptions(options, old.spec.template.spec), false);
  for (const field of fixedFields) {
    if (isDeepStrictEqual(object.spec[field] ?? null, old.spec[field] ?? null)) continue;
    errors.push(invalid(specPath.child(field), object.spec[field], 'field is immutable'));
  }
  return errors;
}

/** Validates a stateful set's changed status. */
export function validateStatefulSetStatus({ status }: StatefulSet, old: StatefulSet): FieldError[] {
  const errors: FieldError[] = [];
  const parts = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const;
  checkReplicaCounts(status, parts, statusPath, errors, 'status.readyReplicas');
  checkCollisionCount(status.collisionCount, old.status.collisionCount, statusPath, errors);
  return errors;
}
