import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { holds, int, list, map, object, type Props, refused, text, violated } from './testing/rule-schemas.js';

describe('values of a schema in rules', () => {
  const keyed: Props = {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    maxItems: 100,
  };
  const pairs = list(object({ k: text, n: int }), keyed);
  const cases: readonly (readonly [string, Props, string, unknown])[] = [
    ['an integer', int, 'self.v + 1 == 6 && type(self.v) == int', 5],
    ['a number that is whole', { type: 'number' }, 'self.v + 0.5 == 5.5 && type(self.v) == double', 5],
    ['a number', { type: 'number' }, 'self.v > 0.4', 0.5],
    ['a bool', { type: 'boolean' }, 'self.v', true],
    [
      'an int-or-string that is an int',
      { 'x-kubernetes-int-or-string': true },
      'type(self.v) == int ? self.v < 9 : false',
      5,
    ],
    [
      'an int-or-string that is text',
      { 'x-kubernetes-int-or-string': true },
      'type(self.v) == string && self.v == "5%"',
      '5%',
    ],
    ['a time', { type: 'string', format: 'date-time' }, 'self.v.getFullYear() == 2026', '2026-11-22T21:00:00Z'],
    ['a day', { type: 'string', format: 'date' }, 'self.v < timestamp("2026-11-22T00:00:01Z")', '2026-11-22'],
    [
      'a duration',
      { type: 'string', format: 'duration' },
      'self.v == duration("90m") && self.v.getHours() == 1',
      '1h30m',
    ],
    ['a duration in words', { type: 'string', format: 'duration' }, 'self.v == duration("48h")', '2 days'],
    ['bytes', { type: 'string', format: 'byte' }, 'self.v == b"hi" && size(self.v) == 2', 'aGk='],
    [
      'names that need escapes',
      object({ 'a-b.c/d': int, namespace: int, __x: int }),
      'self.v.a__dash__b__dot__c__slash__d == 1 && self.v.__namespace__ == 2 && self.v.__underscores__x == 3',
      { 'a-b.c/d': 1, namespace: 2, __x: 3 },
    ],
    [
      'words of the language without escapes',
      object({ namespace: int, package: int, as: int }),
      'has(self.v.namespace) && self.v.namespace == 2 && !has(self.v.package) && self.v.as == self.v.__as__',
      { namespace: 2, as: 1 },
    ],
    ['a missing field', object({ a: int }), '!has(self.v.a)', {}],
    ['a map', map(int), 'self.v["a"] == 1 && "a" in self.v && self.v.all(k, self.v[k] > 0)', { a: 1, b: 2 }],
    ['a map of numbers', map({ type: 'number' }), 'self.v.all(k, self.v[k] * 0.5 > 0.0)', { a: 1, b: 2 }],
    ['a list', list(text), 'self.v == ["a", "b"] && self.v + ["c"] == ["a", "b", "c"]', ['a', 'b']],
    [
      'a list of times',
      list({ type: 'string', format: 'date-time' }),
      'self.v[0] < self.v[1]',
      ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00+00:00'.replace('+00:00', '-01:00')],
    ],
    [
      'a set',
      list(text, { 'x-kubernetes-list-type': 'set' }),
      'self.v == ["b", "a"] && self.v + ["b", "c"] == ["a", "b", "c"] && (self.v + ["b", "c"]).size() == 3',
      ['a', 'b'],
    ],
    [
      'a list map',
      object({ x: pairs, y: pairs }),
      'dyn(self.v.x) == self.v.y',
      {
        x: [
          { k: 'a', n: 1 },
          { k: 'b', n: 2 },
        ],
        y: [
          { k: 'b', n: 2 },
          { k: 'a', n: 1 },
        ],
      },
    ],
    [
      'the sum of list maps',
      object({ x: pairs, y: pairs }),
      '(dyn(self.v.x) + self.v.y).map(e, e.n) == [1, 3, 4]',
      {
        x: [
          { k: 'a', n: 1 },
          { k: 'b', n: 2 },
        ],
        y: [
          { k: 'b', n: 3 },
          { k: 'c', n: 4 },
        ],
      },
    ],
    [
      'equal objects with numbers',
      object({ x: object({ n: { type: 'number' } }), y: object({ n: { type: 'number' } }) }),
      'dyn(self.v.x) == self.v.y',
      { x: { n: 1 }, y: { n: 1 } },
    ],
    [
      'an embedded object',
      { ...object({}), 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      'self.v.metadata.name == "a" && self.v.kind == "K"',
      { apiVersion: 'v1', kind: 'K', metadata: { name: 'a' } },
    ],
    ['text functions', text, 'self.v.matches("^[a-z]+$") && self.v.startsWith("a")', 'abc'],
    ['quantities', text, 'quantity(self.v).isLessThan(quantity("1Gi"))', '500Mi'],
  ];
  for (const [name, schema, rule, value] of cases) {
    it(`shows ${name}`, () => assert.ok(holds(schema, rule, value)));
  }

  it('compares what differs', () => {
    assert.ok(!holds(list(text, { 'x-kubernetes-list-type': 'set' }), 'self.v == ["b", "c"]', ['a', 'b']));
    assert.ok(
      !holds(pairs, 'self.v == self.v.map(e, e).filter(e, e.n == 1)', [
        { k: 'a', n: 1 },
        { k: 'b', n: 2 },
      ]),
    );
    const both = object({ x: object({ n: { type: 'number' } }), y: object({ n: { type: 'number' } }) });
    assert.ok(!holds(both, 'dyn(self.v.x) == self.v.y', { x: { n: 1 }, y: { n: 2 } }));
    assert.ok(!holds(both, 'dyn(self.v.x) == self.v.y', { x: { n: 1 }, y: {} }));
  });

  it('shows of the metadata of an object its name only', () => {
    assert.deepEqual(
      violated(object({}, 'self.metadata.name.size() < 3 && self.kind == "K"'), {
        kind: 'K',
        metadata: { name: 'abc' },
      }),
      ['Invalid <nil> Invalid value: failed rule: self.metadata.name.size() < 3 && self.kind == "K"'],
    );
    assert.deepEqual(refused(object({}, 'self.metadata.labels.size() < 3')), [
      'Invalid s.x-kubernetes-validations[0].rule Invalid value: {"Rule":"self.metadata.labels.size() \\u003c 3","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:14: undefined field \'labels\'',
    ]);
  });

  it('hides what has no schema', () => {
    const hidden = object({ a: { 'x-kubernetes-preserve-unknown-fields': true } }, 'has(self.a)');
    assert.match(refused(hidden)[0] ?? '', /undefined field 'a'/);
    const open = object({ a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }, 'has(self.a.b)');
    assert.match(refused(open)[0] ?? '', /undefined field 'b'/);
  });
});
