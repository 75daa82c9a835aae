import { ExactNumber, parseExactJson } from '../../src/base/machinery/json/exact-numbers.js';
import { jsonFields, resolveType, type SchemaType } from '../../src/base/machinery/schema/index.js';
import type { Random } from '../support/random.js';
import { RandomValues } from '../support/random-values.js';

type Json = Record<string, unknown>;

/** Spellings of numbers that some reader could refuse, round or read as something else. */
const numbers = [
  ...['1e400', '-1e400', '1e309', '1.7976931348623157e308', '5e-324', '1e-400', '3.5e38', '1e2', '1.0', '-0', '-0.0'],
  ...['0.10', '1E+2', '2147483648', '-2147483649', '4294967296', '9007199254740992', '9007199254740993'],
  ...[
    '9007199254740993.0',
    '9223372036854775807',
    '-9223372036854775808',
    '9223372036854775808',
    '1e16',
    '1e17',
    '1e20',
  ],
  ...['18446744073709551615', '18446744073709551616', '1e21', '123456789012345678901234567890', '0.1e-6', '1e-7'],
  ...['9'.repeat(310), `0.${'1'.repeat(60)}`, '0.30000000000000004', '1', '7', '-3', '2.5'],
];
const texts = [
  ...[
    '\ud800',
    'a\udc00b',
    '\udfff\ud800',
    '\u{1f600}',
    '\u0000',
    '\u2028',
    '\ufeff',
    '\uffff',
    '',
    '0440',
    'yes',
    '1e400',
  ],
  ...['null', '~', '.inf', '<<', '2001-12-14', '\\ud800', '"', 'line\nbreak', 'ä'.repeat(200), '\u007f\u0085', '1:30'],
];
const keys = [
  'a',
  'b',
  '0',
  '-1',
  '10',
  'yes',
  '1e2',
  '\ud800',
  '__proto__',
  'constructor',
  'toString',
  '',
  'ü',
  '<<',
  '~',
];

/** Makes objects with values that test readers, from valid ones. */
export class HostileObjects {
  private readonly values: RandomValues;

  constructor(private readonly random: Random) {
    this.values = new RandomValues(random);
  }

  number(): unknown {
    return (parseExactJson(`[${this.random.pick(numbers)}]`) as unknown[])[0];
  }

  text(): string {
    return this.random.pick(texts);
  }

  /** Any JSON value, nested at random, seldom very deeply. */
  free(depth = 0): unknown {
    const { random } = this;
    if (depth === 0 && random.chance(0.01)) return this.deep(random.pick([50, 300, 900]));
    const choice = random.below(depth > 4 ? 5 : 8);
    if (choice < 2) return this.number();
    if (choice < 4) return this.text();
    if (choice === 4) return random.pick([true, false, null]);
    if (choice === 5) return Array.from({ length: random.below(4) }, () => this.free(depth + 1));
    return this.object(depth);
  }

  object(depth = 0): Json {
    const object: Json = {};
    for (let i = this.random.below(5); i >= 0; i--) setKey(object, this.random.pick(keys), this.free(depth + 1));
    return object;
  }

  private deep(levels: number): unknown {
    let value: unknown = this.number();
    for (let i = 0; i < levels; i++) value = this.random.chance(0.5) ? [value] : { a: value };
    return value;
  }

  /** Changes a few fields of an object of the type: to other values that fit, or to any. */
  change(type: SchemaType, object: Json): void {
    for (let i = this.random.below(3); i >= 0; i--) this.changeOnce(type, object);
  }

  private changeOnce(type: SchemaType, object: Json): void {
    const resolved = resolveType(type);
    if (resolved.type === 'scalar' || resolved.type === 'enum') return;
    if (resolved.type !== 'struct') {
      setKey(object, this.random.pick(keys), this.free(3));
      return;
    }
    const fields = [...jsonFields(resolved).values()].filter(({ name }) => name !== 'metadata' && name !== 'name');
    if (fields.length === 0) return;
    // Mostly further down, inside existing fields.
    const present = fields.filter((field) => isObject(object[field.name]));
    if (present.length > 0 && this.random.chance(0.7)) {
      const field = this.random.pick(present);
      const below = object[field.name] as Json;
      const target = resolveType(field.type);
      if (target.type === 'struct') this.changeOnce(target, below);
      else if (target.type === 'map') setKey(below, this.random.pick(keys), this.fitting(target.value));
      return;
    }
    const field = this.random.pick(fields);
    setKey(object, field.name, this.fitting(field.type));
  }

  private fitting(type: SchemaType): unknown {
    const { random } = this;
    const resolved = resolveType(type);
    if (resolved.type === 'scalar') {
      const { scalar } = resolved;
      if (scalar === 'anyJson') return this.free();
      if (scalar === 'rawExtension') return this.object();
      if (/int|double|quantity/i.test(scalar) && random.chance(0.7)) return this.number();
      if (scalar === 'string' && random.chance(0.6)) return this.text();
    }
    return random.chance(0.85) ? this.values.partOf(type) : this.free(2);
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

export function setKey(object: Json, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}
