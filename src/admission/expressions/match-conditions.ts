import {
  admissionEnvironment,
  authorizerValue,
  type CelEnvironment,
  compileProgram,
  matchConditionsCostLimit,
  type Program,
  requestResourceValue,
  types,
  type Value,
} from '../../cel/index.js';
import type { Authorizer } from '../../machinery/authorizer.js';
import { Answers } from './answers.js';
import { ExpressionRun } from './evaluate.js';
import { type ExpressionInput, requestVariables } from './request-variables.js';

/** A condition as webhook configurations and policies hold it. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** `error`: no condition is false, and at least one could not be evaluated; the failure policy decides. */
export type MatchResult = 'match' | 'no match' | { readonly error: string };

/** Conditions prepared for many requests. */
export interface MatchConditions {
  /**
   * Whether a request fulfils all conditions. One that is false decides, whatever errors others have. Never rejects.
   *
   * @param more values of further variables that the environment declares
   */
  matches(input: ExpressionInput, more?: Readonly<Record<string, Value>>): Promise<MatchResult>;
}

type Compiled = MatchCondition & ({ readonly program: Program } | { readonly fault: string });

const webhookEnvironment = admissionEnvironment();

/**
 * Prepares the conditions of a webhook, or those of a policy with its environment. Stored conditions may be older than
 * the checks of today: one that can't be compiled is an error of every request.
 */
export function compileMatchConditions(
  conditions: readonly MatchCondition[],
  authorizer: Authorizer,
  environment: CelEnvironment = webhookEnvironment,
): MatchConditions {
  const compiled = conditions.map((condition): Compiled => {
    try {
      const program = compileProgram(condition.expression, environment, { results: [types.bool] });
      return { ...condition, program };
    } catch (error) {
      return { ...condition, fault: `compilation failed: ${error instanceof Error ? error.message : String(error)}` };
    }
  });
  if (compiled.length === 0) return { matches: () => Promise.resolve('match') };
  return {
    async matches(input, more = {}) {
      const variables = { ...requestVariables(input), ...authorizerVariables(authorizer, input), ...more };
      const run = new ExpressionRun(matchConditionsCostLimit);
      const errors: string[] = [];
      for (const condition of compiled) {
        const result =
          'fault' in condition
            ? { error: condition.fault, isOutOfBudget: false }
            : await run.evaluate(condition.program, variables);
        if (result.error !== undefined) {
          errors.push(`expression '${condition.expression}' resulted in error: ${result.error}`);
          if (result.isOutOfBudget) break;
        } else if (result.value === false) {
          return 'no match';
        } else if (result.value !== true) {
          errors.push(`expression '${condition.expression}' resulted in error: cel expression evaluated to non-bool`);
        }
      }
      return errors.length === 0
        ? 'match'
        : { error: errors.length === 1 ? (errors[0] as string) : `[${errors.join(', ')}]` };
    },
  };
}

/** Values of `authorizer` and `authorizer.requestResource`. */
export function authorizerVariables(
  authorizer: Authorizer,
  { attributes }: ExpressionInput,
): Readonly<Record<'authorizer' | 'authorizer.requestResource', Value>> {
  const answers = new Answers(authorizer, attributes.userInfo);
  const { resource, subresource, namespace, name } = attributes;
  const requested = { group: resource.group, resource: resource.resource, subresource, namespace, name };
  return {
    authorizer: authorizerValue(answers),
    'authorizer.requestResource': requestResourceValue(answers, requested),
  };
}
