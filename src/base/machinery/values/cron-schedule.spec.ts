import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { processorMs } from '../../../../test/support/processor-time.js';
import { scheduleError } from './cron-schedule.js';

const valid = [
  '* * * * *',
  '*/5 * * * *',
  '0 0 1 1 *',
  '5/10 * * * *',
  '0-59/70 * * * *',
  '* * * JAN-dec MON',
  '1,2,,3 * * * *',
  '? ? ? ? ?',
  '  0   0 * * 0  ',
  '@daily',
  '@every 1h30m',
];

const invalid: readonly (readonly [schedule: string, message: string])[] = [
  ['every day', 'expected exactly 5 fields, found 2: [every day]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['0 24 * * *', 'end of range (24) above maximum (23): 24'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['* * * 13 *', 'end of range (13) above maximum (12): 13'],
  ['* * * * 7', 'end of range (7) above maximum (6): 7'],
  ['a * * * *', 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
  ['mon * * * *', 'failed to parse int from mon: strconv.Atoi: parsing "mon": invalid syntax'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['*/x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ['@odd', 'unrecognized descriptor: @odd'],
  ['@every x', 'failed to parse duration @every x: time: invalid duration "x"'],
  ['TZ=UTC 0 0 * * *', 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'],
];

describe('scheduleError', () => {
  for (const schedule of valid) {
    it(`takes ${schedule}`, () => {
      assert.equal(scheduleError(schedule), undefined);
    });
  }

  for (const [schedule, message] of invalid) {
    it(`refuses ${schedule}`, () => {
      assert.equal(scheduleError(schedule), message);
    });
  }

  it('is fast for long text', () => {
    const start = processorMs();
    scheduleError(`${'1-'.repeat(500_000)} * * * *`);
    scheduleError('* '.repeat(500_000));
    assert.ok(processorMs() - start < 2000);
  });
});
