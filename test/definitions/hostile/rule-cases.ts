import { definitionCase, type HostileCase } from './definition-case.js';
import { instance, integer, nested, object, rules, spec, text, times } from './parts.js';

const list = `"l":{"type":"array","items":${text}}`;
const bounded = '"l":{"type":"array","maxItems":100,"items":{"type":"string","maxLength":50}}';

function refusedRule(name: string, expression: string, properties = list) {
  return definitionCase({ name: `rule: ${name}`, expect: [422], schema: () => spec(properties, rules(expression)) });
}

function usedRule(name: string, expression: string, properties: string, content: string, more = '') {
  return definitionCase({
    name: `rule: ${name}`,
    schema: () => spec(properties, rules(expression) + more),
    steps: [
      { body: () => instance('a', content), expect: [201, 413, 422] },
      {
        method: 'PATCH',
        path: '/a',
        contentType: 'application/merge-patch+json',
        body: () => '{"spec":{"n":1}}',
        expect: [200, 404, 422],
      },
    ],
  });
}

const double = (count: number) => {
  let expression = '"aaaaaaaaaa"';
  for (let i = 0; i < count; i++) expression = `[${expression}].map(x, x + x)[0]`;
  return `size(${expression}) > 0`;
};

/** Definitions with expressions that take very long, or are wrong. */
export const ruleCases: readonly HostileCase[] = [
  refusedRule('macros over a list without limit', 'self.l.all(a, self.l.all(b, self.l.all(c, a != b && b != c)))'),
  refusedRule('type error', 'self.l == 1'),
  refusedRule('no boolean', 'self.l'),
  refusedRule('syntax error', 'self.l['),
  refusedRule('empty', ''),
  refusedRule('unknown field', 'self.nope'),
  refusedRule('unknown function', 'nope(self)'),
  refusedRule('prototype fields', 'self.__proto__ == self.constructor'),
  refusedRule('of 1 MB', `${'true && '.repeat(130_000)}true`),
  refusedRule('50,000 deep', `${'('.repeat(50_000)}true${')'.repeat(50_000)}`),
  refusedRule('50,000 negations', `${'!'.repeat(50_000)}true`),
  refusedRule('control characters', 'self.l \u0000 == \u0007'),
  refusedRule('pattern without limit', 'self.l.all(s, s.matches("^(a+)+$"))'),
  definitionCase({
    name: 'rule: string that doubles 40 times',
    schema: () => spec(bounded, rules(double(40))),
    steps: [{ body: () => instance('a', '{"l":["x"]}'), expect: [201, 422] }],
  }),
  definitionCase({
    name: 'rule: string that doubles 24 times',
    schema: () => spec(bounded, rules(double(24))),
    steps: [{ body: () => instance('a', '{"l":["x"]}'), expect: [201, 422] }],
  }),
  usedRule(
    'nested macros within limits',
    'self.l.all(a, self.l.all(b, a == b || a != b))',
    bounded,
    `{"l":[${times(100, (i) => `"${'x'.repeat(46)}${i}"`)}]}`,
  ),
  usedRule(
    'split and join',
    'self.s.split("").join(",").split(",").map(x, x + self.s).size() >= 0',
    '"s":{"type":"string","maxLength":3000}',
    `{"s":"${'a'.repeat(3_000)}"}`,
  ),
  usedRule(
    'replace that grows',
    'self.s.replace("a", self.s).replace("a", self.s).size() >= 0',
    '"s":{"type":"string","maxLength":1000}',
    `{"s":"${'a'.repeat(1_000)}"}`,
  ),
  usedRule(
    'format of a list',
    '"%s".format([self.l]).size() >= 0',
    '"l":{"type":"array","maxItems":20000,"items":{"type":"string","maxLength":20}}',
    `{"l":[${times(20_000, () => '"abcdefghijklmnop"')}]}`,
  ),
  usedRule(
    'sum over many',
    'self.l.sum() >= 0',
    '"l":{"type":"array","maxItems":100000,"items":{"type":"integer"}}',
    `{"l":[${times(100_000, (i) => `${i}`)}]}`,
  ),
  usedRule('overflow', 'self.n * 9223372036854775807 > 0', `"n":${integer}`, '{"n":2}'),
  usedRule('division by zero', '1 / self.n > 0', `"n":${integer}`, '{"n":0}'),
  usedRule(
    'patterns of the object',
    'self.s.matches(self.p)',
    '"s":{"type":"string","maxLength":1000},"p":{"type":"string","maxLength":1000}',
    `{"s":"${'a'.repeat(1_000)}","p":"${'(a*)*'.repeat(199)}!"}`,
  ),
  usedRule(
    'invalid pattern of the object',
    'self.s.matches(self.p)',
    '"s":{"type":"string","maxLength":10},"p":{"type":"string","maxLength":10}',
    '{"s":"a","p":"("}',
  ),
  usedRule(
    'quantities and URLs',
    'quantity(self.s).isGreaterThan(quantity("1")) && url(self.s).getHost() == "x"',
    '"s":{"type":"string","maxLength":100000}',
    `{"s":"${'9'.repeat(100_000)}"}`,
  ),
  usedRule('transition over a list', 'self.l == oldSelf.l', bounded, '{"l":["a"]}'),
  definitionCase({
    name: 'rule: at each of 5,000 nodes',
    schema: () =>
      spec(times(5_000, (i) => `"p${i}":{"type":"string","maxLength":5${rules(`self == "${i}" || self != "x"`)}}`)),
    steps: [
      { body: () => instance('a', `{${times(5_000, (i) => `"p${i}":"x"`)}}`), expect: [413, 422] },
      { body: () => instance('b', `{${times(5_000, (i) => `"p${i}":"y"`)}}`), expect: [201, 413, 422] },
    ],
  }),
  definitionCase({
    name: 'rule: 20,000 at one node',
    schema: () =>
      spec(
        '"a":{"type":"string","maxLength":5}',
        rules(...Array.from({ length: 20_000 }, (_, i) => `self.a != "${i}"`)),
      ),
    steps: [{ body: () => instance('a', '{"a":"x"}') }],
  }),
  definitionCase({
    name: 'rule: on items of a long list',
    schema: () => spec(`"l":{"type":"array","maxItems":100000,"items":{"type":"integer"${rules('self >= 0')}}}`),
    steps: [
      { body: () => instance('a', `{"l":[${times(100_000, () => '-1')}]}`), expect: [422] },
      { body: () => instance('b', `{"l":[${times(100_000, () => '1')}]}`), expect: [201, 422] },
    ],
  }),
  definitionCase({
    name: 'rule: in 100 versions that differ',
    versions: () =>
      `[${times(100, (i) => `{"name":"v${i + 1}","served":true,"storage":${i === 0},"schema":{"openAPIV3Schema":${spec(`"a${i}":{"type":"array","maxItems":10,"items":{"type":"string","maxLength":10}}`, rules(...Array.from({ length: 20 }, (_, r) => `self.a${i}.all(x, self.a${i}.exists(y, x != y || x == "${r}"))`)))}}}`)}]`,
    steps: [{ body: () => instance('a', '{"a0":["x"]}') }],
  }),
  definitionCase({
    name: 'rule: message expression that grows',
    schema: () =>
      spec(
        '"s":{"type":"string","maxLength":1000}',
        `,"x-kubernetes-validations":[{"rule":"self.s == ''","messageExpression":"self.s.replace('a', self.s).replace('a', self.s)"}]`,
      ),
    steps: [{ body: () => instance('a', `{"s":"${'a'.repeat(1_000)}"}`), expect: [422] }],
  }),
  definitionCase({
    name: 'rule: message expression that is not a string',
    expect: [422],
    schema: () => spec(list, `,"x-kubernetes-validations":[{"rule":"true","messageExpression":"1"}]`),
  }),
  definitionCase({
    name: 'rule: message expression with control characters',
    schema: () =>
      spec(
        `"s":{"type":"string","maxLength":9}`,
        `,"x-kubernetes-validations":[{"rule":"false","messageExpression":"self.s + '\\\\n'"}]`,
      ),
    steps: [{ body: () => instance('a', '{"s":"\\u0000\\u0007\\n"}'), expect: [422] }],
  }),
  definitionCase({
    name: 'rule: field path into nothing',
    expect: [422],
    schema: () => spec(list, `,"x-kubernetes-validations":[{"rule":"true","fieldPath":".l[0].x['__proto__']"}]`),
  }),
  definitionCase({
    name: 'rule: reason unknown, message of 1 MB',
    expect: [422],
    schema: () =>
      spec(list, `,"x-kubernetes-validations":[{"rule":"true","reason":"Why","message":"${'m'.repeat(1_000_000)}"}]`),
  }),
  definitionCase({
    name: 'rule: on embedded resources',
    schema: () =>
      spec(
        `"e":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true${rules('self.metadata.name != "no" && self.kind != "No"')}}`,
      ),
    steps: [
      { body: () => instance('a', '{"e":{"apiVersion":"v1","kind":"No","metadata":{"name":"x"}}}'), expect: [422] },
      { body: () => instance('b', '{"e":{"apiVersion":"v1","kind":"Yes","metadata":{}}}'), expect: [201, 422] },
      { body: () => instance('c', '{"e":{"apiVersion":[],"kind":{},"metadata":[]}}'), expect: [400, 422] },
      { body: () => instance('d', '{"e":null}') },
    ],
  }),
  definitionCase({
    name: 'rule: on prototype names',
    schema: () =>
      spec(
        `"__proto__":${integer},"constructor":${integer}`,
        rules('has(self.constructor) && self.constructor > 0 && self.__underscores__proto__underscores__ > 0'),
      ),
    steps: [
      { body: () => instance('a', '{"constructor":1,"__proto__":1}'), expect: [201] },
      { body: () => instance('b', '{}'), expect: [422] },
    ],
  }),
  definitionCase({
    name: 'rule: 60 deep lists',
    schema: () =>
      object(
        `"spec":${nested(60, '{"type":"array","maxItems":2,"items":', `{"type":"string","maxLength":5${rules('self != "x"')}}`, '}')}`,
      ),
  }),
  definitionCase({
    name: 'rule: int-or-string',
    schema: () =>
      spec(`"p":{"x-kubernetes-int-or-string":true${rules('type(self) == string ? self.endsWith("%") : self >= 0')}}`),
    steps: [
      { body: () => instance('a', '{"p":1.5}'), expect: [422] },
      { body: () => instance('b', '{"p":1e400}'), expect: [400, 422] },
      { body: () => instance('c', '{"p":"5%"}'), expect: [201] },
      { body: () => instance('d', '{"p":-0}') },
      { body: () => instance('e', '{"p":true}'), expect: [422] },
    ],
  }),
];
