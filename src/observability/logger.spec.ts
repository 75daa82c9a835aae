import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type LogFormat, Logger } from './logger.js';

const logged = (error: unknown, format: LogFormat): string => {
  let line = '';
  new Logger('info', format, (text) => {
    line = text;
  }).warn('failed', { error });
  return line;
};

for (const format of ['text', 'json'] as const) {
  it(`shows expected errors without a stack, and faults with one (${format})`, () => {
    const refusal = logged(Object.assign(new Error('no room'), { isExpected: true }), format);
    assert.match(refusal, /no room/);
    assert.doesNotMatch(refusal, /logger\.spec/);
    assert.equal(refusal.trim().split('\n').length, 1);
    assert.match(logged(new Error('broken'), format), /broken[\s\S]*logger\.spec/);
  });
}
