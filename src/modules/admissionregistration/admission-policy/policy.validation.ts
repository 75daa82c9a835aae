import {
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { isDns1035Label, isDns1123Subdomain, isPathSegmentName } from '../../../base/machinery/names.js';
import type {
  ParamKind,
  ParamRef,
  Variable,
} from '../../../objects/apis/admissionregistration/v1/admission-policy-param.types.js';
import type { MatchCondition, MatchResources } from '../../../objects/apis/admissionregistration/v1/rule.types.js';
import { validateLabelSelector } from '../../../objects/apis/meta/v1/validation/label-selector.validation.js';
import {
  type FunctionTable,
  type MessageType,
  type PolicyEnvironment,
  policyEnvironment,
} from '../../../objects/cel/index.js';
import { type ExpressionCheck, expressionFault } from '../expression-check.js';
import { validateMatchResources } from './match-resources.validation.js';

/** The fields that both kinds of policies share. */
export interface PolicySpec {
  readonly paramKind?: ParamKind | undefined;
  readonly matchConstraints?: MatchResources | undefined;
  readonly variables?: readonly Variable[] | null | undefined;
  readonly matchConditions?: readonly MatchCondition[] | null | undefined;
  readonly failurePolicy?: string | undefined;
}

/** The fields that both kinds of bindings share. */
export interface BindingSpec {
  readonly policyName?: string | undefined;
  readonly paramRef?: ParamRef | undefined;
  readonly matchResources?: MatchResources | undefined;
}

/** The names that expressions of a kind of policy may use besides the functions of the API. */
export interface PolicyNames {
  readonly functions?: FunctionTable;
  readonly messages?: (name: string) => MessageType | undefined;
}

const specPath = FieldPath.of('spec');
const failurePolicies = ['Fail', 'Ignore'];
const notFoundActions = ['Deny', 'Allow'];
const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const reservedNames = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** Validates the parts that both kinds of policies have, and returns the environment of their other expressions. */
export function validatePolicySpec(
  spec: PolicySpec,
  check: ExpressionCheck,
  more: PolicyNames = {},
  changesObjects = false,
): PolicyEnvironment {
  const { errors } = check;
  const { paramKind, matchConstraints, failurePolicy } = spec;
  if (failurePolicy === undefined) errors.push(required(specPath.child('failurePolicy')));
  else if (!failurePolicies.includes(failurePolicy)) {
    errors.push(notSupported(specPath.child('failurePolicy'), failurePolicy, failurePolicies));
  }
  if (paramKind !== undefined) validateParamKind(paramKind, specPath.child('paramKind'), errors);
  const constraintsPath = specPath.child('matchConstraints');
  if (matchConstraints === undefined) errors.push(required(constraintsPath));
  else {
    validateMatchResources(matchConstraints, constraintsPath, errors, changesObjects);
    if ((matchConstraints.resourceRules ?? []).length === 0)
      errors.push(required(constraintsPath.child('resourceRules')));
  }
  const conditions = policyEnvironment([], { ...more, hasParams: paramKind !== undefined }).conditions;
  check.checkConditions(spec.matchConditions ?? [], specPath.child('matchConditions'), conditions);
  return validateVariables(spec, check, more);
}

function validateVariables(
  { variables, paramKind }: PolicySpec,
  check: ExpressionCheck,
  more: PolicyNames,
): PolicyEnvironment {
  const { errors } = check;
  const all = variables ?? [];
  const fitting: Variable[] = [];
  for (const [i, variable] of all.entries()) {
    const at = specPath.child('variables').index(i);
    const { name, expression } = variable;
    if (name.trim() === '') errors.push(required(at.child('name'), 'name is not specified'));
    else if (!identifier.test(name) || reservedNames.has(name)) {
      errors.push(invalid(at.child('name'), name, 'must be a valid CEL identifier'));
    }
    if (expression.trim() === '') errors.push(required(at.child('expression'), 'expression is not specified'));
    if (check.fits(expression, at.child('expression'))) fitting.push(variable);
  }
  const hasParams = paramKind !== undefined;
  const environment = policyEnvironment(fitting, { ...more, hasParams }, check.work);
  for (const [i, compiled] of environment.variables.entries()) {
    const isNew = !check.known.has(compiled.expression) && compiled.expression.trim() !== '';
    if (!('fault' in compiled) || !isNew) continue;
    const path = specPath.child('variables').index(i).child('expression');
    if (check.overWork(path)) break;
    errors.push(expressionFault(path, compiled.expression, compiled.fault));
  }
  return environment;
}

function validateParamKind({ apiVersion = '', kind = '' }: ParamKind, path: FieldPath, errors: FieldError[]): void {
  const parts = apiVersion.split('/');
  const versionPath = path.child('apiVersion');
  if (apiVersion === '') errors.push(required(versionPath));
  else if (parts.length > 2)
    errors.push(invalid(versionPath, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  else {
    const version = parts.at(-1) as string;
    if (parts.length === 2) {
      for (const message of isDns1123Subdomain(parts[0] as string))
        errors.push(invalid(versionPath, parts[0], message));
    }
    for (const message of isDns1035Label(version)) errors.push(invalid(versionPath, version, message));
  }
  if (kind === '') errors.push(required(path.child('kind')));
  else
    for (const message of isDns1035Label(kind.toLowerCase())) {
      const detail = `may have mixed case, but should otherwise match: ${message}`;
      errors.push(invalid(path.child('kind'), kind, detail));
    }
}

/**
 * Validates the parts that both kinds of bindings have.
 *
 * @param isNameReported whether the caller reports a missing policy name
 * @param changesObjects whether the policy changes objects
 */
export function validateBindingSpec(
  { policyName = '', paramRef, matchResources }: BindingSpec,
  errors: FieldError[],
  isNameReported = false,
  changesObjects = false,
): void {
  const policyPath = specPath.child('policyName');
  if (policyName === '') {
    if (!isNameReported) errors.push(required(policyPath));
  } else for (const message of isDns1123Subdomain(policyName)) errors.push(invalid(policyPath, policyName, message));
  if (paramRef !== undefined) validateParamRef(paramRef, specPath.child('paramRef'), errors);
  if (matchResources !== undefined) {
    validateMatchResources(matchResources, specPath.child('matchResources'), errors, changesObjects);
  }
}

function validateParamRef(ref: ParamRef, path: FieldPath, errors: FieldError[]): void {
  const { name = '', selector, parameterNotFoundAction: action } = ref;
  if (name !== '') {
    for (const message of isPathSegmentName(name)) errors.push(invalid(path.child('name'), name, message));
    if (selector !== undefined) errors.push(forbidden(path.child('name'), 'name and selector are mutually exclusive'));
  }
  if (selector !== undefined) {
    errors.push(...validateLabelSelector(selector, path.child('selector')));
    if (name !== '') errors.push(forbidden(path.child('selector'), 'name and selector are mutually exclusive'));
  }
  if (name === '' && selector === undefined) errors.push(required(path, 'one of name or selector must be specified'));
  const actionPath = path.child('parameterNotFoundAction');
  if (action === undefined || action === '') errors.push(required(actionPath));
  else if (!notFoundActions.includes(action)) errors.push(notSupported(actionPath, action, notFoundActions));
}
