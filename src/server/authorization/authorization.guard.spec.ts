import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ExecutionContext } from '@nestjs/common';
import type { AuthorizationDecision } from '../../base/machinery/authorizer.js';
import { AuthorizationGuard } from './authorization.guard.js';

const user = { name: 'alice', uid: '', groups: [], extra: {} };
const requestInfo = { isResourceRequest: false, path: '/version', verb: 'get', parts: [] };

/** Asks the guard about a request, and records the calls to servers outside that its context sees. */
function ask(answer: () => Promise<AuthorizationDecision> | AuthorizationDecision) {
  const seen: string[] = [];
  const plinthContext = {
    user,
    requestInfo,
    beginRemoteCall: () => seen.push('begin'),
    endRemoteCall: () => seen.push('end'),
  };
  const guard = new AuthorizationGuard({ authorize: answer }, { decided: () => undefined });
  const host = { getArgByIndex: () => ({ plinthContext }) } as unknown as ExecutionContext;
  return { seen, answer: guard.canActivate(host) };
}

it('a request that waits for the decision of a webhook holds up no others meanwhile', async () => {
  let decide: (decision: AuthorizationDecision) => void = () => undefined;
  const { seen, answer } = ask(
    () =>
      new Promise((resolve) => {
        decide = resolve;
      }),
  );
  assert.deepEqual(seen, ['begin']);
  decide({ decision: 'allow', reason: '' });
  assert.equal(await answer, true);
  assert.deepEqual(seen, ['begin', 'end']);
});

it('a webhook that fails is no longer waited for', async () => {
  const { seen, answer } = ask(() => Promise.reject(new Error('no answer')));
  await assert.rejects(async () => answer, /no answer/);
  assert.deepEqual(seen, ['begin', 'end']);
});

it('a decision of the authorizers of the process waits for nobody', () => {
  const { seen, answer } = ask(() => ({ decision: 'allow', reason: '' }));
  assert.equal(answer, true);
  assert.deepEqual(seen, []);
});
