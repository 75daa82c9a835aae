import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '../clock.js';
import { canonicalBase64 } from './base64.js';
import { canonicalDuration, durationMilliseconds, parseDuration } from './duration.js';
import { parsePercentage } from './int-or-string.js';
import { canonicalMicroTime, canonicalTime, formatMicroTime, parseTime } from './time.js';
import { ValueFormatError } from './value-format-error.js';

test('durations', () => {
  const cases = {
    '0': '0s',
    '0s': '0s',
    '90s': '1m30s',
    '1h': '1h0m0s',
    '1.5h': '1h30m0s',
    '1500ms': '1.5s',
    '100ms': '100ms',
    '1us': '1µs',
    '1µs': '1µs',
    '2ns': '2ns',
    '-1h30m': '-1h30m0s',
    '+5m': '5m0s',
    '.5s': '500ms',
    '1m1.000000001s': '1m1.000000001s',
    '2540400h10m10.000000000s': '2540400h10m10s',
  };
  for (const [text, expected] of Object.entries(cases)) assert.equal(canonicalDuration(text), expected, `of ${text}`);
  assert.equal(durationMilliseconds(parseDuration('1.5s')), 1500);
  assert.equal(parseDuration('1d1s', { days: true }), 86_401_000_000_000n);
  assert.throws(() => parseDuration('1d'), ValueFormatError);
  for (const text of ['', '1', 's', '1x', '1 s', '1h-1m', '3000000h', `${'1s'.repeat(200)}`, '.s']) {
    assert.throws(() => canonicalDuration(text), ValueFormatError, `of ${text}`);
  }
});

test('times', () => {
  assert.equal(canonicalTime('2024-02-29T12:30:45Z'), '2024-02-29T12:30:45Z');
  assert.equal(canonicalTime('2024-02-29T12:30:45.999Z'), '2024-02-29T12:30:45Z');
  assert.equal(canonicalTime('2024-01-01T00:30:00+01:00'), '2023-12-31T23:30:00Z');
  assert.equal(canonicalTime('0099-01-01T00:00:00Z'), '0099-01-01T00:00:00Z');
  assert.equal(canonicalTime('0001-01-01T00:00:00Z'), null);
  assert.equal(canonicalMicroTime('2024-01-01T00:00:00.000000Z'), '2024-01-01T00:00:00.000000Z');
  assert.equal(canonicalMicroTime('2024-01-01T00:00:00.123456-02:30'), '2024-01-01T02:30:00.123456Z');
  assert.equal(canonicalMicroTime('0001-01-01T00:00:00.000000Z'), null);
  for (const [text, rest, part] of [
    ['2024-01-01T00:00:00Z', 'Z', '.000000'],
    ['2024-01-01T01:00:00+01:00', '+01:00', '.000000'],
    ['2024-01-01T00:00:00.123Z', '.123Z', '.000000'],
    ['2024-01-01T00:00:00.123456789Z', '789Z', 'Z07:00'],
    ['x', 'x', '2006'],
  ] as const) {
    const message = `parsing time "${text}" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "${rest}" as "${part}"`;
    assert.throws(() => canonicalMicroTime(text), { message });
  }
  assert.equal(parseTime('1970-01-01T00:00:01.5Z'), 1500);
  assert.equal(formatTime(1999), '1970-01-01T00:00:01Z');
  assert.equal(formatMicroTime(1999, 7), '1970-01-01T00:00:01.999007Z');
  const wrong = [
    '',
    '2024-01-01',
    '2024-02-30T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T00:00:60Z',
    '2024-01-01T00:00:00',
    '2024-01-01 00:00:00Z',
    '9999-12-31T23:59:59-01:00',
  ];
  for (const text of wrong) assert.throws(() => canonicalTime(text), ValueFormatError, `of ${text}`);
});

test('numbers and percentages', () => {
  assert.equal(parsePercentage('25%'), 25);
  assert.equal(parsePercentage('25'), undefined);
  assert.equal(parsePercentage(25), undefined);
});

test('base64', () => {
  assert.equal(canonicalBase64(''), '');
  assert.equal(canonicalBase64('YWJj'), 'YWJj');
  assert.equal(canonicalBase64('YQ=='), 'YQ==');
  assert.equal(canonicalBase64('YR=='), 'YQ==');
  assert.equal(canonicalBase64('YW\nJj\r\n'), 'YWJj');
  for (const text of ['YQ', 'YQ=', 'Y=Q=', '_-__', 'a b=', '====']) {
    assert.throws(() => canonicalBase64(text), ValueFormatError, `of ${text}`);
  }
});
