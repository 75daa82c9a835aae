import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machinePace, processorMs } from '../../../../test/support/processor-time.js';
import { formatCheck } from './formats.js';

/** Every sample was tried on the reference, except those of the short and long names. */
const samples: Readonly<Record<string, readonly [valid: readonly string[], invalid: readonly string[]]>> = {
  uri: [
    ['http://a.b/c', '/x', '*', 'http://[::1]:80/', 'a:b', 'http:///x?%zz'],
    ['x', 'http://a b/', '%zz', 'http://%zz/', ''],
  ],
  email: [
    ['a@b', 'a@b.c', 'A <a@b.c>', '"a b"@c', '<a@b>'],
    ['@b', 'a@', 'a b@c', 'a@b, c@d'],
  ],
  hostname: [
    ['a', 'a.b.co', 'ü.de', 'a-b.example.com'],
    ['a.b', '-a', 'a_b', '1.2.3.4', 'a.', 'a'.repeat(64), 'A.B'],
  ],
  ipv4: [
    ['1.2.3.4', '::ffff:1.2.3.4'],
    ['1.2.3', '01.2.3.4'],
  ],
  ipv6: [['::1'], ['1.2.3.4', 'fe80::1%eth0']],
  cidr: [
    ['1.2.3.4/8', '::/0', '1.2.3.4/08'],
    ['1.2.3.4', '1.2.3.4/33'],
  ],
  mac: [['01:02:03:04:05:06', '01-02-03-04-05-06', '0102.0304.0506'], ['01:02']],
  uuid: [['12345678-1234-1234-1234-123456789abc', '12345678123412341234123456789ABC'], ['x']],
  uuid3: [['12345678-1234-3234-1234-123456789abc'], ['12345678-1234-1234-1234-123456789abc']],
  uuid4: [['12345678-1234-4234-8234-123456789abc'], ['12345678-1234-4234-1234-123456789abc']],
  uuid5: [['12345678-1234-5234-9234-123456789abc'], ['12345678-1234-4234-9234-123456789abc']],
  isbn: [['9783161484100', '3-16-148410-X', '978-3-16-148410-0'], ['1']],
  isbn10: [['316148410X'], ['3161484101']],
  isbn13: [['9783161484100'], ['9783161484101']],
  creditcard: [['4111111111111111', '4111-1111-1111-1111'], ['4111111111111112']],
  ssn: [['123-45-6789'], ['123456789', '1']],
  hexcolor: [['#fff', 'abcdef'], ['#ffff']],
  rgbcolor: [
    ['rgb(1,2,3)', 'rgb( 1, 2, 3 )'],
    ['rgb(256,1,1)', 'rgba(1,2,3)'],
  ],
  byte: [['YQ=='], ['', 'YQ']],
  date: [['2020-02-29'], ['2020-02-30', '2020-2-1', '2021-02-29', '']],
  duration: [
    ['1h', '3 days', '1.5h', '1h 30m', '-1h', '1w', '2 weeks', '0', '1h30m', '+1s', '1 d', '3days', '1µs'],
    ['5', 'x', ''],
  ],
  'date-time': [
    ['2020-01-01T00:00:00Z', '2020-01-01t00:00:00z', '2020-01-01T00:00:00.5+01:00'],
    [
      '2020-01-01T24:00:00Z',
      '2020-01-01T00:00:60Z',
      '2020-01-01T00:00:00',
      '2020-01-01T00:00:00Zjunk',
      '2020-01-01 00:00:00Z',
    ],
  ],
  bsonobjectid: [['507f1f77bcf86cd799439011'], ['x']],
  password: [['x', ''], []],
  'k8s-short-name': [
    ['a', 'a-1'],
    ['A', 'a.b', '-a', 'a'.repeat(64)],
  ],
  'k8s-long-name': [
    ['a', 'a.b'],
    ['A', 'a..b', 'a'.repeat(254)],
  ],
};

describe('formats', () => {
  for (const [format, [valid, invalid]] of Object.entries(samples)) {
    it(format, () => {
      const check = formatCheck(format);
      for (const sample of valid) assert.equal(check?.(sample), true, sample);
      for (const sample of invalid) assert.equal(check?.(sample), false, sample);
    });
  }

  it('leaves formats of numbers and unknown ones unchecked', () => {
    for (const format of ['int32', 'int64', 'float', 'double', 'no-such', ''])
      assert.equal(formatCheck(format), undefined);
  });

  it('takes linear time', () => {
    const length = 1_000_000;
    const texts = ['a', '1', '1 ', '.', '-', 'a.', '0:', '"\\', '<', '1h', '%41', '\ud83d\ude00', '=', ' '].map(
      (part) => part.repeat(length / part.length),
    );
    for (const format of Object.keys(samples)) {
      const check = formatCheck(format);
      for (const text of texts) {
        const before = processorMs();
        check?.(text);
        check?.(`a@${text}`);
        check?.(`http://${text}`);
        const ms = processorMs() - before;
        assert.ok(ms < 1_000 || ms < 1_000 * machinePace(), `${format} took ${ms} ms for ${text.slice(0, 5)}...`);
      }
    }
  });
});
