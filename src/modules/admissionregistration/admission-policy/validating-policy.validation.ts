import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import {
  duplicate,
  type FieldError,
  FieldPath,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../../../base/machinery/field-error.js';
import { isQualifiedName } from '../../../base/machinery/names.js';
import type {
  AuditAnnotation,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  Validation,
} from '../../../objects/apis/admissionregistration/v1/validating-admission-policy.types.js';
import { type PolicyEnvironment, types } from '../../../objects/cel/index.js';
import { ExpressionCheck } from '../expression-check.js';
import { validateBindingSpec, validatePolicySpec } from './policy.validation.js';

const specPath = FieldPath.of('spec');
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const actions = ['Audit', 'Deny', 'Warn'];
const maxAnnotations = 20;
const maxAnnotationText = 5 * 1024;

type Policy = ValidatingAdmissionPolicy & ApiObject;

/** Validates a policy. `old` is the live object of a change. */
export function validateValidatingPolicy({ metadata, spec }: Policy, old?: Policy): FieldError[] {
  const check = new ExpressionCheck(
    [],
    old === undefined || changesNames(spec, old.spec) ? new Set() : expressionsOf(old),
  );
  const environment = validatePolicySpec(spec, check);
  const validations = spec.validations ?? [];
  const annotations = spec.auditAnnotations ?? [];
  if (validations.length === 0 && annotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    for (const field of ['validations', 'auditAnnotations']) check.errors.push(required(specPath.child(field), detail));
  }
  for (const [i, validation] of validations.entries()) {
    validateValidation(validation, specPath.child('validations').index(i), check, environment);
  }
  validateAnnotations(annotations, metadata.name ?? '', check, environment);
  return check.errors;
}

function validateValidation(
  { expression, message, messageExpression = '', reason }: Validation,
  path: FieldPath,
  check: ExpressionCheck,
  environment: PolicyEnvironment,
): void {
  const { errors } = check;
  const text = message ?? '';
  if (expression.trim() === '') errors.push(required(path.child('expression'), 'expression is not specified'));
  else check.check(expression, path.child('expression'), environment.full, [types.bool]);
  if (text !== '' && text.trim() === '') {
    errors.push(invalid(path.child('message'), text, 'must be non-empty if specified'));
  } else if (text.includes('\n')) {
    errors.push(invalid(path.child('message'), text, 'must not contain line breaks'));
  } else if (text === '' && expression.trim().includes('\n')) {
    errors.push(required(path.child('message'), 'message must be specified if expression contains line breaks'));
  }
  if (messageExpression !== '') {
    if (messageExpression.trim() === '') {
      errors.push(invalid(path.child('messageExpression'), messageExpression, 'must be non-empty if specified'));
    } else {
      check.check(messageExpression, path.child('messageExpression'), environment.messages, [types.string]);
    }
  }
  if (reason !== undefined && !reasons.includes(reason)) {
    errors.push(notSupported(path.child('reason'), reason, reasons));
  }
}

function validateAnnotations(
  annotations: readonly AuditAnnotation[],
  policyName: string,
  check: ExpressionCheck,
  environment: PolicyEnvironment,
): void {
  const { errors } = check;
  const listPath = specPath.child('auditAnnotations');
  if (annotations.length > maxAnnotations) {
    errors.push(tooMany(listPath, annotations.length, maxAnnotations));
    return;
  }
  const keys = new Set<string>();
  for (const [i, { key, valueExpression }] of annotations.entries()) {
    const path = listPath.index(i);
    const fullName = `${policyName}/${key}`;
    for (const message of isQualifiedName(fullName)) errors.push(invalid(path.child('key'), fullName, message));
    if (keys.has(key)) errors.push(duplicate(path.child('key'), key));
    keys.add(key);
    const at = path.child('valueExpression');
    if (valueExpression.trim() === '') errors.push(required(at, 'valueExpression is not specified'));
    else if (valueExpression.length > maxAnnotationText) errors.push(tooLong(at, maxAnnotationText));
    else check.check(valueExpression, at, environment.full, [types.string, types.null]);
  }
}

/** Whether names in expressions may have a new meaning: then all expressions are compiled again. */
function changesNames(spec: Policy['spec'], old: Policy['spec']): boolean {
  return !isDeepStrictEqual([spec.paramKind, spec.variables], [old.paramKind, old.variables]);
}

function expressionsOf({ spec }: Policy): ReadonlySet<string> {
  const texts = [
    ...(spec.validations ?? []).flatMap(({ expression, messageExpression = '' }) => [expression, messageExpression]),
    ...(spec.auditAnnotations ?? []).map(({ valueExpression }) => valueExpression),
    ...(spec.matchConditions ?? []).map(({ expression }) => expression),
    ...(spec.variables ?? []).map(({ expression }) => expression),
  ];
  return new Set(texts);
}

/** Validates the binding of a policy. */
export function validateValidatingBinding({ spec }: ValidatingAdmissionPolicyBinding): FieldError[] {
  const errors: FieldError[] = [];
  const path = specPath.child('validationActions');
  const chosen = spec.validationActions ?? [];
  // The rules that fields are required are declared with the type, so their errors come after the others.
  const missing = spec.policyName ? [] : [required(specPath.child('policyName'))];
  validateBindingSpec(spec, errors, missing.length > 0);
  if (chosen.length === 0) missing.push(required(path));
  const seen = new Set<string>();
  for (const [i, action] of chosen.entries()) {
    if (!actions.includes(action)) errors.push(notSupported(path.index(i), action, actions));
    if (seen.has(action)) errors.push(duplicate(path.index(i), action));
    seen.add(action);
  }
  if (seen.has('Deny') && seen.has('Warn')) {
    const detail =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    errors.push(invalid(path, chosen, detail));
  }
  return [...errors, ...missing];
}
