import { atOnce, type Steps } from '../../../base/machinery/turns.js';
import type { CompileWork } from '../compile-work.js';
import type { CelEnvironment } from '../compiler/environment.js';
import { compileProgram, type Program } from '../program.js';
import { type CelType, types } from '../values/cel-type.js';
import { type AdmissionNames, admissionEnvironment } from './admission-environment.js';

/** A variable in the spec of a policy. */
export interface PolicyVariable {
  readonly name: string;
  readonly expression: string;
}

/** A compiled expression, or the reason why it could not be compiled. */
export type CompiledText = { readonly program: Program } | { readonly fault: string };

/** The environments that the expressions of one policy share. */
export interface PolicyEnvironment {
  /** The environment of validations, audit annotations and mutations. */
  readonly full: CelEnvironment;
  /** The environment of message expressions, which may not use the authorizer. */
  readonly messages: CelEnvironment;
  /** The environment of match conditions, which are evaluated before variables. */
  readonly conditions: CelEnvironment;
  readonly variables: readonly (PolicyVariable & CompiledText)[];
}

type PolicyNames = Pick<AdmissionNames, 'hasParams' | 'functions' | 'messages' | 'object' | 'params'>;

/** Compiles an expression; a fault is part of the result. */
export function compileText(
  text: string,
  environment: CelEnvironment,
  results?: readonly CelType[],
  work?: CompileWork,
): CompiledText {
  try {
    return { program: compileProgram(text, environment, { ...(results === undefined ? {} : { results }), work }) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { fault: message.startsWith('must evaluate to') ? message : `compilation failed: ${message}` };
  }
}

/**
 * Compiles the variables of a policy in their order, each with those before it, and makes the environment of its other
 * expressions. A variable with a fault counts as one of unknown type.
 */
export function policyEnvironment(
  variables: readonly PolicyVariable[],
  names: PolicyNames,
  work?: CompileWork,
): PolicyEnvironment {
  return atOnce(policyEnvironmentInSteps(variables, names, work));
}

/** Like {@link policyEnvironment}, with one step for each variable. Stops at the variable that uses up `work`. */
export function* policyEnvironmentInSteps(
  variables: readonly PolicyVariable[],
  names: PolicyNames,
  work?: CompileWork,
): Steps<PolicyEnvironment> {
  const known = new Map<string, CelType>();
  // A policy without variables does not know the name `variables`.
  const withVariables = variables.length > 0 ? { ...names, variables: known } : names;
  const full = admissionEnvironment(withVariables);
  const compiled: (PolicyVariable & CompiledText)[] = [];
  for (const variable of variables) {
    if (work?.isUsedUp === true) break;
    const result = compileText(variable.expression, full, undefined, work);
    known.set(variable.name, 'program' in result ? result.program.type : types.dyn);
    compiled.push({ ...variable, ...result });
    yield;
  }
  return {
    full,
    messages: admissionEnvironment({ ...withVariables, hasAuthorizer: false }),
    conditions: admissionEnvironment(names),
    variables: compiled,
  };
}
