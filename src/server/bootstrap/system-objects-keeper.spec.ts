import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SystemObjectsKeeper } from './system-objects-keeper.js';

it('looks after each wait, reports an outage once, and ends with the signal', async () => {
  const stop = new AbortController();
  const lines: string[] = [];
  const logger = { error: (text: string) => lines.push(text), info: (text: string) => lines.push(text) };
  const outcomes = [new Error('no database'), new Error('still none'), undefined, undefined];
  let looks = 0;
  const ensure = async () => {
    const outcome = outcomes[looks++];
    if (looks === outcomes.length) stop.abort();
    if (outcome !== undefined) throw outcome;
  };
  const keeper = new SystemObjectsKeeper(ensure, logger, { wait: async () => undefined });
  keeper.start(stop.signal);
  await keeper.stopped();
  assert.equal(looks, outcomes.length);
  assert.deepEqual(lines, [
    'cannot look after the objects that every cluster has',
    'looks after the objects that every cluster has again',
  ]);
});
