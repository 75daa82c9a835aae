import { type FieldError, FieldPath, invalid, required, tooMany } from '../../base/machinery/field-error.js';
import { isDns1123Label, isDns1123Subdomain } from '../../base/machinery/names.js';
import { deepEqual } from '../../base/machinery/patch/json-value.js';
import type { CompositePodGroup } from '../../objects/apis/scheduling/v1alpha3/composite-pod-group.types.js';
import type { PodGroup } from '../../objects/apis/scheduling/v1alpha3/pod-group.types.js';
import type { Workload } from '../../objects/apis/scheduling/v1alpha3/workload.types.js';

const specPath = FieldPath.of('spec');
const maxTemplates = 8;
const maxClaims = 4;
const highestPriority = 1_000_000_000;

/** Fields of a group that can't change. */
const fixedFields = [
  'workloadRef',
  'priorityClassName',
  'priority',
  'disruptionMode',
  'schedulingConstraints',
] as const;

/** Validates a group of pods. */
export function validatePodGroup({ spec }: PodGroup, old?: PodGroup): FieldError[] {
  const claims = spec.resourceClaims ?? [];
  const claimsPath = specPath.child('resourceClaims');
  return [
    ...validateGroup(spec, spec.schedulingPolicy.gang?.minCount, 'minCount'),
    ...(claims.length > maxClaims ? [tooMany(claimsPath, claims.length, maxClaims)] : []),
    ...(old === undefined ? [] : fixedErrors(spec, old.spec)),
  ];
}

/** Validates a composite pod group. */
export function validateCompositePodGroup({ spec }: CompositePodGroup, old?: CompositePodGroup): FieldError[] {
  return [
    ...validateGroup(spec, spec.schedulingPolicy.gang?.minGroupCount, 'minGroupCount'),
    ...(old === undefined ? [] : fixedErrors(spec, old.spec)),
  ];
}

/** Validates a workload. The set of its templates must not change. */
export function validateWorkload({ spec }: Workload, old?: Workload): FieldError[] {
  const path = specPath.child('podGroupTemplates');
  const templates = spec.podGroupTemplates ?? [];
  const errors: FieldError[] = [];
  if (templates.length === 0 && (spec.compositePodGroupTemplates ?? []).length === 0) {
    errors.push(invalid(specPath, '', 'must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`'));
  }
  if (templates.length > maxTemplates) errors.push(tooMany(path, templates.length, maxTemplates));
  for (const [i, { name, schedulingPolicy }] of templates.entries()) {
    if (name === '') errors.push(required(path.index(i).child('name')));
    else for (const m of isDns1123Label(name)) errors.push(invalid(path.index(i).child('name'), name, m));
    errors.push(...policyErrors(schedulingPolicy, schedulingPolicy.gang?.minCount, 'minCount', path.index(i)));
  }
  if (old === undefined) return errors;
  if (!deepEqual(spec.controllerRef, old.spec.controllerRef)) {
    errors.push(invalid(specPath.child('controllerRef'), spec.controllerRef ?? null, 'field is immutable'));
  }
  const [now, before] = [spec, old.spec].map(({ podGroupTemplates }) =>
    (podGroupTemplates ?? []).map(({ name }) => name).sort(),
  );
  if (!deepEqual(now, before)) errors.push(invalid(path, templates, 'field is immutable'));
  return errors;
}

interface Group {
  readonly schedulingPolicy: Policy;
  readonly workloadRef?: { readonly workloadName: string; readonly templateName: string } | null;
  readonly priorityClassName?: string;
  readonly priority?: number;
}

interface Policy {
  readonly basic?: object;
  readonly gang?: object;
}

function validateGroup(spec: Group, count: number | undefined, countField: string): FieldError[] {
  const { schedulingPolicy, workloadRef, priorityClassName = '', priority = 0 } = spec;
  const errors = policyErrors(schedulingPolicy, count, countField, specPath);
  if (workloadRef) {
    const path = specPath.child('workloadRef');
    const { workloadName, templateName } = workloadRef;
    if (workloadName === '') errors.push(required(path.child('workloadName')));
    else
      for (const m of isDns1123Subdomain(workloadName))
        errors.push(invalid(path.child('workloadName'), workloadName, m));
    if (templateName === '') errors.push(required(path.child('templateName')));
    else
      for (const m of isDns1123Label(templateName)) errors.push(invalid(path.child('templateName'), templateName, m));
  }
  if (priorityClassName !== '') {
    const path = specPath.child('priorityClassName');
    for (const m of isDns1123Subdomain(priorityClassName)) errors.push(invalid(path, priorityClassName, m));
  }
  if (priority > highestPriority) {
    errors.push(invalid(specPath.child('priority'), priority, `must be less than or equal to ${highestPriority}`));
  }
  return errors;
}

function policyErrors(policy: Policy, count: number | undefined, countField: string, path: FieldPath): FieldError[] {
  const at = path.child('schedulingPolicy');
  const set = (['basic', 'gang'] as const).filter((field) => policy[field] !== undefined);
  if (set.length !== 1) {
    const detail =
      set.length === 0 ? 'must specify one of: `basic`, `gang`' : 'must specify exactly one of: `basic`, `gang`';
    return [invalid(at, set.length === 0 ? '' : `{${set.join(', ')}}`, detail)];
  }
  if (count === undefined || count >= 1) return [];
  const countPath = at.child('gang').child(countField);
  return count === 0 ? [required(countPath)] : [invalid(countPath, count, 'must be greater than or equal to 1')];
}

function fixedErrors(spec: object, old: object): FieldError[] {
  const [now, before] = [spec, old] as Readonly<Record<string, unknown>>[];
  return fixedFields
    .filter((field) => !deepEqual(now?.[field], before?.[field]))
    .map((field) => invalid(specPath.child(field), now?.[field] ?? null, 'field is immutable'));
}
