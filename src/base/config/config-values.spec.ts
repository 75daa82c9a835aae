import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatFlagDuration, parseFlagDuration } from './flag-duration.js';
import { addressAt, canonicalAddress, parseCidr, parsePortRange } from './network.js';

describe('durations', () => {
  for (const [text, milliseconds] of [
    ['0', 0],
    ['30s', 30_000],
    ['1m0s', 60_000],
    ['1h0m0s', 3_600_000],
    ['1.5h', 5_400_000],
    ['250ms', 250],
    ['1h2m3.5s', 3_723_500],
    ['-1m', -60_000],
    ['500us', 0.5],
    ['7d', 604_800_000],
    ['1d12h', 129_600_000],
  ] as const) {
    it(`reads ${text}`, () => assert.equal(parseFlagDuration(text), milliseconds));
  }
  for (const text of ['', '1', 's', '1x', '1m 2s', 'm1', '1..2s', '0x1s']) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.equal(parseFlagDuration(text), undefined));
  }
  it('writes what it reads', () => {
    for (const text of ['0s', '1m0s', '1h0m0s', '10m0s', '1.5s', '250ms', '1h2m3.5s']) {
      assert.equal(formatFlagDuration(parseFlagDuration(text) ?? Number.NaN), text);
    }
  });
});

describe('address ranges', () => {
  it('reads both families and finds addresses inside', () => {
    const four = parseCidr('10.0.255.7/16');
    assert.ok(four);
    assert.equal(addressAt(four, 1n), '10.0.0.1');
    assert.equal(addressAt(four, 256n), '10.0.1.0');
    const six = parseCidr('fd00:1::/108');
    assert.ok(six);
    assert.equal(addressAt(six, 1n), 'fd00:1::1');
  });
  it('refuses text that is not a range', () => {
    for (const text of [
      '',
      '10.0.0.0',
      '10.0.0.0/33',
      '300.0.0.0/8',
      'fd00::/129',
      'a/8',
      '10.0.0.0/8/8',
      '10.0.0.0/-1',
    ]) {
      assert.equal(parseCidr(text), undefined, text);
    }
  });
  it('has one spelling for each address', () => {
    assert.equal(canonicalAddress('0:0:0:0:0:0:0:1'), '::1');
    assert.equal(canonicalAddress('FD00::0001'), 'fd00::1');
    assert.equal(canonicalAddress('::ffff:10.0.0.1'), canonicalAddress('::ffff:a00:1'));
    assert.equal(canonicalAddress('10.0.0.1'), '10.0.0.1');
    assert.equal(canonicalAddress('name'), 'name');
  });
});

describe('port ranges', () => {
  it('reads a range and refuses others', () => {
    assert.deepEqual(parsePortRange('30000-32767'), { first: 30000, last: 32767 });
    for (const text of ['', '1', '2-1', '0-5', '1-65536', 'a-b', '1-2-3'])
      assert.equal(parsePortRange(text), undefined, text);
  });
});
