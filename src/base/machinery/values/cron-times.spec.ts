import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { processorMs } from '../../../../test/support/processor-time.js';
import { parseSchedule } from './cron-schedule.js';
import { lastTime, nextTime } from './cron-times.js';
import { TimeZone } from './time-zone.js';

/** Schedule, zone, an instant, and the times that follow, as the clock of the zone shows them. */
const cases: readonly (readonly [string, string, string, readonly string[]])[] = [
  ['* * * * *', 'UTC', '2030-01-01T00:00:30Z', ['2030-01-01T00:01:00Z', '2030-01-01T00:02:00Z']],
  ['*/20 * * * *', 'UTC', '2030-01-01T00:40:00Z', ['2030-01-01T01:00:00Z', '2030-01-01T01:20:00Z']],
  ['5/30 8-9 * * *', 'UTC', '2030-01-01T08:05:00Z', ['2030-01-01T08:35:00Z', '2030-01-01T09:05:00Z']],
  ['0 0 1 JAN *', 'UTC', '2030-01-01T00:00:00Z', ['2031-01-01T00:00:00Z']],
  ['@yearly', 'UTC', '2030-06-01T00:00:00Z', ['2031-01-01T00:00:00Z', '2032-01-01T00:00:00Z']],
  ['@weekly', 'UTC', '2030-01-01T00:00:00Z', ['2030-01-06T00:00:00Z', '2030-01-13T00:00:00Z']],
  ['@hourly', 'Asia/Kolkata', '2030-01-01T00:00:00Z', ['2030-01-01T06:00:00+05:30']],
  ['@every 90m', 'UTC', '2030-01-01T00:00:10Z', ['2030-01-01T01:30:10Z', '2030-01-01T03:00:10Z']],
  ['@every 100ms', 'UTC', '2030-01-01T00:00:10Z', ['2030-01-01T00:00:11Z']],
  ['0 12 29 2 *', 'UTC', '2029-01-01T00:00:00Z', ['2032-02-29T12:00:00Z']],
  // The 13th and every Friday: without a star in either day field, one match is enough. With a star, both must match.
  [
    '0 0 13 * FRI',
    'UTC',
    '2030-01-01T00:00:00Z',
    ['2030-01-04T00:00:00Z', '2030-01-11T00:00:00Z', '2030-01-13T00:00:00Z'],
  ],
  ['0 0 13 * *', 'UTC', '2030-01-01T00:00:00Z', ['2030-01-13T00:00:00Z', '2030-02-13T00:00:00Z']],
  ['0 0 */10 * MON', 'UTC', '2030-01-01T00:00:00Z', ['2030-01-07T00:00:00Z', '2030-01-11T00:00:00Z']],
  // Clocks go forward at 2:00: 2:30 is left out.
  ['30 2 * * *', 'America/New_York', '2012-03-10T12:00:00Z', ['2012-03-12T02:30:00-04:00']],
  [
    '30 * * * *',
    'America/New_York',
    '2012-03-11T06:00:00Z',
    ['2012-03-11T01:30:00-05:00', '2012-03-11T03:30:00-04:00'],
  ],
  // Clocks go back at 2:00: 1:30 comes twice.
  [
    '30 1 * * *',
    'America/New_York',
    '2012-11-04T04:00:00Z',
    ['2012-11-04T01:30:00-04:00', '2012-11-04T01:30:00-05:00', '2012-11-05T01:30:00-05:00'],
  ],
  [
    '0 * * * *',
    'America/New_York',
    '2012-11-04T04:00:00Z',
    ['2012-11-04T01:00:00-04:00', '2012-11-04T01:00:00-05:00', '2012-11-04T02:00:00-05:00'],
  ],
  ['0 0 * * *', 'Europe/Berlin', '2030-03-30T00:00:00Z', ['2030-03-31T00:00:00+01:00', '2030-04-01T00:00:00+02:00']],
  // A midnight that does not exist.
  ['0 0 * * *', 'America/Sao_Paulo', '2018-11-03T12:00:00Z', ['2018-11-05T00:00:00-02:00']],
  // The clock changes by half an hour.
  ['15 2 * * *', 'Australia/Lord_Howe', '2030-10-05T00:00:00Z', ['2030-10-07T02:15:00+11:00']],
  // Zones far from UTC.
  ['0 0 1 * *', 'Pacific/Kiritimati', '2030-01-15T00:00:00Z', ['2030-02-01T00:00:00+14:00']],
  ['59 23 31 12 *', 'Pacific/Pago_Pago', '2030-01-15T00:00:00Z', ['2030-12-31T23:59:00-11:00']],
];

describe('nextTime and lastTime', () => {
  for (const [schedule, zoneName, from, expected] of cases) {
    it(`find the times of ${schedule} in ${zoneName} after ${from}`, () => {
      const parsed = parseSchedule(schedule);
      const zone = new TimeZone(zoneName);
      const after = Date.parse(from);
      let at = after;
      for (const text of expected) {
        const next = nextTime(parsed, zone, at);
        assert.equal(next === undefined ? 'none' : zone.format(next), text);
        if (next === undefined) return;
        assert.equal(lastTime(parsed, zone, at, next), next);
        if (parsed.kind === 'clock') assert.equal(lastTime(parsed, zone, after, next + 59_000), next);
        assert.equal(lastTime(parsed, zone, at, next - 1), undefined);
        at = next;
      }
    });
  }

  it('find none for a day that does not exist, soon', () => {
    const parsed = parseSchedule('0 0 31 2 *');
    const zone = new TimeZone('Europe/Berlin');
    const begin = processorMs();
    assert.equal(nextTime(parsed, zone, Date.parse('2030-01-01T00:00:00Z')), undefined);
    assert.equal(lastTime(parsed, zone, 0, Date.parse('2030-01-01T00:00:00Z')), undefined);
    assert.ok(processorMs() - begin < 500);
  });

  it('agree over a whole year, minute by minute', () => {
    const zone = new TimeZone('Europe/Berlin');
    const parsed = parseSchedule('*/15 1-3 25-31 3,10 *');
    const end = Date.parse('2031-01-01T00:00:00Z');
    const found: number[] = [];
    for (let at = nextTime(parsed, zone, Date.parse('2030-01-01T00:00:00Z')); at !== undefined && at < end; ) {
      found.push(at);
      at = nextTime(parsed, zone, at);
    }
    const expected: number[] = [];
    for (const month of ['03', '10']) {
      for (
        let at = Date.parse(`2030-${month}-24T00:00:00Z`);
        at < Date.parse(`2030-${month}-31T23:59:00Z`);
        at += 60_000
      ) {
        const [, day = '', hour = '', minute = ''] = /-(\d\d)T(\d\d):(\d\d)/.exec(zone.format(at)) ?? [];
        if (Number(day) >= 25 && Number(hour) >= 1 && Number(hour) <= 3 && Number(minute) % 15 === 0) expected.push(at);
      }
    }
    assert.deepEqual(
      found.map((at) => zone.format(at)),
      expected.map((at) => zone.format(at)),
    );
  });

  it('take the zone of the process without another', () => {
    assert.equal(new TimeZone().offsetAt(0) + new Date(0).getTimezoneOffset() * 60_000, 0);
  });

  it('refuse a zone that nobody knows', () => {
    assert.throws(() => new TimeZone('Nowhere/At_All'), RangeError);
  });
});
