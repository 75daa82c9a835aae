import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseYaml } from './parse-yaml.js';

describe('parseYaml', () => {
  const same: readonly (readonly [text: string, json: string])[] = [
    ['a: 1.0\nb: 1e3\nc: -2.50\nd: 1', '{"a":1,"b":1000,"c":-2.5,"d":1}'],
    ['a: .5\nb: +1.5\nc: 1.\nd: 0x7f\ne: 0o17\nf: 1e400', '{"a":0.5,"b":1.5,"c":1,"d":127,"e":15,"f":"1e400"}'],
    ['a: 9007199254740993\nb: 123456789012345678901234567890', '{"a":9007199254740993,"b":1.2345678901234568e+29}'],
    ['a: 0440\nb: -010\nc: 08\nd: 0b11\ne: 1_000\nf: 010.5', '{"a":288,"b":-8,"c":8,"d":3,"e":1000,"f":10.5}'],
    ['a: "0440"\nb: |\n  010\nc: !!int "010"\nd: !!str 010', '{"a":"0440","b":"010\\n","c":8,"d":"010"}'],
    [
      'a: 12:30\nb: 2001-12-14\nc: 0o8\nd: 1.2.3\ne: _1',
      '{"a":"12:30","b":"2001-12-14","c":"0o8","d":"1.2.3","e":"_1"}',
    ],
    [
      'a: &x {k: 1, l: 2}\nb: {l: 3, <<: *x}\nc: {<<: *x, l: 3}',
      '{"a":{"k":1,"l":2},"b":{"l":2,"k":1},"c":{"k":1,"l":3}}',
    ],
    ['a: &x {k: 1}\nb: &y {k: 2, l: 2}\nc: {<<: [*x, *y]}', '{"a":{"k":1},"b":{"k":2,"l":2},"c":{"k":1,"l":2}}'],
    ['a: {"<<": 1}', '{"a":{"<<":1}}'],
    [
      '{010: a, yes: b, 1.5: c, 1e20: d, 0.00001: e, -0: f}',
      '{"0":"f","8":"a","true":"b","1.5":"c","1e+20":"d","1e-05":"e"}',
    ],
    ['a: !!binary aGVsbG8=\nb: !!set {x}\nc: !own z\nd: ! yes', '{"a":"hello","b":{"x":null},"c":"z","d":"yes"}'],
    ['a: "1.0"\nb: v1.0\nc: 1.0.0', '{"a":"1.0","b":"v1.0","c":"1.0.0"}'],
    ['{"a": 1.0, "b": [1e2], "a": 2.0}', '{"a":2.0,"b":[1e2]}'],
    ['{a: 1.0, b: [x, y]}', '{"a":1,"b":["x",true]}'],
    ['a: n\nb: yes\nc: true\nd: ~\ne: off\nf: yEs', '{"a":false,"b":true,"c":true,"d":null,"e":false,"f":"yEs"}'],
    ['a: &x {k: 1.0}\nb: *x', '{"a":{"k":1},"b":{"k":1}}'],
    ['', 'null'],
  ];
  for (const [text, json] of same) {
    it(`reads ${JSON.stringify(text)}`, () => assert.equal(JSON.stringify(parseYaml(text)), json));
  }

  const refused: readonly (readonly [text: string, message: RegExp])[] = [
    ['a: .nan', /not a number that JSON has/],
    ['a: -.inf', /not a number that JSON has/],
    ['{~: a}', /unsupported map key/],
    ['{18446744073709551615: a}', /unsupported map key/],
    ['{[1]: a}', /invalid map key/],
    ['{<<: 5}', /map merge requires/],
    ['a: &x [*x]', /contains itself/],
    ['a: !!int x', /cannot decode !!str `x` as a !!int/],
    ['a: !!bool 010', /cannot decode !!int `010` as a !!bool/],
    ['a: b: c', /^yaml: mapping values are not allowed in this context$/],
    ['a: b\nc: d: e', /^yaml: line 2: mapping values are not allowed in this context$/],
    ['a:\n\t- b', /^yaml: line 2: Tabs/],
    ['a: *none', /^yaml: /],
    ['a: [', /^yaml: /],
    [`a: ${'['.repeat(100_000)}`, /exceeded max depth/],
    [`a: &a [x]\nb:\n${'- *a\n'.repeat(200)}`, /alias/i],
  ];
  for (const [text, message] of refused) {
    it(`refuses ${JSON.stringify(text.slice(0, 30))}`, () => {
      assert.throws(
        () => parseYaml(text),
        (error: unknown) => error instanceof SyntaxError && message.test(error.message),
      );
    });
  }
});
