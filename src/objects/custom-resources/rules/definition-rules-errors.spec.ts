import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JSONSchemaProps } from '../../apis/apiextensions/v1/json-schema.types.js';
import { CompileWork } from '../../cel/index.js';
import { structuralSchema } from '../structural/index.js';
import { compileRules } from './index.js';
import { int, list, map, object, type Props, refused, text, withRules } from './testing/rule-schemas.js';

describe('rules of a definition', () => {
  const rule = (more: object) => object({ a: int }, { rule: 'true', ...more });
  const at = 's.x-kubernetes-validations[0]';
  const cases: readonly (readonly [string, Props, readonly string[]])[] = [
    ['no rule', rule({ rule: ' ' }), [`Required ${at}.rule Required value: rule is not specified`]],
    [
      'an empty message',
      rule({ message: ' ' }),
      [`Invalid ${at}.message Invalid value: " ": must be non-empty if specified`],
    ],
    [
      'a message of two lines',
      rule({ message: 'a\nb' }),
      [`Invalid ${at}.message Invalid value: "a\\nb": must not contain line breaks`],
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
      [`Invalid ${at}.fieldPath Invalid value: ".b": must be a valid path`],
    ],
    [
      'a result that is no bool',
      rule({ rule: 'self.a' }),
      [
        `Invalid ${at}.rule Invalid value: {"Rule":"self.a","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: cel expression must evaluate to a bool`,
      ],
    ],
    [
      'a message that is no text',
      rule({ messageExpression: 'self.a' }),
      [
        `Invalid ${at}.messageExpression Invalid value: {"Rule":"true","Message":"","MessageExpression":"self.a","Reason":null,"FieldPath":"","OptionalOldSelf":null}: messageExpression must evaluate to a string`,
      ],
    ],
    [
      'a fault',
      rule({ rule: 'self.b == 1' }),
      [
        `Invalid ${at}.rule Invalid value: {"Rule":"self.b == 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field 'b'`,
      ],
    ],
    [
      'wrong types',
      rule({ rule: 'self.a == "x"' }),
      [
        `Invalid ${at}.rule Invalid value: {"Rule":"self.a == \\"x\\"","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(int, string)'`,
      ],
    ],
    [
      'keys of an object',
      rule({ rule: 'self.all(k, true)' }),
      [
        `Invalid ${at}.rule Invalid value: {"Rule":"self.all(k, true)","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:1: expression of type 'selfType1' cannot be range of a comprehension (must be list, map, or dynamic)`,
      ],
    ],
    [
      'objects of different places',
      object({ a: object({}), b: list(object({})) }, { rule: 'self.a == self.b[0]' }),
      [
        `Invalid ${at}.rule Invalid value: {"Rule":"self.a == self.b[0]","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(selfType1.a, selfType1.b.@idx)'`,
      ],
    ],
    [
      'an object and a map literal',
      object({ a: object({}) }, { rule: 'self.a == {}' }),
      [
        `Invalid ${at}.rule Invalid value: {"Rule":"self.a == {}","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(selfType1.a, map(dyn, dyn))'`,
      ],
    ],
    [
      'a rule that does not compile, with optionalOldSelf and a message',
      rule({ rule: 'self.b == 1', optionalOldSelf: true, messageExpression: '1' }),
      [
        `Invalid ${at}.rule Invalid value: {"Rule":"self.b == 1","Message":"","MessageExpression":"1","Reason":null,"FieldPath":"","OptionalOldSelf":true}: compilation failed: ERROR: <input>:1:5: undefined field 'b'`,
        `Invalid ${at}.optionalOldSelf Invalid value: true: may not be set if oldSelf is not used in rule`,
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
        `Invalid ${at}.rule Invalid value: {"Rule":"true","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: rules are not possible where the schema does not say the type of the values`,
      ],
    ],
    [
      'a pattern that can not be compiled',
      object({ t: { ...text, maxLength: 9 } }, 'self.t.matches("[")'),
      [
        `Invalid ${at}.rule Invalid value: {"Rule":"self.t.matches(\\"[\\")","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:16: invalid matches argument`,
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
      'Invalid s.properties[a].default Invalid value: 7: failed rule: self < 5',
    ]);
  });

  it('may take only so much work to compile', () => {
    const one = `[${Array.from({ length: 2000 }, () => 1)}].size()`;
    const many = object({}, ...Array.from({ length: 60 }, () => `${one} == 2000`));
    assert.match(refused(many)[0] ?? '', /the rules take too much work to compile: more than 100000 parts/);
    assert.throws(() => compileRules(structuralSchema(many as JSONSchemaProps), new CompileWork(100)));
  });
});
