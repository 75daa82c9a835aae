import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JSONSchemaProps, ValidationRule } from '../../apis/apiextensions/v1/json-schema.types.js';
import { structuralSchema } from '../structural/index.js';
import { brokenWhereUnchanged, compileRules, evaluateRules } from './index.js';
import { int, list, object, text, violated, withRules } from './testing/rule-schemas.js';

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
      'Invalid spec Invalid value: failed rule: self.a < 5',
      'Forbidden spec.b Forbidden: b must be 7',
      'Invalid tags[1] Invalid value: "bad": failed rule: self != "bad"',
    ]);
    assert.deepEqual(violated(schema, { spec: null }), []);
    assert.deepEqual(violated(schema, {}), []);
  });

  it('show the written message when the expression makes none', () => {
    for (const messageExpression of ['""', '"a\\nb"', 'self.list[7]']) {
      const failing = object({ list: list(text) }, { rule: 'false', message: ' no ', messageExpression });
      assert.deepEqual(violated(failing, { list: [] }), ['Invalid <nil> Invalid value: no']);
    }
  });

  it('have reasons', () => {
    for (const [reason, expected] of [
      ['FieldValueInvalid', 'Invalid <nil> Invalid value: m'],
      ['FieldValueForbidden', 'Forbidden <nil> Forbidden: m'],
      ['FieldValueRequired', 'Required <nil> Required value: m'],
      ['FieldValueDuplicate', 'Duplicate <nil> Duplicate value'],
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
      'Invalid spec Invalid value: failed rule: self.a >= oldSelf.a',
    ]);
    const moved = {
      spec: { a: 5 },
      l: [
        { k: 'y', n: 3 },
        { k: 'z', n: 9 },
        { k: 'x', n: 1 },
      ],
    };
    assert.deepEqual(violated(fixed, moved, old), ['Invalid l[0] Invalid value: n is immutable']);
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

  it('are told apart where an update left what violates them', () => {
    const left = (value: object, old: object) => {
      const rules = compileRules(structuralSchema(schema as JSONSchemaProps));
      assert.ok(rules !== undefined);
      return brokenWhereUnchanged(rules, value, old).map(({ field, message }) => `${field}: ${message}`);
    };
    const old = { spec: { a: 9 }, tags: ['bad', 'x'] };
    assert.deepEqual(left({ ...old, other: 1 }, old), [
      'spec: Invalid value: failed rule: self.a < 5',
      'tags[0]: Invalid value: "bad": failed rule: self != "bad"',
    ]);
    assert.deepEqual(left({ spec: { a: 8 }, tags: ['bad', 'x'] }, old), [
      'tags[0]: Invalid value: "bad": failed rule: self != "bad"',
    ]);
    assert.deepEqual(left({ spec: { a: 1 }, tags: ['good'] }, { spec: { a: 1 }, tags: ['good'] }), []);
    const compare = compileRules(
      structuralSchema(object({ spec: object({ a: int }, 'self.a > oldSelf.a') }) as JSONSchemaProps),
    );
    assert.ok(compare !== undefined);
    assert.deepEqual(brokenWhereUnchanged(compare, { spec: { a: 1 } }, { spec: { a: 1 } }), []);
  });

  it('warn of unchanged parts for a few milliseconds only', () => {
    const rule = 'self.all(x, self.all(y, x + y < 100000000))';
    const costly = object({ l: withRules(list({ ...int }, { maxItems: 200 }), ...Array<string>(40).fill(rule)) });
    const rules = compileRules(structuralSchema(costly as JSONSchemaProps));
    assert.ok(rules !== undefined);
    const value = { l: Array.from({ length: 200 }, (_, i) => i) };
    const began = process.cpuUsage();
    assert.deepEqual(brokenWhereUnchanged(rules, value, value), []);
    const { user, system } = process.cpuUsage(began);
    assert.ok(user + system < 200_000, `${user + system} µs`);
  });

  it('are not reported for what an update did not change, except for those that compare', () => {
    const old = { spec: { a: 9 }, tags: ['bad', 'x'] };
    assert.deepEqual(violated(schema, { ...old, other: 1 }, old), []);
    assert.deepEqual(violated(schema, { spec: { a: 8 }, tags: ['bad', 'x'] }, old), [
      'Invalid spec Invalid value: failed rule: self.a < 5',
    ]);
    assert.deepEqual(violated(schema, { spec: { a: 9 }, tags: ['bad'] }, old), [
      'Invalid tags[0] Invalid value: "bad": failed rule: self != "bad"',
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
