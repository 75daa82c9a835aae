import type { Authorizer } from '../../../base/machinery/authorizer.js';
import type { QueuedResult } from '../../../base/machinery/step-queue.js';
import type { Steps } from '../../../base/machinery/turns.js';
import {
  admissionEnvironment,
  authorizerValue,
  type CelEnvironment,
  type CompiledText,
  compileText,
  matchConditionsCostLimit,
  requestResourceValue,
  types,
  type Value,
} from '../../../objects/cel/index.js';
import { Answers } from './answers.js';
import { compilations } from './compilations.js';
import { ExpressionRun } from './expression-run.js';
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
   * Whether a request fulfils all conditions. A false condition decides, even if others fail with errors. Never
   * rejects.
   *
   * @param more values of further variables that the environment declares
   */
  matches(input: ExpressionInput, more?: Readonly<Record<string, Value>>): Promise<MatchResult>;
}

type Compiled = MatchCondition & CompiledText;

const webhookEnvironment = admissionEnvironment();

/**
 * Prepares the conditions of a webhook for many requests. They are compiled at the first request, in steps that yield
 * to other work.
 */
export function compileMatchConditions(conditions: readonly MatchCondition[], authorizer: Authorizer): MatchConditions {
  let compiled: QueuedResult<MatchConditions> | undefined;
  return {
    async matches(input, more) {
      compiled ??= compilations.add(matchConditionsInSteps(conditions, authorizer));
      return (await compiled.get()).matches(input, more);
    },
  };
}

/**
 * Compiles the conditions of a webhook, or those of a policy with its environment, one in each step. Stored conditions
 * may predate today's checks: one that can't be compiled is an error for every request.
 */
export function* matchConditionsInSteps(
  conditions: readonly MatchCondition[],
  authorizer: Authorizer,
  environment: CelEnvironment = webhookEnvironment,
): Steps<MatchConditions> {
  const compiled: Compiled[] = [];
  for (const condition of conditions) {
    compiled.push({ ...condition, ...compileText(condition.expression, environment, [types.bool]) });
    yield;
  }
  if (compiled.length === 0) return { matches: () => Promise.resolve('match') };
  return {
    async matches(input, more = {}) {
      const variables = {
        ...requestVariables(input),
        // Declared, but always null, as in the newest release: conditions are evaluated before the namespace is looked
        // up.
        namespaceObject: null,
        ...authorizerVariables(authorizer, input),
        ...more,
      };
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
