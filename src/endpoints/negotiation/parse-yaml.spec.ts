import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseYaml } from './parse-yaml.js';

describe('parseYaml', () => {
  const same: readonly (readonly [text: string, json: string])[] = [
    ['a: 1.0\nb: 1e3\nc: -2.50\nd: 1', '{"a":1.0,"b":1e3,"c":-2.50,"d":1}'],
    ['a: .5\nb: +1.5\nc: 1.\nd: 0x7f\ne: 0o17', '{"a":0.5,"b":1.5,"c":1,"d":127,"e":15}'],
    [
      'a: 9007199254740993\nb: 123456789012345678901234567890',
      '{"a":9007199254740993,"b":123456789012345678901234567890}',
    ],
    ['a: 0.1000000000000000055511151231257827', '{"a":0.1000000000000000055511151231257827}'],
    ['a: "1.0"\nb: v1.0\nc: 1.0.0', '{"a":"1.0","b":"v1.0","c":"1.0.0"}'],
    ['{"a": 1.0, "b": [1e2], "a": 2.0}', '{"a":2.0,"b":[1e2]}'],
    ['{a: 1.0, b: [x, y]}', '{"a":1.0,"b":["x","y"]}'],
    ['n: n\ny: yes\nt: true\nz: ~', '{"n":"n","y":"yes","t":true,"z":null}'],
    ['a: &x {k: 1.0}\nb: *x', '{"a":{"k":1.0},"b":{"k":1.0}}'],
    ['', 'null'],
  ];
  for (const [text, json] of same) {
    it(`reads ${JSON.stringify(text)}`, () => assert.equal(JSON.stringify(parseYaml(text)), json));
  }

  const refused: readonly (readonly [text: string, message: RegExp])[] = [
    ['a: .nan', /not a number that JSON has/],
    ['a: -.inf', /not a number that JSON has/],
    ['a: b: c', /^yaml: /],
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
