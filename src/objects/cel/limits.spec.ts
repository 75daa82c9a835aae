import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machinePace, processorMs } from '../../../test/support/processor-time.js';
import {
  admissionEnvironment,
  CelCompileError,
  CelError,
  CostLimitExceeded,
  compileProgram,
  type Value,
} from './index.js';

const environment = admissionEnvironment();

/** The longest CPU time in milliseconds, for which {@link machinePace} is 1; slower or busy machines get more. */
const limitMs = 50;

/** How an expression ends, and the CPU time in milliseconds of compiling and of evaluating it. */
function run(text: string, object: unknown): { readonly end: string; readonly times: readonly [number, number] } {
  const start = processorMs();
  let compiledAt = start;
  try {
    const program = compileProgram(text, environment);
    compiledAt = processorMs();
    program.evaluate({ object: object as Value });
    return { end: 'value', times: [compiledAt - start, processorMs() - compiledAt] };
  } catch (error) {
    const now = processorMs();
    const times =
      error instanceof CelCompileError
        ? ([now - start, 0] as const)
        : ([compiledAt - start, now - compiledAt] as const);
    if (error instanceof CostLimitExceeded) return { end: 'limit', times };
    if (error instanceof CelCompileError) return { end: 'refused', times };
    if (error instanceof CelError) return { end: 'error', times };
    throw error;
  }
}

const thousand = Array.from({ length: 1000 }, (_, i) => i);
const text = 'a'.repeat(100_000);
const nested = (body: string) => `object.all(a, object.all(b, object.all(c, object.all(d, object.all(e, ${body})))))`;
const doubled = (steps: number) => {
  let made = '"aaaaaaaaaa"';
  for (let i = 0; i < steps; i++) made = `optional.of(${made}).optMap(v${i}, v${i} + v${i}).value()`;
  return made;
};
const pairs = (body: string) => `object.map(i, object.map(j, ${body}))`;
const keyed = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]));

const cases: readonly (readonly [string, string, unknown, string])[] = [
  ['five nested loops', nested('a + b + c + d + e >= 0'), thousand, 'limit'],
  ['five nested loops of errors', nested('a.x == 1'), thousand, 'limit'],
  ['nested maps', 'object.map(a, object.map(b, object.map(c, object.map(d, object.map(e, a)))))', thousand, 'limit'],
  ['text that doubles', doubled(40), thousand, 'limit'],
  [
    'text that grows in a loop',
    'object.map(a, object.map(b, "aaaaaaaaaaaaaaaa" + "bbbbbbbbbbbbbbbbbb"))',
    thousand,
    'limit',
  ],
  ['lists that grow', 'object.map(a, object + object)', thousand, 'limit'],
  ['replacement by a long text', 'object.replace("a", object)', text, 'limit'],
  ['replacement of nothing', 'object.replace("", "bbbbbbbbbbbb")', text.repeat(10), 'limit'],
  ['pieces of pieces', 'object.split("").map(a, object.split(""))', text, 'limit'],
  ['a format of a list', 'object.map(i, "%s".format([object]))', thousand, 'limit'],
  ['a catastrophic pattern', 'object.matches("^(a+)+$")', `${text.slice(0, 20_000)}!`, 'value'],
  ['another catastrophic pattern', 'object.matches("(x+x+)+y")', 'x'.repeat(20_000), 'value'],
  ['a pattern with many states', 'object.matches("[ab]*a[ab]{200}c")', `${'ab'.repeat(10_000)}d`, 'value'],
  ['a large pattern', 'object.matches("((a{50}){19})*b")', text, 'limit'],
  ['a pattern on a very long text', 'object.matches("b$")', text.repeat(10), 'limit'],
  ['all matches of a pattern', 'object.findAll("a.*b|a").size()', text, 'limit'],
  ['many patterns', pairs('"aaa".matches(string(i) + "x" + string(j))'), thousand, 'limit'],
  [
    'sets',
    'sets.equivalent(object, object) && sets.equivalent(object, object) && sets.equivalent(object, object)',
    thousand,
    'limit',
  ],
  ['sizes of a large map', 'object.map(k, object.size())', keyed, 'limit'],
  ['equality of large maps', 'object.map(k, object == {"a": 1})', keyed, 'limit'],
  ['quantities', pairs('quantity("1Gi").add(quantity("1.5")).compareTo(quantity("3Mi"))'), thousand, 'limit'],
  ['times in zones', pairs('timestamp("2020-01-01T00:00:00Z").getHours("Europe/Berlin")'), thousand, 'limit'],
  ['URLs', pairs('url("https://a.b/c?d=e").getQuery().size()'), thousand, 'limit'],
  ['addresses', pairs('cidr("10.0.0.0/8").containsIP("fe80::1")'), thousand, 'limit'],
  ['versions', pairs('semver("1.2.3-a.b").isLessThan(semver("1.2.3"))'), thousand, 'limit'],
  ['100 KB of operators', `1${'+1'.repeat(49_990)}`, null, 'refused'],
  ['100 KB of conditions', `true${'&&true'.repeat(16_000)}`, null, 'refused'],
  ['100 KB of parentheses', `${'('.repeat(49_999)}1${')'.repeat(49_999)}`, null, 'refused'],
  ['100 KB of brackets', '['.repeat(99_999), null, 'refused'],
  ['100 KB of unknown names', `[${'y1,'.repeat(33_000)}1]`, null, 'refused'],
  ['100 KB of unknown names in one', `[${'y'.repeat(49_000)},${'z'.repeat(49_000)}]`, null, 'refused'],
  ['100 KB of escapes', `"${'\\n'.repeat(49_990)}" == ""`, null, 'value'],
  ['more than 100 KB', ' '.repeat(100_001), null, 'refused'],
];

describe('no expression holds the event loop', () => {
  for (const [name, expression, object, expected] of cases) {
    it(name, () => {
      // The first run warms up the code; the faster of the two counts.
      const runs = [run(expression, object), run(expression, object)];
      for (const { end } of runs) assert.equal(end, expected);
      for (const part of [0, 1] as const) {
        const best = Math.min(...runs.map(({ times }) => times[part]));
        assert.ok(best < limitMs * machinePace(), `${best.toFixed(1)} ms to ${part === 0 ? 'compile' : 'evaluate'}`);
      }
    });
  }
});
