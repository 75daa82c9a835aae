import { definitionCase, type HostileCase } from './definition-case.js';
import { instance, integer, most, nested, object, spec, text, times } from './parts.js';

const open = '{"type":"object","properties":{"a":';
const refused = { expect: [422] };
const made = { expect: [201] };
const malformed = { expect: [400, 422] };

function tree(depth: number): string {
  return depth === 0 ? '{"required":["z"]}' : `{"anyOf":[${tree(depth - 1)},${tree(depth - 1)}]}`;
}

function pattern(name: string, expression: string, value: string, expect: readonly number[]) {
  return definitionCase({
    name: `pattern: ${name}`,
    expect,
    schema: () => spec(`"p":{"type":"string","pattern":${JSON.stringify(expression)}}`),
    steps: [
      { body: () => instance('a', `{"p":"${value}"}`), expect: [201, 422] },
      { body: () => instance('b', `{"p":"${value.slice(0, 10)}"}`), expect: [201, 422] },
    ],
  });
}

const odd = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype'];

/** Definitions with hostile schemas, and objects of those that are accepted. */
export const schemaCases: readonly HostileCase[] = [
  definitionCase({ name: 'schema: 900 deep', schema: () => nested(900, open, text, '}}') }),
  definitionCase({ name: 'schema: 60,000 deep', schema: () => nested(60_000, open, text, '}}') }),
  definitionCase({
    name: 'schema: 100 deep and used',
    schema: () => object(`"spec":${nested(100, open, text, '}}')}`),
    steps: [{ body: () => instance('a', nested(100, '{"a":', '"x"', '}')), expect: [201] }, { method: 'GET' }],
  }),
  definitionCase({
    name: 'schema: lists of lists 200,000 deep',
    schema: () => nested(100_000, '{"type":"array","items":', text, '}'),
  }),
  definitionCase({ name: 'schema: $ref to itself', ...refused, schema: () => spec('"a":{"$ref":"#"}') }),
  definitionCase({
    name: 'schema: definitions',
    ...refused,
    schema: () => object('', `,"definitions":{"a":{"$ref":"#/definitions/a"}}`),
  }),
  definitionCase({
    name: 'schema: 3 MB of properties',
    schema: () => spec(times(60_000, (i) => `"property${i}":{"type":"string","minLength":1}`)),
    steps: [{ body: () => instance('a', '{"property1":"x"}') }, { method: 'GET' }],
  }),
  definitionCase({
    name: 'schema: 1 MB of properties',
    schema: () => spec(times(22_000, (i) => `"property${i}":{"type":"string","minLength":1}`)),
    steps: [
      { body: () => instance('a', '{"property1":"x"}') },
      { body: () => instance('b', `{${times(20_000, (i) => `"property${i}":"x"`)}}`) },
      { method: 'GET' },
    ],
  }),
  definitionCase({
    name: 'schema: 3 MB of description',
    schema: () => object('', `,"description":"${'d'.repeat(most)}"`),
    steps: [{ body: () => instance('a', '{}') }],
  }),
  definitionCase({
    name: 'schema: 3,000 top-level properties',
    schema: () => object(times(3_000, (i) => `"p${i}":${text}`)),
    steps: [{ body: () => `{"metadata":{"name":"a"},"p1":"x"}`, expect: [201] }, { method: 'GET' }],
  }),
  definitionCase({
    name: 'schema: anyOf tree of 2^14 leaves',
    schema: () => object(`"spec":{"type":"object","anyOf":[${tree(13)},${tree(13)}]}`),
    steps: [{ body: () => instance('a', '{}'), expect: [201, 422] }],
  }),
  definitionCase({
    name: 'schema: anyOf chain that nests at every item',
    schema: () =>
      spec(
        `"l":{"type":"array","items":{"type":"string","anyOf":[${times(2_000, (i) => `{"pattern":"^a{${i % 50}}b"}`)}]}}`,
      ),
    steps: [{ body: () => instance('a', `{"l":[${times(100_000, () => '"aaaaaaaaaa"')}]}`) }],
  }),
  definitionCase({
    name: 'schema: not of not of not',
    schema: () => object(`"spec":{"type":"object","not":${nested(700, '{"not":', '{"required":["a"]}', '}')}}`),
    steps: [{ body: () => instance('a', '{}'), expect: [201, 422] }],
  }),
  definitionCase({
    name: 'schema: enum of 200,000',
    schema: () => spec(`"e":{"type":"string","enum":[${times(200_000, (i) => `"v${i}"`)}]}`),
    steps: [{ body: () => instance('a', '{"e":"none"}') }],
  }),
  definitionCase({
    name: 'schema: enum of 20,000 objects at 5,000 items',
    schema: () =>
      spec(
        `"l":{"type":"array","items":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"enum":[${times(20_000, (i) => `{"a":{"b":${i}}}`)}]}}`,
      ),
    steps: [{ body: () => instance('a', `{"l":[${times(5_000, () => '{"a":{"b":-1}}')}]}`) }],
  }),
  definitionCase({
    name: 'schema: default of 1 MB',
    schema: () => spec(`"d":{"type":"string","default":"${'d'.repeat(1_000_000)}"}`),
    steps: [{ body: () => instance('a', '{}') }, { body: () => instance('b', '{}') }, { method: 'GET' }],
  }),
  definitionCase({
    name: 'schema: default of 100 kB in each of 100,000 items',
    schema: () =>
      spec(`"l":{"type":"array","items":${object(`"d":{"type":"string","default":"${'d'.repeat(100_000)}"}`)}}`),
    steps: [{ body: () => instance('a', `{"l":[${times(100_000, () => '{}')}]}`), expect: [400, 413, 422] }],
  }),
  definitionCase({
    name: 'schema: defaults within defaults',
    schema: () =>
      spec(
        `"l":{"type":"array","default":[${times(50_000, () => '{}')}],"items":${object(times(20, (i) => `"d${i}":{"type":"integer","default":${i}}`))}}`,
      ),
    steps: [{ body: () => instance('a', '{}') }],
  }),
  definitionCase({
    name: 'schema: a default of the wrong type',
    ...refused,
    schema: () => spec('"a":{"type":"string","default":1}'),
  }),
  definitionCase({
    name: 'schema: default null',
    schema: () => spec('"a":{"type":"string","default":null}'),
    steps: [{ body: () => instance('a', '{"a":null}') }],
  }),
  definitionCase({
    name: 'schema: a default of null is none',
    ...made,
    schema: () => spec('"a":{"type":"string","nullable":true,"default":null},"b":{"type":"string","default":"x"}'),
    steps: [
      {
        body: () => instance('a', '{"b":null}'),
        expect: [201],
        check: ({ body }) => (body.spec.b === 'x' && body.spec.a === undefined ? undefined : JSON.stringify(body.spec)),
      },
    ],
  }),
  pattern('nested repeats', '^(a+)+$', `${'a'.repeat(100_000)}!`, [201]),
  pattern('alternatives', '^(a|a)*$', `${'a'.repeat(100_000)}!`, [201]),
  pattern('many optionals', `^(${'a?'.repeat(1_000)})${'a'.repeat(1_000)}$`, 'a'.repeat(1_000), [201, 422]),
  pattern('huge repeat', '^(a{1000}){1000}$', 'a'.repeat(100_000), [422]),
  pattern('repeat of a thousand', '^.*a.{1000}$', 'a'.repeat(100_000), [201, 422]),
  pattern('repeats of repeats', `^(((a{10}){10}){9})`, 'a'.repeat(10_000), [201, 422]),
  pattern('not closed', '(', 'a', [422]),
  pattern('backreference', '(a)\\1', 'a', [422]),
  pattern('look-around', '^(?=a)', 'a', [422]),
  pattern('not closed class', '[z-a', 'a', [422]),
  pattern('of 1 MB', `^(${'a|'.repeat(500_000)}b)$`, 'a', [201, 422]),
  pattern('20,000 deep', nested(20_000, '(', 'a', ')'), 'a', [201, 422]),
  pattern('all of Unicode', `^[\\p{L}\\p{N}]{1,500}[\\x{10000}-\\x{10FFFF}]*$`, 'ä'.repeat(50_000), [201, 422]),
  pattern('lone surrogate', '^\ud800$', 'a', [201, 400, 422]),
  pattern('NUL', '^\u0000$', 'a', [201, 400, 422]),
  definitionCase({
    name: 'pattern: 3,000 large ones',
    schema: () => spec(times(3_000, (i) => `"p${i}":{"type":"string","pattern":"^(a|b|c${i}){1,100}(x.*y){1,9}$"}`)),
    steps: [{ body: () => instance('a', `{${times(3_000, (i) => `"p${i}":"${'ab'.repeat(100)}"`)}}`) }],
  }),
  definitionCase({
    name: 'format: unknown and of 1 MB',
    schema: () => spec(`"a":{"type":"string","format":"${'f'.repeat(1_000_000)}"}`),
    steps: [{ body: () => instance('a', '{"a":"x"}') }],
  }),
  ...['date-time', 'duration', 'email', 'uri', 'ipv6', 'cidr', 'hostname', 'byte', 'mac'].map((format) =>
    definitionCase({
      name: `format: ${format} of 1 MB`,
      ...made,
      schema: () => spec(`"a":{"type":"string","format":"${format}"},"b":{"type":"string","format":"${format}"}`),
      steps: [
        {
          body: () => instance('a', `{"a":"${'1:'.repeat(500_000)}","b":"${'a.@'.repeat(300_000)}"}`),
          expect: [201, 422],
        },
      ],
    }),
  ),
  definitionCase({
    name: 'numbers: limits that are no numbers',
    schema: () => spec('"a":{"type":"number","minimum":1e308,"maximum":-1e308,"multipleOf":0}'),
    steps: [{ body: () => instance('a', '{"a":5}') }],
  }),
  definitionCase({
    name: 'numbers: maximum 1e400',
    ...malformed,
    schema: () => spec('"a":{"type":"number","maximum":1e400}'),
  }),
  definitionCase({
    name: 'numbers: maximum NaN',
    ...malformed,
    schema: () => spec('"a":{"type":"number","maximum":NaN}'),
  }),
  definitionCase({
    name: 'numbers: maxLength 1e30',
    ...malformed,
    schema: () => spec('"a":{"type":"string","maxLength":1e30}'),
  }),
  definitionCase({
    name: 'numbers: negative lengths',
    schema: () => spec('"a":{"type":"string","maxLength":-1,"minLength":9223372036854775807}'),
    steps: [{ body: () => instance('a', '{"a":"x"}') }],
  }),
  definitionCase({
    name: 'numbers: tiny multipleOf',
    schema: () => spec('"a":{"type":"number","multipleOf":5e-324}'),
    steps: [{ body: () => instance('a', '{"a":1e308}') }],
  }),
  definitionCase({ name: 'a schema of null', ...refused, schema: () => 'null' }),
  definitionCase({ name: 'a schema of a list', ...malformed, schema: () => '[]' }),
  definitionCase({ name: 'properties of null', schema: () => object('"spec":null') }),
  definitionCase({
    name: 'items as a list',
    ...refused,
    schema: () => spec('"a":{"type":"array","items":[{"type":"string"}]}'),
  }),
  definitionCase({ name: 'null everywhere', expect: [400, 422], versions: () => '[null,{"name":null,"schema":null}]' }),
  definitionCase({
    name: 'duplicate keys in the schema',
    schema: () => '{"type":"object","type":"object","properties":{"spec":{"type":"string"},"spec":{"type":"object"}}}',
    steps: [{ body: () => instance('a', '{}') }],
  }),
  definitionCase({
    name: 'metadata: name pattern',
    ...made,
    schema: () => object('"metadata":{"type":"object","properties":{"name":{"type":"string","maxLength":3}}}'),
    steps: [
      { body: () => '{"metadata":{"name":"abcd"}}', expect: [422] },
      { body: () => '{"metadata":{"name":"abc"}}', expect: [201] },
    ],
  }),
  definitionCase({
    name: 'metadata: other fields',
    ...refused,
    schema: () => object('"metadata":{"type":"object","properties":{"labels":{"type":"object"}}}'),
  }),
  definitionCase({ name: 'metadata: a string', ...refused, schema: () => object('"metadata":{"type":"string"}') }),
  definitionCase({
    name: 'metadata: required',
    schema: () => object('"metadata":{"type":"object"},"kind":{"type":"string","enum":["No"]}'),
    steps: [{ body: () => '{"metadata":{"name":"a"}}' }],
  }),
  definitionCase({
    name: 'prototype: names of properties',
    ...made,
    schema: () => spec(odd.map((name) => `"${name}":{"type":"object","properties":{"${name}":${text}}}`).join(',')),
    steps: [
      {
        body: () => instance('a', `{${odd.map((name) => `"${name}":{"${name}":"x","unknown":1}`).join(',')}}`),
        expect: [201],
        check: ({ text: answer }) =>
          odd.every((name) => answer.includes(`"${name}":{"${name}":"x"}`)) ? undefined : answer.slice(0, 600),
      },
      {
        method: 'GET',
        path: '/a',
        expect: [200],
        check: ({ text: answer }) => (answer.includes('"__proto__":{"__proto__":"x"}') ? undefined : answer),
      },
      {
        method: 'PATCH',
        path: '/a',
        contentType: 'application/merge-patch+json',
        body: () => '{"spec":{"__proto__":{"__proto__":"y"}}}',
        expect: [200],
        check: ({ text: answer }) => (answer.includes('"__proto__":{"__proto__":"y"}') ? undefined : answer),
      },
      {
        method: 'PATCH',
        path: '/a?fieldManager=m&force=true',
        contentType: 'application/apply-patch+yaml',
        body: () => instance('a', '{"constructor":{"constructor":"z"},"__proto__":{"__proto__":"z"}}'),
        expect: [200],
        check: ({ text: answer }) => (answer.includes('"__proto__":{"__proto__":"z"}') ? undefined : answer),
      },
    ],
  }),
  definitionCase({
    name: 'prototype: top-level properties',
    schema: () => object(odd.map((name) => `"${name}":${text}`).join(',')),
    steps: [
      {
        body: () => `{"metadata":{"name":"a"},${odd.map((name) => `"${name}":"x"`).join(',')}}`,
        expect: [201],
        check: ({ text: answer }) =>
          odd.every((name) => answer.includes(`"${name}":"x"`)) ? undefined : answer.slice(0, 600),
      },
      {
        method: 'GET',
        path: '/a',
        expect: [200],
        check: ({ text: answer }) =>
          odd.every((name) => answer.includes(`"${name}":"x"`)) ? undefined : answer.slice(0, 600),
      },
    ],
  }),
  definitionCase({
    name: 'prototype: keys of maps, kept fields and defaults',
    ...made,
    schema: () =>
      spec(
        `"m":{"type":"object","additionalProperties":${text}},"k":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"default":{"__proto__":{"polluted":"yes"}}},"required":{"type":"object","required":["toString"]}`,
      ),
    steps: [
      {
        body: () => instance('a', '{"m":{"__proto__":"x","constructor":"x"}}'),
        expect: [201],
        check: ({ text: answer }) =>
          answer.includes('"__proto__":"x"') && answer.includes('"__proto__":{"polluted":"yes"}') ? undefined : answer,
      },
      { body: () => instance('b', '{"required":{}}'), expect: [422] },
      {
        body: () => instance('c', '{"k":{"a":{"__proto__":{"b":1}}}}'),
        expect: [201],
        check: ({ text: answer }) => (answer.includes('"__proto__":{"b":1}') ? undefined : answer),
      },
      {
        method: 'GET',
        path: '/c',
        expect: [200],
        check: ({ text: answer }) => (answer.includes('"__proto__":{"b":1}') ? undefined : answer),
      },
    ],
  }),
  definitionCase({
    name: 'odd names of properties',
    schema: () =>
      spec(
        `"":${text},"a.b":${text},"ü":${text},"\\u0007":${text},"a/b":${text},"\\u2028":${text},"${'n'.repeat(100_000)}":${text}`,
      ),
    steps: [{ body: () => instance('a', '{"":"x","a.b":"x","ü":"x","\\u0007":"x"}') }, { method: 'GET' }],
  }),
  definitionCase({
    name: 'names of properties with NUL and lone surrogates',
    schema: () => spec(`"a\\u0000b":${text},"\\ud800":${text}`),
    steps: [{ body: () => instance('a', '{"a\\u0000b":"x","\\ud800":"x"}') }, { method: 'GET' }],
  }),
  definitionCase({
    name: 'list map without keys',
    ...refused,
    schema: () => spec(`"l":{"type":"array","x-kubernetes-list-type":"map","items":${object(`"k":${text}`)}}`),
  }),
  definitionCase({
    name: 'list map with 10,000 keys',
    schema: () =>
      spec(
        `"l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":[${times(10_000, (i) => `"k${i}"`)}],"items":${object(
          times(10_000, (i) => `"k${i}":${text}`),
          `,"required":[${times(10_000, (i) => `"k${i}"`)}]`,
        )}}`,
      ),
    steps: [{ body: () => instance('a', '{"l":[{},{}]}') }],
  }),
  definitionCase({
    name: 'set of lists',
    schema: () =>
      spec(
        `"l":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"array","x-kubernetes-list-type":"atomic","items":${integer}}}`,
      ),
    steps: [{ body: () => instance('a', `{"l":[${times(100_000, (i) => `[${i}]`)}]}`) }],
  }),
];
