import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JSONSchemaProps, ValidationRule } from '../../apis/apiextensions/v1/json-schema.types.js';
import { CompileWork } from '../../cel/index.js';
import { FieldPath } from '../../machinery/field-error.js';
import { atOnce } from '../../machinery/turns.js';
import { structuralSchema } from '../structural/index.js';
import { compileRules, definitionRulesErrors, evaluateRules } from './index.js';

type Props = Omit<JSONSchemaProps, 'type'> & { type?: string };

const text: Props = { type: 'string' };
const int: Props = { type: 'integer' };
const withRules = (schema: Props, ...rules: (string | ValidationRule)[]): Props => ({
  ...schema,
  'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
});
const object = (properties: Record<string, Props>, ...rules: (string | ValidationRule)[]): Props =>
  withRules({ type: 'object', properties: properties as Record<string, JSONSchemaProps> }, ...rules);
const list = (items: Props, more: Props = {}): Props => ({ type: 'array', items: items as JSONSchemaProps, ...more });
const map = (values: Props, more: Props = {}): Props => ({
  type: 'object',
  additionalProperties: values as JSONSchemaProps,
  ...more,
});

/** What a definition with the schema is refused for, as `type field message`; of long messages the first line. */
function refused(schema: Props): string[] {
  const errors = atOnce(definitionRulesErrors(structuralSchema(schema as JSONSchemaProps), FieldPath.of('s')));
  return errors.map(
    ({ type, field, message }) => `${type.replace('FieldValue', '')} ${field} ${message.split('\n')[0]}`,
  );
}

/** The rules that an object violates, as `type field message`. */
function violated(schema: Props, value: unknown, old?: unknown): string[] {
  const found = refused(schema);
  assert.deepEqual(found, []);
  const rules = compileRules(structuralSchema(schema as JSONSchemaProps));
  return evaluateRules(rules, value, old).map(
    ({ type, field, message }) => `${type.replace('FieldValue', '')} ${field} ${message}`,
  );
}

/** Whether the rule holds for a value of a field `v` with the schema. */
function holds(schema: Props, rule: string, value: unknown): boolean {
  const found = violated(object({ v: schema }, rule), { v: value });
  assert.ok(found.length === 0 || found[0]?.includes(`failed rule: ${rule}`), found.join('\n'));
  return found.length === 0;
}

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
      'self.v.x == self.v.y',
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
      '(self.v.x + self.v.y).map(e, e.n) == [1, 3, 4]',
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
      'self.v.x == self.v.y',
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
    assert.ok(!holds(both, 'self.v.x == self.v.y', { x: { n: 1 }, y: { n: 2 } }));
    assert.ok(!holds(both, 'self.v.x == self.v.y', { x: { n: 1 }, y: {} }));
  });

  it('shows of the metadata of an object its name only', () => {
    assert.deepEqual(
      violated(object({}, 'self.metadata.name.size() < 3 && self.kind == "K"'), {
        kind: 'K',
        metadata: { name: 'abc' },
      }),
      ['Invalid <nil> Invalid value: "object": failed rule: self.metadata.name.size() < 3 && self.kind == "K"'],
    );
    assert.deepEqual(refused(object({}, 'self.metadata.labels.size() < 3')), [
      'Invalid s.x-kubernetes-validations[0].rule Invalid value: "self.metadata.labels.size() < 3": compilation failed: ERROR: <input>:1:14: undefined field \'labels\'',
    ]);
  });

  it('hides what has no schema', () => {
    const hidden = object({ a: { 'x-kubernetes-preserve-unknown-fields': true } }, 'has(self.a)');
    assert.match(refused(hidden)[0] ?? '', /undefined field 'a'/);
    const open = object({ a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }, 'has(self.a.b)');
    assert.match(refused(open)[0] ?? '', /undefined field 'b'/);
  });
});

describe('rules of a definition', () => {
  const rule = (more: object) => object({ a: int }, { rule: 'true', ...more });
  const at = 's.x-kubernetes-validations[0]';
  const cases: readonly (readonly [string, Props, readonly string[]])[] = [
    ['no rule', rule({ rule: ' ' }), [`Required ${at}.rule Required value: rule is not specified`]],
    [
      'an empty message',
      rule({ message: ' ' }),
      [`Invalid ${at}.message Invalid value: " ": message must be non-empty if specified`],
    ],
    [
      'a message of two lines',
      rule({ message: 'a\nb' }),
      [`Invalid ${at}.message Invalid value: "a\\nb": message must not contain line breaks`],
    ],
    [
      'a rule of two lines',
      rule({ rule: 'true &&\ntrue' }),
      [`Required ${at}.message Required value: message must be specified if rule contains line breaks`],
    ],
    [
      'an empty message expression',
      rule({ messageExpression: ' ' }),
      [`Required ${at}.messageExpression Required value: messageExpression must be non-empty if specified`],
    ],
    [
      'a reason',
      rule({ reason: 'Odd' }),
      [
        `NotSupported ${at}.reason Unsupported value: "Odd": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
      ],
    ],
    [
      'a path that leads nowhere',
      rule({ fieldPath: '.b' }),
      [`Invalid ${at}.fieldPath Invalid value: ".b": fieldPath must be a valid path: does not refer to a valid field`],
    ],
    [
      'a result that is no bool',
      rule({ rule: 'self.a' }),
      [`Invalid ${at}.rule Invalid value: "self.a": cel expression must evaluate to a bool`],
    ],
    [
      'a message that is no text',
      rule({ messageExpression: 'self.a' }),
      [`Invalid ${at}.messageExpression Invalid value: "self.a": messageExpression must evaluate to a string`],
    ],
    [
      'a fault',
      rule({ rule: 'self.b == 1' }),
      [`Invalid ${at}.rule Invalid value: "self.b == 1": compilation failed: ERROR: <input>:1:5: undefined field 'b'`],
    ],
    [
      'wrong types',
      rule({ rule: 'self.a == "x"' }),
      [
        `Invalid ${at}.rule Invalid value: "self.a == \\"x\\"": compilation failed: ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(int, string)'`,
      ],
    ],
    [
      'keys of an object',
      rule({ rule: 'self.all(k, true)' }),
      [
        `Invalid ${at}.rule Invalid value: "self.all(k, true)": compilation failed: ERROR: <input>:1:1: expression of type 'object' cannot be range of a comprehension (must be list, map, or dynamic)`,
      ],
    ],
    [
      'optionalOldSelf without oldSelf',
      rule({ optionalOldSelf: true }),
      [`Invalid ${at}.optionalOldSelf Invalid value: true: may not be set if oldSelf is not used in rule`],
    ],
    [
      'oldSelf within a list that is no map',
      object({ l: list(object({ a: int }, 'self.a == oldSelf.a'), { maxItems: 5 }) }),
      [
        'Invalid s.properties[l].items.x-kubernetes-validations[0].rule Invalid value: "self.a == oldSelf.a": oldSelf cannot be used on the uncorrelatable portion of the schema within s.properties[l]',
      ],
    ],
    [
      'oldSelf within a list map, a map and an object',
      object({
        l: list(object({ k: text, a: int }, 'self.a == oldSelf.a'), {
          maxItems: 5,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
        }),
        m: map(withRules(int, 'self == oldSelf'), { maxProperties: 5 }),
      }),
      [],
    ],
    [
      'no type',
      { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-validations': [{ rule: 'true' }] },
      [
        `Invalid ${at}.rule Invalid value: "true": rules are not possible where the schema does not say the type of the values`,
      ],
    ],
    [
      'a pattern that can not be compiled',
      object({ t: { ...text, maxLength: 9 } }, 'self.t.matches("[")'),
      [
        `Invalid ${at}.rule Invalid value: "self.t.matches(\\"[\\")": compilation failed: ERROR: <input>:1:16: invalid matches argument`,
      ],
    ],
  ];
  for (const [name, schema, expected] of cases) {
    it(`are judged: ${name}`, () => {
      const found = refused(schema);
      assert.equal(found.length, expected.length, found.join('\n'));
      for (const [i, line] of expected.entries()) assert.ok(found[i]?.startsWith(line) === true, found.join('\n'));
    });
  }

  it('are held by defaults', () => {
    const a = { ...withRules(int, 'self < 5'), default: 7 };
    const b = { ...withRules(int, 'self == oldSelf'), default: 1 };
    assert.deepEqual(refused(object({ a, b })), [
      'Invalid s.properties[a].default Invalid value: "integer": failed rule: self < 5',
    ]);
  });

  it('may take only so much work to compile', () => {
    const one = `[${Array.from({ length: 2000 }, () => 1)}].size()`;
    const many = object({}, ...Array.from({ length: 60 }, () => `${one} == 2000`));
    assert.match(refused(many)[0] ?? '', /the rules take too much work to compile: more than 100000 parts/);
    assert.throws(() => compileRules(structuralSchema(many as JSONSchemaProps), new CompileWork(100)));
  });
});

describe('estimated costs', () => {
  // The most that an expression costs is that of the newest release for the same schema.
  const costs: readonly (readonly [string, Props, number])[] = [
    ['a list of numbers', withRules(list({ type: 'number' }), 'self.all(x, true)'), 4718591],
    ['a short list of numbers', withRules(list({ type: 'number' }, { maxItems: 10 }), 'self.all(x, true)'), 32],
    ['a list of strings', withRules(list(text), 'self.all(x, true)'), 3145727],
    ['a list of bools', withRules(list({ type: 'boolean' }), 'self.all(x, true)'), 1887437],
    ['a map of numbers', withRules(map({ type: 'number' }), 'self.all(x, true)'), 1348169],
    ['a map of strings', withRules(map(text), 'self.all(x, true)'), 1179647],
    ['a map of bools', withRules(map({ type: 'boolean' }), 'self.all(x, true)'), 943718],
    ['a string', withRules(text, 'self.contains("test")'), 314574],
    ['a short string', withRules({ ...text, maxLength: 10 }, 'self.contains("test")'), 5],
  ];
  for (const [name, schema, expected] of costs) {
    it(`are known for ${name}`, () => {
      const rules = compileRules(structuralSchema(object({ v: schema }) as JSONSchemaProps));
      assert.equal(rules?.properties.get('v')?.rules[0]?.program?.cost.max, expected);
    });
  }

  const hint =
    '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';
  it('refuse rules that could take too long, and those of parts that could be too many', () => {
    const twice = withRules(list(text), 'self.all(x, self.all(y, x == y))');
    assert.deepEqual(refused(object({ v: twice })), [
      `Forbidden s.properties[v].x-kubernetes-validations[0].rule Forbidden: estimated rule cost exceeds budget by factor of more than 100x ${hint}`,
      `Forbidden s Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${hint}`,
      'Forbidden s.properties[v].x-kubernetes-validations[0].rule Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
    ]);
    const each = list(withRules(text, 'self.contains("test")'));
    assert.match(
      refused(object({ v: each }))[0] ?? '',
      /v\]\.items.*estimated rule cost exceeds budget by factor of more than 100x/,
    );
    const bounded = list(withRules({ ...text, maxLength: 100 }, 'self.contains("test")'), { maxItems: 1000 });
    assert.deepEqual(refused(object({ v: bounded })), []);
    const nearly = list(withRules({ ...text, maxLength: 1000 }, 'self.contains("test")'), { maxItems: 30_000 });
    assert.match(
      refused(object({ v: nearly }))[0] ?? '',
      /estimated rule cost exceeds budget by factor of 1\.20\d{4}x/,
    );
    const message: ValidationRule = {
      rule: 'true',
      messageExpression: 'self.a.map(x, self.b.map(y, x + y).join()).join()',
    };
    assert.match(
      refused(object({ a: list(text), b: list(text) }, message))[0] ?? '',
      /messageExpression Forbidden: estimated messageExpression cost/,
    );
  });
});

describe('rules of an object', () => {
  const spec = object({ a: int, b: { ...int, nullable: true } }, 'self.a < 5', {
    rule: '!has(self.b) || self.b == self.a',
    message: 'b must be a',
    messageExpression: '"b must be " + string(self.a)',
    reason: 'FieldValueForbidden',
    fieldPath: '.b',
  });
  const schema = object({ spec, tags: list(withRules({ ...text, maxLength: 5 }, 'self != "bad"'), { maxItems: 9 }) });

  it('are reported where they are violated', () => {
    assert.deepEqual(violated(schema, { spec: { a: 7, b: 1 }, tags: ['good', 'bad'] }), [
      'Invalid spec Invalid value: "object": failed rule: self.a < 5',
      'Forbidden spec.b Forbidden: b must be 7',
      'Invalid tags[1] Invalid value: "string": failed rule: self != "bad"',
    ]);
    assert.deepEqual(violated(schema, { spec: null }), []);
    assert.deepEqual(violated(schema, {}), []);
  });

  it('show the written message when the expression makes none', () => {
    for (const messageExpression of ['""', '"a\\nb"', 'self.list[7]']) {
      const failing = object({ list: list(text) }, { rule: 'false', message: ' no ', messageExpression });
      assert.deepEqual(violated(failing, { list: [] }), ['Invalid <nil> Invalid value: "object": no']);
    }
  });

  it('have reasons', () => {
    for (const [reason, expected] of [
      ['FieldValueInvalid', 'Invalid <nil> Invalid value: "object": m'],
      ['FieldValueForbidden', 'Forbidden <nil> Forbidden: m'],
      ['FieldValueRequired', 'Required <nil> Required value: m'],
      ['FieldValueDuplicate', 'Duplicate <nil> Duplicate value: "object"'],
    ]) {
      const failing = object({}, { rule: 'false', message: 'm', reason } as ValidationRule);
      assert.deepEqual(violated(failing, {}), [expected]);
    }
  });

  it('report what has no value', () => {
    const failing = object({ l: list(int), d: { 'x-kubernetes-int-or-string': true } }, 'self.l[3] == 1', 'self.d < 5');
    assert.deepEqual(violated(failing, { l: [1], d: '5%' }), [
      'Invalid <nil> Invalid value: "object": index out of bounds: 3 evaluating rule: self.l[3] == 1',
      `Invalid <nil> Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.d < 5`,
    ]);
  });

  it('compare with the old value', () => {
    const fixed = object({
      spec: object({ a: int }, 'self.a >= oldSelf.a'),
      l: list(object({ k: text, n: int }, { rule: 'self.n == oldSelf.n', message: 'n is immutable' }), {
        maxItems: 9,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
      }),
    });
    const old = {
      spec: { a: 5 },
      l: [
        { k: 'x', n: 1 },
        { k: 'y', n: 2 },
      ],
    };
    assert.deepEqual(violated(fixed, old), []);
    assert.deepEqual(violated(fixed, { ...old, spec: { a: 4 } }, old), [
      'Invalid spec Invalid value: "object": failed rule: self.a >= oldSelf.a',
    ]);
    const moved = {
      spec: { a: 5 },
      l: [
        { k: 'y', n: 3 },
        { k: 'z', n: 9 },
        { k: 'x', n: 1 },
      ],
    };
    assert.deepEqual(violated(fixed, moved, old), ['Invalid l[0] Invalid value: "object": n is immutable']);
    assert.deepEqual(violated(fixed, { spec: { a: 1 } }, { l: [] }), []);
  });

  it('may take the old value as optional', () => {
    const optional: ValidationRule = {
      rule: 'oldSelf.hasValue() ? self.a >= oldSelf.value().a : self.a == 0',
      optionalOldSelf: true,
    };
    const schema = object({ spec: object({ a: int }, optional) });
    assert.deepEqual(violated(schema, { spec: { a: 0 } }), []);
    assert.equal(violated(schema, { spec: { a: 1 } }).length, 1);
    assert.deepEqual(violated(schema, { spec: { a: 1 } }, { spec: { a: 0 } }), []);
    assert.equal(violated(schema, { spec: { a: 0 } }, { spec: { a: 1 } }).length, 1);
    const soft: ValidationRule = { rule: 'self.a < 5 || oldSelf.?a.orValue(0) >= 5', optionalOldSelf: true };
    assert.deepEqual(violated(object({ spec: object({ a: int }, soft) }), { spec: { a: 7 } }, { spec: { a: 6 } }), []);
  });

  it('are not reported for what an update did not change, except for those that compare', () => {
    const old = { spec: { a: 9 }, tags: ['bad', 'x'] };
    assert.deepEqual(violated(schema, { ...old, other: 1 }, old), []);
    assert.deepEqual(violated(schema, { spec: { a: 8 }, tags: ['bad', 'x'] }, old), [
      'Invalid spec Invalid value: "object": failed rule: self.a < 5',
    ]);
    assert.deepEqual(violated(schema, { spec: { a: 9 }, tags: ['bad'] }, old), [
      'Invalid tags[0] Invalid value: "string": failed rule: self != "bad"',
    ]);
    const comparing = object({ spec: object({ a: int }, 'self.a > oldSelf.a') });
    assert.equal(violated(comparing, { spec: { a: 9 } }, { spec: { a: 9 } }).length, 1);
  });

  it('end when they have cost too much', () => {
    const hard = list({ ...int }, { maxItems: 150 });
    const rule = 'self.all(x, self.all(y, self.all(z, x + y + z >= 0)))';
    const rules = compileRules(structuralSchema(object({ l: withRules(hard, rule, 'false') }) as JSONSchemaProps));
    const found = evaluateRules(rules, { l: Array.from({ length: 150 }, (_, i) => i) }, undefined);
    assert.deepEqual(
      found.map(({ message }) => message),
      [
        `Invalid value: "array": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${rule}`,
      ],
    );
    const each = withRules(int, '[1,2,3,4,5,6,7,8,9,10].all(x, [1,2,3,4,5,6,7,8,9,10].all(y, x + y + self > 0))');
    const many = compileRules(structuralSchema(object({ l: list(each) }) as JSONSchemaProps));
    const value = { l: Array.from({ length: 100_000 }, () => 1) };
    assert.match(evaluateRules(many, value, undefined)[0]?.message ?? '', /running out of cost budget/);
    let asked = 0;
    const leave = () => {
      asked++;
      throw new Error('elsewhere');
    };
    assert.throws(() => evaluateRules(many, value, undefined, { leave }), /elsewhere/);
    assert.equal(asked, 1);
  });

  it('that could not be compiled are reported for every object', () => {
    const broken = compileRules(structuralSchema(object({}, 'self.nothing') as JSONSchemaProps));
    assert.match(evaluateRules(broken, {}, undefined)[0]?.message ?? '', /rule compile error: compilation failed/);
  });
});
