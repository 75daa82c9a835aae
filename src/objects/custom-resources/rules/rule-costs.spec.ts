import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JSONSchemaProps, ValidationRule } from '../../apis/apiextensions/v1/json-schema.types.js';
import { structuralSchema } from '../structural/index.js';
import { compileRules } from './index.js';
import { list, map, object, type Props, refused, text, withRules } from './testing/rule-schemas.js';

describe('estimated costs', () => {
  // The highest cost of an expression is that of the newest release for the same schema.
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

  const sized = (maxLength: number) => ({ ...text, maxLength });
  const fields: Record<string, Props> = {
    l: list(text),
    lb: list(sized(100), { maxItems: 50 }),
    lc: list(sized(400), { maxItems: 20 }),
    mb: map(sized(50), { maxProperties: 30 }),
    sb: sized(77),
    sc: sized(500),
    ll: list(list(sized(200), { maxItems: 1000 }), { maxItems: 1000 }),
    b: { type: 'boolean' },
  };
  // The highest cost of each expression in the newest release, for these fields.
  const expressions: readonly (readonly [string, number])[] = [
    ["(has(self.l) ? self.l : []).exists(k, k.contains('/'))", 5242887],
    ["(has(self.lb) ? self.lb : []).exists(k, k.contains('/'))", 262],
    ["([] + self.lb).exists(k, k.contains('/'))", 264],
    ["(has(self.lb) ? self.lb : self.lc).exists(k, k.contains('/'))", 254],
    ["(has(self.sb) ? self.sb : '').contains('/')", 34],
    ["self.?lb.orValue([]).exists(k, k.contains('/'))", Number.POSITIVE_INFINITY],
    ["self.?sb.orValue('').contains('/')", Number.POSITIVE_INFINITY],
    ["self.lb.map(x, x).exists(k, k.contains('/'))", 914],
    ["self.lb.filter(x, x != '').exists(k, k.contains('/'))", 964],
    ["[self.sb, self.sc].exists(k, k.contains('/'))", 25],
    ["(has(self.ll) ? self.ll : []).exists(k, k.exists(j, j.contains('/')))", 6012],
    ["self.sb.split(',').exists(k, k.contains('/'))", 1605],
    ["self.lb.join(',').contains('/')", 4012],
    ["self.sb.replace('a', 'b').contains('/')", 95],
    ["(has(self.mb) ? self.mb : {}).all(k, self.mb[k].contains('/'))", 842],
    ['self.?lb.optMap(v, v.size()).orValue(0) < 3', 21],
    ['self.lb.isSorted()', 2052],
    ['!!self.b', 2],
    ['ip(self.sb) == ip(self.sc)', 236],
    ['self.lb[0] == self.sb', 36],
    ["dyn(self.sb).contains('/')", 34],
    ["self.lb.transformMap(i, v, v).exists(k, self.sb.contains('/'))", 2084],
  ];
  for (const [expression, expected] of expressions) {
    it(`of ${expression}`, () => {
      const schema = object(fields, expression);
      assert.equal(compileRules(structuralSchema(schema as JSONSchemaProps))?.rules[0]?.program?.cost.max, expected);
    });
  }

  it('are not known of cel.bind, which the newest release does not have', () => {
    const [refusal] = refused(object({ s: text }, "cel.bind(x, self.s, x.contains('/'))"));
    assert.match(refusal ?? '', /undeclared reference to '(cel|x)'/);
  });

  const hint =
    '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';
  it('refuse rules that could take too long, and those of parts that could be too many', () => {
    const twice = withRules(list(text), 'self.all(x, self.all(y, x == y))');
    assert.deepEqual(refused(object({ v: twice })), [
      `Forbidden s.properties[v].x-kubernetes-validations[0].rule Forbidden: estimated rule cost exceeds budget by factor of more than 100x ${hint}`,
      'Forbidden s.properties[v].x-kubernetes-validations[0].rule Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      `Forbidden s Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${hint}`,
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
