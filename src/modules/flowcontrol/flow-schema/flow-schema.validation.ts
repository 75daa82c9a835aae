import { type FieldError, FieldPath, invalid, notSupported, required } from '../../../base/machinery/field-error.js';
import { isDns1123Subdomain } from '../../../base/machinery/names.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type {
  FlowSchema,
  FlowSchemaSpec,
  PolicyRulesWithSubjects,
} from '../../../objects/apis/flowcontrol/v1/flow-schema.types.js';
import { checkNonResourceRule, checkResourceRule } from './policy-rule.validation.js';
import { checkSubject } from './subject.validation.js';

const maxPrecedence = 10_000;
const exemptName = 'exempt';
const distinguishers = ['ByNamespace', 'ByUser'];

const specPath = FieldPath.of('spec');
const rulesPath = specPath.child('rules');

const everything: Pick<PolicyRulesWithSubjects, 'resourceRules' | 'nonResourceRules'> = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};

/** Schemas that every server needs. Objects with these names must have this content. */
const mandatory: ReadonlyMap<string, FlowSchemaSpec> = new Map([
  [
    exemptName,
    {
      priorityLevelConfiguration: { name: 'exempt' },
      matchingPrecedence: 1,
      rules: [{ subjects: [{ kind: 'Group', group: { name: 'system:masters' } }], ...everything }],
    },
  ],
  [
    'catch-all',
    {
      priorityLevelConfiguration: { name: 'catch-all' },
      matchingPrecedence: maxPrecedence,
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: [
            { kind: 'Group', group: { name: 'system:unauthenticated' } },
            { kind: 'Group', group: { name: 'system:authenticated' } },
          ],
          ...everything,
        },
      ],
    },
  ],
]);

/** Validates a new or changed FlowSchema. */
export function validateFlowSchema({ metadata, spec }: FlowSchema): FieldError[] {
  const errors: FieldError[] = [];
  const name = metadata.name ?? '';
  checkPrecedence(name, spec.matchingPrecedence, errors);
  const { distinguisherMethod, priorityLevelConfiguration: level } = spec;
  if (distinguisherMethod !== undefined && !distinguishers.includes(distinguisherMethod.type)) {
    const path = specPath.child('distinguisherMethod').child('type');
    errors.push(notSupported(path, distinguisherMethod, distinguishers));
  }
  const levelPath = specPath.child('priorityLevelConfiguration').child('name');
  if (level.name === '') errors.push(required(levelPath, 'must reference a priority level'));
  else for (const message of isDns1123Subdomain(level.name)) errors.push(invalid(levelPath, level.name, message));
  for (const [i, rule] of (spec.rules ?? []).entries()) checkRule(rule, rulesPath.index(i), errors);
  const fixed = mandatory.get(name);
  if (fixed !== undefined && !deepEqual(spec, fixed)) {
    errors.push(invalid(specPath, spec, `spec of '${name}' must equal the fixed value`));
  }
  return errors;
}

function checkPrecedence(name: string, precedence: number, errors: FieldError[]): void {
  const path = specPath.child('matchingPrecedence');
  if (precedence <= 0) errors.push(invalid(path, precedence, 'must be a positive value'));
  if (precedence > maxPrecedence) {
    errors.push(invalid(path, precedence, `must not be greater than ${maxPrecedence}`));
  }
  if (precedence === 1 && name !== exemptName) {
    errors.push(invalid(path, precedence, "only the schema named 'exempt' may have matchingPrecedence 1"));
  }
}

function checkRule(rule: PolicyRulesWithSubjects, path: FieldPath, errors: FieldError[]): void {
  const { resourceRules = [], nonResourceRules = [] } = rule;
  const subjects = rule.subjects ?? [];
  const subjectsPath = path.child('subjects');
  if (subjects.length === 0) errors.push(required(subjectsPath, 'subjects must contain at least one value'));
  for (const [i, subject] of subjects.entries()) checkSubject(subject, subjectsPath.index(i), errors);
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    errors.push(required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty'));
  }
  for (const [i, r] of resourceRules.entries()) checkResourceRule(r, path.child('resourceRules').index(i), errors);
  for (const [i, r] of nonResourceRules.entries()) {
    checkNonResourceRule(r, path.child('nonResourceRules').index(i), errors);
  }
}
