import { type FieldError, type FieldPath, invalid } from '../../../base/machinery/field-error.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import {
  apiFunctions,
  type Budget,
  CelCompileError,
  CelError,
  type CelType,
  type CompileWork,
  CostLimitExceeded,
  compileProgram,
  isList,
  listItems,
  listOf,
  mapOf,
  objectTypeOf,
  type Program,
  types,
  type Value,
} from '../../../objects/cel/index.js';
import { ExpressionError } from './expression-error.js';

const { bool, dyn, string } = types;

/** The claims of a token: a map of values of any type. */
const claimsEnvironment = { functions: apiFunctions, variables: { claims: mapOf(string, dyn) } };
const userEnvironment = {
  functions: apiFunctions,
  variables: {
    user: objectTypeOf('UserInfo', {
      username: string,
      uid: string,
      groups: listOf(string),
      extra: mapOf(string, listOf(string)),
    }),
  },
};

/** The type of result that an expression must have. */
export type ExpressionResult = 'condition' | 'text' | 'texts';

const resultTypes: Readonly<Record<ExpressionResult, readonly CelType[]>> = {
  condition: [bool],
  text: [string],
  texts: [string, listOf(string), types.null],
};

/** An expression about a token, or about its user. */
export interface ClaimExpression {
  readonly text: string;
  readonly program: Program;
}

/** Compiles an expression over `claims` or `user`; a fault is reported as an error at `path`. */
export function compileClaimExpression(
  text: string,
  about: 'claims' | 'user',
  result: ExpressionResult,
  path: FieldPath,
  work: CompileWork,
): ClaimExpression | FieldError {
  try {
    const environment = about === 'claims' ? claimsEnvironment : userEnvironment;
    return { text, program: compileProgram(text, environment, { results: resultTypes[result], work }) };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return invalid(path, text, error instanceof CelCompileError ? `compilation failed: ${detail}` : detail);
  }
}

/** @throws ExpressionError when the expression has no value for these inputs. */
export function evaluateClaims(
  { program, text }: ClaimExpression,
  variables: Readonly<Record<string, Value>>,
  budget: Budget,
): Value {
  try {
    return program.evaluate(variables, budget);
  } catch (error) {
    if (error instanceof CostLimitExceeded) throw new ExpressionError('its expressions take too much work');
    if (error instanceof CelError) throw new ExpressionError(`${JSON.stringify(text)} has no value for it`);
    throw error;
  }
}

/** Whether a condition holds. */
export function holds(value: Value, { text }: ClaimExpression): boolean {
  if (typeof value === 'boolean') return value;
  throw new ExpressionError(`${JSON.stringify(text)} is neither true nor false`);
}

export function claimText(value: Value, { text }: ClaimExpression): string {
  if (typeof value === 'string') return value;
  throw new ExpressionError(`${JSON.stringify(text)} is not a string`);
}

/** A string or a list of strings; null, the empty string and the empty list count as none. */
export function textsOf(value: Value, { text }: ClaimExpression): readonly string[] {
  if (value === null || value === '') return [];
  if (typeof value === 'string') return [value];
  const items = isList(value) ? listItems(value) : undefined;
  if (items?.every((item) => typeof item === 'string')) return items.filter((item) => item !== '');
  throw new ExpressionError(`${JSON.stringify(text)} is neither a string nor a list of strings`);
}

/** A user as expressions see it. */
export function userValue({ name, uid, groups, extra }: UserInfo): Value {
  return { username: name, uid, groups, extra } as unknown as Value;
}
