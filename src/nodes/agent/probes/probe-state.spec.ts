import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ProbeState } from './probe-state.js';

describe('ProbeState', () => {
  it('changes after as many same results in a row as the probe demands', () => {
    const state = new ProbeState({ failureThreshold: 2, successThreshold: 3 }, 'success');
    assert.deepEqual([state.take('failure'), state.take('success'), state.take('failure')], [false, false, false]);
    assert.equal(state.take('failure'), true);
    assert.equal(state.verdict, 'failure');
    assert.deepEqual([state.take('success'), state.take('success'), state.take('success')], [false, false, true]);
  });
});
