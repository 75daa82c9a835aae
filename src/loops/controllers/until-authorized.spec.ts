import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import type { Authorizer } from '../../base/machinery/authorizer.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import { ManualTimers } from './testing/manual-timers.js';
import { untilAuthorized } from './until-authorized.js';

const names = vendorNames('example.com', 'kubernetes');

/** Whether the wait is over, after everything that is due now. */
async function isOver(wait: Promise<void>): Promise<boolean> {
  let over = false;
  void wait.then(() => {
    over = true;
  });
  await settled();
  return over;
}

describe('untilAuthorized', () => {
  const silent: Authorizer = { authorize: () => new Promise(() => undefined) };

  it('ends when the rights are in force', async () => {
    const timers = new ManualTimers();
    let decision: 'allow' | 'noOpinion' = 'noOpinion';
    const authorizer = { authorize: async () => ({ decision, reason: '' }) } as unknown as Authorizer;
    const wait = untilAuthorized({ authorizer, names, timers }, new AbortController().signal);
    timers.advance(10_000);
    assert.equal(await isOver(wait), false);
    decision = 'allow';
    timers.advance(50);
    await wait;
  });

  it('ends after 15 seconds with an authorizer that does not answer', async () => {
    const timers = new ManualTimers();
    const dependencies = { authorizer: silent, names, timers };
    const wait = untilAuthorized(dependencies, new AbortController().signal);
    timers.advance(14_999);
    assert.equal(await isOver(wait), false);
    timers.advance(1);
    assert.equal(await isOver(wait), true);
  });

  it('ends at once when the term of the leader ends, whatever the authorizer does', async () => {
    const term = new AbortController();
    const wait = untilAuthorized({ authorizer: silent, names, timers: new ManualTimers() }, term.signal);
    assert.equal(await isOver(wait), false);
    term.abort();
    assert.equal(await isOver(wait), true);
  });
});
