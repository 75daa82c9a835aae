import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { machinePace, processorMs } from '../../../../test/support/processor-time.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Authorizer } from '../../../base/machinery/authorizer.js';
import type { MatchingDependencies } from '../matching/request-matcher.js';
import { compiledPolicy } from '../plugins/validating-admission-policy/compiled-policy.js';

const authorizer: Authorizer = { authorize: () => ({ decision: 'deny', reason: '' }) };
/** A policy of the largest allowed size. */
const validations = Array.from({ length: 250 }, (_, i) => ({
  expression: `object.spec.a${i} == ${i} && ${Array(10).fill('object.metadata.name != "x"').join(' && ')}`,
}));
const policy = (name: string): ApiObject =>
  ({ metadata: { name }, spec: { failurePolicy: 'Fail', matchConstraints: {}, validations } }) as unknown as ApiObject;

it('compiles the expressions of many large policies in turns, and first those that a request waits for', async () => {
  const matching = {} as MatchingDependencies;
  const policies = Array.from({ length: 20 }, (_, i) => compiledPolicy(policy(`p${i}`), matching, authorizer));
  let isDone = false;
  const holds: number[] = [];
  const watching = (async () => {
    for (let began = processorMs(); !isDone; began = processorMs()) {
      await nextRound();
      holds.push(processorMs() - began);
    }
  })();
  const waited = policies.at(-1)?.expressions;
  assert.ok(waited instanceof Promise);
  assert.equal((await waited).validations.length, 250);
  assert.ok(policies[1]?.expressions instanceof Promise, 'others wait');
  for (const one of policies) assert.equal((await one.expressions).validations.length, 250);
  isDone = true;
  await watching;
  assert.ok(holds.length > 10, `${holds.length} rounds`);
  const longest = Math.max(...holds);
  assert.ok(longest < 60 * machinePace(), `${longest.toFixed(1)} ms`);
});
