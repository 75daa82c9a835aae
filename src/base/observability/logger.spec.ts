import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { LogFormat } from './log-format.js';
import { Logger } from './logger.js';

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

  it(`shows what comes from an expected error by the messages of both (${format})`, () => {
    const outage = Object.assign(new Error('no answer: refused', { cause: new Error('refused') }), {
      isExpected: true,
    });
    const line = logged(new Error('not now', { cause: outage }), format);
    assert.match(line, /not now \(cause: no answer: refused\)"/);
    assert.doesNotMatch(line, /logger\.spec/);
    const round = new Error('round');
    round.cause = round;
    assert.match(logged(round, format), /round/);
  });
}

for (const format of ['text', 'json'] as const) {
  it(`lets nothing in a value pass for a line of its own, steer a terminal or fill the disk (${format})`, () => {
    const forged = '2030-01-01T00:00:00.000Z ERROR forged';
    const hostile = `a\n${forged}\r\n\u001b[2J\u009b31m\u007f\u2028\u2029\u0000b`;
    const nasty = new Error(hostile);
    for (const value of [hostile, nasty, { inner: hostile }, [hostile]]) {
      const line = logged(value, format);
      assert.doesNotMatch(line, /[^\n -~]/, 'printable');
      assert.ok(!line.split('\n').includes(forged), line);
      for (const each of line.trimEnd().split('\n').slice(1)) assert.match(each, /^ {4}/);
      if (format === 'json') assert.ok(JSON.stringify(JSON.parse(line).error).includes('forged'));
    }
    for (const value of ['x'.repeat(1e6), new Error('x'.repeat(1e6))]) {
      const line = logged(value, format);
      assert.ok(line.length < 40_000, `${line.length}`);
      assert.match(line, /\(\d{7} characters\)/);
    }
  });
}
