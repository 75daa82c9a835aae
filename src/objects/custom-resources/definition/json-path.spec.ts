import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findByPath, parseJsonPath, plainFields } from './json-path.js';
import { JsonPathError } from './json-path-error.js';

const object = {
  metadata: { labels: { 'a.b/c': 'dotted' } },
  spec: { replicas: 3, list: [1, 2, 3, 4, 5], on: true, none: null },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', age: 5 },
      { type: 'Old)]', status: 'False', age: 10 },
    ],
    parts: { x: { name: 'one' }, y: { name: 'two' } },
  },
};

describe('JSON paths', () => {
  const cases: readonly (readonly [string, readonly unknown[] | undefined])[] = [
    ['.', [object]],
    ['', [object]],
    ['.spec.replicas', [3]],
    ['$.spec.replicas', [3]],
    ['.spec.none', [null]],
    ['.spec.missing.deeper', []],
    ['.spec.replicas.deeper', []],
    ['.constructor', []],
    ['.metadata.labels.a\\.b/c', ['dotted']],
    [".metadata.labels['a\\.b/c']", ['dotted']],
    [".metadata.labels['a.b/c']", []],
    [".spec['replicas']", [3]],
    ['.spec.list[0]', [1]],
    ['.spec.list[-1]', [5]],
    ['.spec.list[9]', undefined],
    ['.spec.missing[9]', []],
    ['.spec.replicas[0]', undefined],
    ['.spec.list[*]', [1, 2, 3, 4, 5]],
    ['.spec.list[1:3]', [2, 3]],
    ['.spec.list[-2:]', [4, 5]],
    ['.spec.list[::2]', [1, 3, 5]],
    ['.spec.list[3:9]', undefined],
    ['.spec.list[-9:2]', undefined],
    ['.spec.list[3:1]', undefined],
    ['.spec.list[9:9]', []],
    ['.spec.list[]', [1]],
    ['.spec.replicas}', [3]],
    ['.spec.replicas}{.spec.on}', [3]],
    ['.spec.list[0,2]', [1, 3]],
    [".status.parts['x','y'].name", ['one', 'two']],
    ['.status.parts.*.name', ['one', 'two']],
    ['.status..name', ['one', 'two']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type == 'Ready')].status", ['True']],
    ['.status.conditions[?(@.type=="Old)]")].age', [10]],
    ['.status.conditions[?(@.age>5)].type', ['Old)]']],
    ['.status.conditions[?(@.age<=5)].type', ['Ready']],
    ['.status.conditions[?(@.age!=5)].type', ['Old)]']],
    ['.status.conditions[?(@.missing==5)].type', []],
    ['.status.conditions[?(@.type)].age', [5, 10]],
    ['.status.conditions[?(@.age=="5")].type', undefined],
    ['.status.conditions[?(@.type==@.type)].age', [5, 10]],
    ['.spec[?(@.x)]', undefined],
  ];
  for (const [path, expected] of cases) {
    it(`finds ${path}`, () => assert.deepEqual(findByPath(parseJsonPath(path), object), expected));
  }

  const refused: readonly (readonly [string, string])[] = [
    ['.a[', 'unterminated array'],
    ['.a[x]', 'invalid array index x'],
    ['.a[-]', 'invalid array index -'],
    ['.a[0:1:0]', 'step must be > 0'],
    ['.a[?(@.b', 'unterminated filter'],
    ['.a[?(@.b)', 'unclosed array expect ]'],
    ['.a[?(@.b=!"c")]', 'unrecognized filter operator =!'],
    ['.a[?(@.b==nothing)]', 'unrecognized identifier nothing'],
    ['.a[?(@.b=="c)]', 'unterminated filter'],
    ['.a{', 'unrecognized character in action: {'],
    ['range', 'unrecognized identifier range'],
    [`.${'a'.repeat(4096)}`, 'a path may have at most 4096 characters'],
    [`.a[${'?(@[?(@'.repeat(10)}`, 'unterminated filter'],
  ];
  for (const [path, message] of refused) {
    it(`refuses ${path.slice(0, 40)}`, () => assert.throws(() => parseJsonPath(path), new JsonPathError(message)));
  }

  it('gives up on a value that is too large for a cell', () => {
    const wide = { list: Array.from({ length: 200_000 }, () => ({ a: 1 })) };
    assert.equal(findByPath(parseJsonPath('..a'), wide), undefined);
    let doubling = '.list[0:2]';
    for (let i = 0; i < 30; i++) doubling += '[0,0]';
    const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
    assert.equal(findByPath(parseJsonPath(doubling), { list: [nested(40)] }), undefined);
  });

  it('splits paths of plain fields', () => {
    assert.deepEqual(plainFields('.spec.replicas'), ['spec', 'replicas']);
  });
});
