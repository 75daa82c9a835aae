import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertCauses } from '../../../../test/support/causes.js';
import { DefinitionTester } from '../../../../test/support/definition-tester.js';
import { configMapResource } from './config-map.resource.js';

const tester = new DefinitionTester(configMapResource());
const mebibyte = 'x'.repeat(1024 * 1024);
const fixed = 'Forbidden: field is immutable when `immutable` is set';

describe('config maps', () => {
  const bad: [string, Record<string, unknown>, string[]][] = [
    ['a dot as key', { data: { '.': '' } }, ['Invalid | data[.] | Invalid value: ".": must not be \'.\'']],
    ['a key with a space', { data: { 'a b': '' } }, ['Invalid | data[a b] | Invalid value: "a b": a valid config key']],
    [
      'a bad binary key',
      { binaryData: { '..': 'AA==' } },
      ['Invalid | binaryData[..] | Invalid value: "..": must not'],
    ],
    [
      'a key in both maps',
      { data: { a: '' }, binaryData: { a: 'AA==' } },
      ['Invalid | data[a] | Invalid value: "a": duplicate of key present in binaryData'],
    ],
    [
      'too much data',
      { data: { a: mebibyte }, binaryData: { b: 'AA==' } },
      ['TooLong | [] | Too long: may not be more than 1048576 bytes'],
    ],
  ];
  for (const [name, body, expected] of bad) {
    it(`refuses ${name}`, () => assertCauses(tester.create(body).causes, expected));
  }

  it('takes an entry that is null as an empty one', () => {
    const { object, causes } = tester.create({ binaryData: { a: null, b: 'AAEC' } });
    assertCauses(causes, []);
    assert.deepEqual(object.binaryData, { a: '', b: 'AAEC' });
  });

  it('takes exactly one mebibyte', () => assertCauses(tester.create({ data: { a: mebibyte } }).causes, []));

  it('keeps the entries of an immutable one, not its labels', () => {
    const { object } = tester.create({ immutable: true, data: { a: 'b' }, binaryData: { c: 'AAEC' } });
    assertCauses(tester.patch(object, { metadata: { labels: { a: 'b' } } }).causes, []);
    assertCauses(tester.patch(object, { data: { a: 'c' } }).causes, [`Forbidden | data | ${fixed}`]);
    assertCauses(tester.patch(object, { binaryData: null }).causes, [`Forbidden | binaryData | ${fixed}`]);
    assertCauses(tester.patch(object, { immutable: false }).causes, [`Forbidden | immutable | ${fixed}`]);
    assertCauses(tester.patch(object, { immutable: null }).causes, [`Forbidden | immutable | ${fixed}`]);
  });

  it('counts the entries of both maps in tables', () => {
    const { object } = tester.create({ data: { a: '', b: '' }, binaryData: { c: '' } });
    assert.deepEqual(tester.cells(object, 60), ['a', 3, '60s']);
  });
});
