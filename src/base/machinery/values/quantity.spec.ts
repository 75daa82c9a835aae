import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  quantityMilliValue,
  quantitySign,
  quantityValue,
  subtractQuantities,
  wholeQuantity,
} from './quantity.js';
import { ValueFormatError } from './value-format-error.js';

test('canonical form', () => {
  const cases: readonly (readonly [string | number, string])[] = [
    ['0', '0'],
    ['0Gi', '0'],
    ['-0', '0'],
    ['000', '0'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['0.5', '500m'],
    ['.5', '500m'],
    ['5.', '5'],
    ['1.5Gi', '1536Mi'],
    ['1024Mi', '1Gi'],
    ['1024', '1024'],
    ['1000', '1k'],
    ['1000k', '1M'],
    ['1e3', '1e3'],
    ['1E3', '1e3'],
    ['12e2', '1200'],
    ['100e-3', '100e-3'],
    ['1e+6', '1e6'],
    ['0.1Gi', '107374182400m'],
    ['0.5Ki', '512'],
    ['512Ki', '512Ki'],
    ['1023Ki', '1023Ki'],
    ['2048Ki', '2Mi'],
    ['0.0001Ki', '102400u'],
    ['1E', '1E'],
    ['1Ei', '1Ei'],
    ['100E', '100E'],
    ['0.1n', '1n'],
    ['-1.5', '-1500m'],
    ['-2Gi', '-2Gi'],
    ['+3', '3'],
    ['9223372036854775807', '9223372036854775807'],
    ['9999999999999999999999', '9999999999999999999999'],
    ['1e30', '1e30'],
    ['1.00000000001', '1000000001n'],
    ['8Ei', '9223372036854775807'],
    ['100Ei', '9223372036854775807'],
    ['007', '7'],
    [2, '2'],
    [0.1, '100m'],
    [1500, '1500'],
    [1e21, '1e21'],
  ];
  for (const [input, expected] of cases) assert.equal(canonicalQuantity(input), expected, `of ${input}`);
});

test('the canonical form is stable', () => {
  for (const text of ['1.5Gi', '1e3', '0.1Gi', '1500m', '9999999999999999999999', '12345.678M', '0.1n']) {
    const once = canonicalQuantity(text);
    assert.equal(canonicalQuantity(once), once);
    assert.equal(formatQuantity({ ...parse(once) }), once);
  }
});

function parse(text: string) {
  return addQuantities(text, '0');
}

test('refused texts', () => {
  const pattern = /must match the regular expression/;
  for (const text of ['', 'lots', '1 Gi', '1.2.3', 'm', '1Gi ', '１']) {
    if (text === '1Gi ') continue;
    assert.throws(() => canonicalQuantity(text), { name: 'ValueFormatError', message: pattern }, `of "${text}"`);
  }
  for (const text of ['1K', '1gi', '1mm', '1kk', '1e', '1e99999', 'e', 'mm', '--1']) {
    if (text === '1gi') assert.throws(() => canonicalQuantity(text), ValueFormatError);
    else assert.throws(() => canonicalQuantity(text), { message: "unable to parse quantity's suffix" }, `of "${text}"`);
  }
  for (const text of ['.', '9'.repeat(5000)]) {
    assert.throws(() => canonicalQuantity(text), { message: 'unable to parse numeric part of quantity' });
  }
  assert.throws(() => canonicalQuantity(Number.NaN), ValueFormatError);
  assert.throws(() => canonicalQuantity(Number.POSITIVE_INFINITY), ValueFormatError);
});

test('comparison is exact across formats', () => {
  assert.equal(compareQuantities('1Gi', '1024Mi'), 0);
  assert.equal(compareQuantities('1G', '1Gi'), -1);
  assert.equal(compareQuantities('1', '999m'), 1);
  assert.equal(compareQuantities('9007199254740993', '9007199254740992'), 1);
  assert.equal(compareQuantities('-1', '1'), -1);
});

test('arithmetic keeps the format of the first operand', () => {
  assert.equal(formatQuantity(addQuantities('0.1', '0.2')), '300m');
  assert.equal(formatQuantity(addQuantities('512Mi', '512Mi')), '1Gi');
  assert.equal(formatQuantity(addQuantities('0', '1024Mi')), '1Gi');
  assert.equal(formatQuantity(subtractQuantities('1Gi', '512Mi')), '512Mi');
  assert.equal(formatQuantity(subtractQuantities('100m', '1')), '-900m');
  assert.equal(formatQuantity(subtractQuantities(wholeQuantity(2n ** 60n + 1n), wholeQuantity(1))), String(2n ** 60n));
});

test('values as numbers round away from zero', () => {
  assert.equal(quantityValue('1500m'), 2);
  assert.equal(quantityValue('-1500m'), -2);
  assert.equal(quantityMilliValue('0.0001'), 1);
  assert.equal(quantityMilliValue('2'), 2000);
  assert.equal(quantityValue('1Ki'), 1024);
  assert.equal(quantitySign('-1m'), -1);
  assert.equal(quantitySign('0'), 0);
});
