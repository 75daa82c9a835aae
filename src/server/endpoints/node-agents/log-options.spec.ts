import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseLogOptions } from './log-options.js';

const parse = (query: string, hasStreams: boolean) => parseLogOptions(new URLSearchParams(query), 'p', hasStreams);

describe('the query stream of a log', () => {
  it('is refused without its feature, even if empty, and before its value is read', () => {
    for (const stream of ['Stdout', 'Odd', '']) {
      const message = 'PodLogOptions "p" is invalid: stream: Forbidden: may not be specified';
      assert.throws(() => parse(`stream=${stream}&tailLines=1`, false), { code: 422, message });
    }
    assert.equal(parse('tailLines=1', false).forAgent.get('tailLines'), '1');
  });

  it('goes to the agent with its feature', () => {
    assert.equal(parse('stream=Stderr', true).forAgent.get('stream'), 'Stderr');
    assert.throws(() => parse('stream=Odd', true), { code: 422, message: /Unsupported value: "Odd"/ });
    assert.throws(() => parse('stream=Stdout&tailLines=1', true), { code: 422, message: /mutually exclusive/ });
  });
});
