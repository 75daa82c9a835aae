import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionStatus,
} from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';
import { apiApproval, isProtectedGroup } from '../../../objects/custom-resources/definition/api-approval.js';
import {
  type ConditionUpdate,
  findCondition,
  removeCondition,
  setCondition,
} from '../../../objects/custom-resources/definition/definition-conditions.js';
import type { AcceptedNames } from './accepted-names.js';

/** The inputs of a definition's state besides the definition itself. */
export interface StateRules {
  readonly taken: AcceptedNames;
  readonly names: VendorNames;
  /** Why the schemas are not structural; undefined when they are. */
  readonly schemaFault: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * The status of a definition after its names were compared with those of all others; the same object when nothing
 * changes. Names that are free are accepted. A definition that got all of its names once stays established.
 */
export function stateOf(definition: CustomResourceDefinition, rules: StateRules): CustomResourceDefinitionStatus {
  const { metadata, spec, status } = definition;
  if (metadata.deletionTimestamp !== undefined) return status;
  const next: CustomResourceDefinitionStatus = { ...status };
  const { accepted, condition } = compareNames(definition, rules.taken);
  const isAccepted = condition.status === 'True';
  let changed = !deepEqual(accepted, status.acceptedNames);
  if (changed) next.acceptedNames = accepted;
  changed = setCondition(next, condition, rules.now) || changed;
  const established = findCondition(next, 'Established');
  if (isAccepted && established?.status !== 'True')
    changed = setCondition(next, initialNamesAccepted, rules.now) || changed;
  else if (established === undefined) changed = setCondition(next, notAccepted, rules.now) || changed;
  // Only a deletion sets this condition. Anybody else who set it would end the kind for its users.
  changed = removeCondition(next, 'Terminating') || changed;
  const { schemaFault } = rules;
  if (schemaFault === undefined) changed = removeCondition(next, 'NonStructuralSchema') || changed;
  else changed = setCondition(next, violations(schemaFault), rules.now) || changed;
  if (isProtectedGroup(spec.group, rules.names)) {
    changed = setCondition(next, approvalCondition(definition, rules.names), rules.now) || changed;
  }
  return changed ? next : status;
}

const initialNamesAccepted: ConditionUpdate = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
};
const notAccepted: ConditionUpdate = {
  type: 'Established',
  status: 'False',
  reason: 'NotAccepted',
  message: 'not all names are accepted',
};

function violations(message: string): ConditionUpdate {
  return { type: 'NonStructuralSchema', status: 'True', reason: 'Violations', message };
}

/**
 * Compares each name on its own, so as many names as possible are accepted. The condition reports the last conflict.
 */
function compareNames(
  { metadata, spec, status }: CustomResourceDefinition,
  taken: AcceptedNames,
): { readonly accepted: CustomResourceDefinitionNames; readonly condition: ConditionUpdate } {
  const wanted = spec.names;
  const has = status.acceptedNames;
  const accepted: CustomResourceDefinitionNames = { ...has };
  let condition: ConditionUpdate = {
    type: 'NamesAccepted',
    status: 'True',
    reason: 'NoConflicts',
    message: 'no conflicts found',
  };
  const conflict = (reason: string, message: string) => {
    condition = { type: 'NamesAccepted', status: 'False', reason, message };
  };
  const isFree = (sort: 'resource' | 'kind', name: string) =>
    !taken.isTaken(spec.group, sort, name, metadata.name ?? '');
  const inUse = (name: string) => `${JSON.stringify(name)} is already in use`;
  const compare = (field: 'plural' | 'singular' | 'kind' | 'listKind', sort: 'resource' | 'kind', reason: string) => {
    const name = wanted[field] ?? '';
    if (name !== (has[field] ?? '') && !isFree(sort, name)) conflict(reason, inUse(name));
    else if (name !== '') accepted[field] = name;
  };
  compare('plural', 'resource', 'PluralConflict');
  compare('singular', 'resource', 'SingularConflict');
  const shortNames = wanted.shortNames ?? [];
  const own = new Set(has.shortNames);
  const conflicts = shortNames.filter((name) => !own.has(name) && !isFree('resource', name)).map(inUse);
  if (conflicts.length > 0) {
    conflict('ShortNamesConflict', conflicts.length === 1 ? (conflicts[0] as string) : `[${conflicts.join(', ')}]`);
  } else if (shortNames.length > 0) accepted.shortNames = shortNames;
  else delete accepted.shortNames;
  compare('kind', 'kind', 'KindConflict');
  compare('listKind', 'kind', 'ListKindConflict');
  if (wanted.categories !== undefined) accepted.categories = wanted.categories;
  else delete accepted.categories;
  return { accepted, condition };
}

const approvals = {
  approved: { status: 'True', reason: 'ApprovedAnnotation' },
  bypassed: { status: 'False', reason: 'UnapprovedAnnotation' },
  invalid: { status: 'False', reason: 'InvalidAnnotation' },
  missing: { status: 'False', reason: 'MissingAnnotation' },
} as const;

function approvalCondition({ metadata }: CustomResourceDefinition, names: VendorNames): ConditionUpdate {
  const { state, reason: message } = apiApproval(metadata.annotations, names);
  return { type: 'KubernetesAPIApprovalPolicyConformant', ...approvals[state], message };
}
