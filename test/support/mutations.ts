import type { Random } from './random.js';

/** Replacements for a value anywhere in an object. */
const strangeValues: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  1e308,
  '',
  'x',
  '../../etc',
  '\u0000',
  '\ud800',
  'x'.repeat(5000),
  [],
  {},
  [null],
  [[[]]],
  { '': '' },
  { metadata: {} },
  JSON.parse('{"__proto__":{"polluted":true}}'),
  { constructor: { prototype: { polluted: true } } },
];

/** JSON texts that no value produces. */
const strangeTexts: readonly string[] = [
  '1e999',
  '-1e999',
  '123456789012345678901234567890',
  '-0',
  '1E-400',
  '01',
  '0x10',
  'NaN',
  'undefined',
  "'x'",
  '"\\u12"',
  '"\t"',
  '// x\n1',
  '[1,]',
  '{"a":1,"a":2}',
  '"\\ud800"',
];

type Container = Record<string, unknown> | unknown[];

/** Every container of a value with one of its keys. */
function places(value: unknown, found: [Container, string][] = []): [Container, string][] {
  if (typeof value !== 'object' || value === null) return found;
  for (const [key, child] of Object.entries(value)) {
    found.push([value as Container, key]);
    places(child, found);
  }
  return found;
}

function put(container: Container, key: string, value: unknown): void {
  Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Replaces, drops, adds or renames a random part of a value; the input is not changed. */
export function mutateValue(random: Random, value: unknown): unknown {
  const copy: unknown = structuredClone(value);
  const found = places(copy);
  if (found.length === 0) return random.pick(strangeValues);
  const [container, key] = random.pick(found);
  const member = (container as Record<string, unknown>)[key];
  switch (random.below(6)) {
    case 0:
      if (Array.isArray(container)) container.splice(Number(key), 1);
      else delete container[key];
      break;
    case 1:
      put(
        container,
        Array.isArray(container) ? key : random.pick(['unknown', '__proto__', 'kind', 'toString']),
        member,
      );
      break;
    case 2: {
      const [other, otherKey] = random.pick(found);
      put(container, key, structuredClone((other as Record<string, unknown>)[otherKey]));
      break;
    }
    case 3:
      put(container, key, Array.isArray(member) ? Object.fromEntries(member.entries()) : [member, member]);
      break;
    default:
      put(container, key, structuredClone(random.pick(strangeValues)));
  }
  return copy;
}

/** A JSON text with content that a value can't have: numbers out of range, duplicate keys, deep nesting. */
export function mutateJsonText(random: Random, value: unknown): string {
  const copy: unknown = structuredClone(value);
  const [container, key] = random.pick(places(copy));
  const mark = '@here@';
  put(container, key, mark);
  return JSON.stringify(copy).replace(`"${mark}"`, () => {
    if (random.chance(0.7)) return random.pick(strangeTexts);
    const depth = random.pick([10, 300, 1500, 20_000]);
    return random.chance(0.5)
      ? '['.repeat(depth) + ']'.repeat(depth)
      : `${'{"properties":'.repeat(depth)}{}${'}'.repeat(depth)}`;
  });
}

/** Bytes that are invalid or unusual UTF-8. */
const strangeBytes: readonly Buffer[] = [
  Buffer.from([0xff]),
  Buffer.from([0xc0, 0x80]),
  Buffer.from([0xed, 0xa0, 0x80]),
  Buffer.from([0xf5, 0x80, 0x80, 0x80]),
  Buffer.from([0xef, 0xbb, 0xbf]),
  Buffer.from([0]),
  Buffer.from('"'),
  Buffer.from('\n'),
  Buffer.from(']}'),
  Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]),
  Buffer.from([0x0b, 0x0b, 0x0b]),
  Buffer.alloc(2000, 0x0b),
];

/** Cuts, flips, drops, doubles or inserts bytes, one to three times. */
export function mutateBytes(random: Random, data: Buffer): Buffer {
  let mutated = Buffer.from(data);
  for (let times = 1 + random.below(3); times > 0; times--) {
    const at = random.below(mutated.length + 1);
    const end = Math.min(mutated.length, at + 1 + random.below(20));
    switch (random.below(6)) {
      case 0:
        mutated = mutated.subarray(0, at);
        break;
      case 1:
        if (at < mutated.length) mutated[at] = (mutated[at] as number) ^ (1 << random.below(8));
        break;
      case 2:
        mutated = Buffer.concat([mutated.subarray(0, at), mutated.subarray(end)]);
        break;
      case 3:
        mutated = Buffer.concat([mutated.subarray(0, end), mutated.subarray(at)]);
        break;
      case 4:
        if (at < mutated.length) mutated[at] = random.pick([0, 1, 0x7f, 0x80, 0xff]);
        break;
      default:
        mutated = Buffer.concat([mutated.subarray(0, at), random.pick(strangeBytes), mutated.subarray(at)]);
    }
  }
  return mutated;
}

/** YAML with features that plain values don't need. */
const strangeYaml: readonly string[] = [
  `a: &a [x,x,x,x,x,x,x,x,x]\n${['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
    .map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`)
    .join('\n')}\n`,
  'a: &a [*a]\n',
  'a: &a\n  b: *a\n',
  'a: *missing\n',
  'base: &x {k: v}\nlabels:\n  <<: *x\n',
  'a: !!binary "x"\n',
  'a: !!js/function "function () {}"\n',
  'a: !!set {x, y}\n',
  'a: !<tag:yaml.org,2002:timestamp> 2001-12-14\n',
  '? [a, b]\n: c\n',
  '? {a: b}\n: c\n',
  'a: .nan\nb: .inf\nc: 0x7f\nd: 0o17\ne: 1_000\n',
  '---\na: b\n---\nc: d\n',
  '%YAML 9.9\n---\na: b\n',
  'a: |9\n x\n',
  "a: 'open\n",
  'a: "\\q"\n',
  '\t a: b\n',
  'null: x\ntrue: y\n1: z\n',
  '__proto__:\n  polluted: true\n',
  'constructor: {prototype: {polluted: true}}\n',
  `a: ${'['.repeat(3000)}\n`,
  `a: ${'['.repeat(3000)}${']'.repeat(3000)}\n`,
  `a: ${'{b: '.repeat(3000)}1${'}'.repeat(3000)}\n`,
  `${'- '.repeat(3000)}x\n`,
  `a: ${'!'.repeat(1000)}\n`,
  `a: ${'&x '.repeat(200)}y\n`,
];

/** A YAML text with an unusual part before, after or inside it. */
export function mutateYamlText(random: Random, text: string): string {
  const lines = text.split('\n');
  const at = random.pick([0, lines.length, random.below(lines.length)]);
  return [...lines.slice(0, at), random.pick(strangeYaml), ...lines.slice(at)].join('\n');
}
