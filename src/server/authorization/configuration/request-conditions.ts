import type { AuthorizerAttributes } from '../../../base/machinery/authorizer.js';
import { type FieldError, type FieldPath, invalid } from '../../../base/machinery/field-error.js';
import {
  apiFunctions,
  Budget,
  type CelType,
  CompileWork,
  compileProgram,
  listOf,
  mapOf,
  matchConditionsCostLimit,
  objectTypeOf,
  type Program,
  types,
  type Value,
} from '../../../objects/cel/index.js';
import { selectorFields } from '../webhook/selector-fields.js';

const { bool, string } = types;

const selectorAttributes = (of: 'Field' | 'Label') =>
  objectTypeOf(`${of}SelectorAttributes`, {
    rawSelector: string,
    requirements: listOf(
      objectTypeOf(`${of}SelectorRequirement`, { key: string, operator: string, values: listOf(string) }),
    ),
  });
const resourceAttributes = objectTypeOf('ResourceAttributes', {
  namespace: string,
  verb: string,
  group: string,
  version: string,
  resource: string,
  subresource: string,
  name: string,
  fieldSelector: selectorAttributes('Field'),
  labelSelector: selectorAttributes('Label'),
});
const request: CelType = objectTypeOf('SubjectAccessReviewSpec', {
  resourceAttributes,
  nonResourceAttributes: objectTypeOf('NonResourceAttributes', { path: string, verb: string }),
  user: string,
  groups: listOf(string),
  uid: string,
  extra: mapOf(string, listOf(string)),
});
const environment = { functions: apiFunctions, variables: { request } };

/** The limit for compiling all conditions of a file, which takes some tens of milliseconds at most. */
const maxCompileWork = 20_000;

/** The limit for compiling the conditions of one file. */
export function conditionWork(): CompileWork {
  return new CompileWork(maxCompileWork);
}

/** Compiles a condition over `request`, the spec of the access review; a fault is reported as an error at `path`. */
export function compileCondition(text: string, path: FieldPath, work: CompileWork): Program | FieldError {
  try {
    return compileProgram(text, environment, { results: [bool], work });
  } catch (error) {
    return invalid(path, text, `compilation failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Whether a request matches all conditions; `error` when no condition is false and one can't be evaluated. */
export type ConditionResult = { readonly matches: boolean } | { readonly error: unknown };

/**
 * Evaluates the conditions under one budget. If one is false, the request does not match, whatever the others return.
 */
export function matchConditions(conditions: readonly Program[], attributes: AuthorizerAttributes): ConditionResult {
  if (conditions.length === 0) return { matches: true };
  const variables = { request: requestValue(attributes) };
  const budget = new Budget(matchConditionsCostLimit);
  let failure: { readonly error: unknown } | undefined;
  for (const condition of conditions) {
    try {
      if (condition.evaluate(variables, budget) !== true) return { matches: false };
    } catch (error) {
      failure ??= { error };
    }
  }
  return failure ?? { matches: true };
}

function requestValue(attributes: AuthorizerAttributes): Value {
  const { user, verb, path, namespace, apiGroup, apiVersion, resource, subresource, name } = attributes;
  const about = attributes.isResourceRequest
    ? {
        resourceAttributes: {
          ...{ namespace, verb, group: apiGroup, version: apiVersion, resource, subresource, name },
          ...selectorFields(attributes),
        },
      }
    : { nonResourceAttributes: { path, verb } };
  const who = { user: user.name, groups: user.groups, uid: user.uid, extra: user.extra };
  return { ...about, ...who } as unknown as Value;
}
