import { jsonFields, resolveType, type ScalarName, type SchemaType } from '../../src/base/machinery/schema/index.js';
import type { Random } from './random.js';

type JsonObject = Record<string, unknown>;

/** The number of values in one object after which only required fields are set. */
const maxValues = 250;

const texts = [
  'a',
  'Zz-9.example/x',
  'ä \u20ac \u{1f600}',
  'line\nbreak\ttab',
  '"quoted\\"',
  '\u0000',
  '\u2028\uffff',
  ' ',
  '0',
  'null',
  '<&>',
  'x'.repeat(130),
];
const keys = ['a', 'b', 'app', 'a.example/b', '0', '10', '2', 'constructor', '__proto__', 'toString', 'ü', 'A', ''];

/** Sets any key as an own property, even `__proto__`. */
function setKey(object: JsonObject, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Makes JSON values that fit a declaration, whether or not they make sense. */
export class RandomValues {
  private left = maxValues;

  constructor(private readonly random: Random) {}

  /**
   * A value of a type, with kind and apiVersion if the type is a kind (nested kinds have none, as in protobuf). Never
   * null; lists and maps have members.
   */
  valueOf(type: SchemaType): unknown {
    this.left = maxValues;
    return this.value(type, 0);
  }

  /** Like {@link valueOf}, for a value inside a kind. */
  partOf(type: SchemaType): unknown {
    this.left = maxValues;
    return this.value(type, 1);
  }

  private value(type: SchemaType, depth: number): unknown {
    this.left--;
    const resolved = resolveType(type);
    switch (resolved.type) {
      case 'scalar':
        return this.scalar(resolved.scalar);
      case 'enum':
        return this.random.chance(0.8) ? this.random.pick(resolved.values) : this.text();
      case 'list':
        return Array.from({ length: this.size() }, () => this.value(resolved.element, depth + 1));
      case 'map': {
        const map: JsonObject = {};
        for (let i = this.size(); i > 0; i--)
          setKey(map, this.random.pick(keys), this.value(resolved.value, depth + 1));
        return map;
      }
      case 'variant': {
        if (this.left > 0 && this.random.chance(0.5)) return this.value(resolved.struct, depth + 1);
        if (resolved.alternative === 'bool') return this.random.chance(0.5);
        const element = () => (resolved.alternative === 'list' ? this.value(resolved.struct, depth + 1) : this.text());
        return Array.from({ length: this.size() }, element);
      }
      case 'struct': {
        const object: JsonObject = {};
        if (resolved.kind !== undefined && depth === 0) {
          const { group, version, kind } = resolved.kind;
          object.kind = kind;
          object.apiVersion = group === '' ? version : `${group}/${version}`;
        }
        for (const field of jsonFields(resolved).values()) {
          // Values of dropped fields are never read.
          if (field.dropped) continue;
          const isGiven = field.presence === 'required' || this.random.chance(depth < 3 ? 0.6 : 0.3);
          if (isGiven && (depth < 2 || this.left > 0)) object[field.name] = this.value(field.type, depth + 1);
        }
        return object;
      }
    }
  }

  private size(): number {
    return this.left > 0 ? 1 + this.random.below(2) : 1;
  }

  private text(): string {
    return this.random.chance(0.1) ? '' : this.random.pick(texts) + this.random.pick(texts);
  }

  private whole(limit: number): number {
    const value = this.random.pick([0, 1, 127, 128, 300, 65_536, limit, this.random.below(limit)]);
    return this.random.chance(0.3) ? -value : value;
  }

  private json(depth: number): unknown {
    const { random } = this;
    switch (random.below(depth > 3 ? 4 : 6)) {
      case 0:
        return this.text();
      case 1:
        return random.pick([0, 1, -1.5, 1e21, 5e-324, 2 ** 53, 0.1]);
      case 2:
        return random.chance(0.5);
      case 3:
        return null;
      case 4:
        return Array.from({ length: random.below(3) }, () => this.json(depth + 1));
      default: {
        const object: JsonObject = {};
        for (let i = random.below(3); i > 0; i--) setKey(object, random.pick(keys), this.json(depth + 1));
        return object;
      }
    }
  }

  private object(): JsonObject {
    const object: JsonObject = {};
    for (let i = this.random.below(3); i > 0; i--) setKey(object, this.random.pick(keys), this.json(0));
    return object;
  }

  private digits(count: number): string {
    return String(this.random.below(10 ** count)).padStart(count, '0');
  }

  /** A time, sometimes with an offset or in an unusual year. */
  private time(fraction: string): string {
    const { random } = this;
    const year = random.chance(0.8) ? 1900 + random.below(200) : random.pick([0, 1, 99, 9998]);
    const part = (end: number, from = 0) => String(from + random.below(end)).padStart(2, '0');
    const zone = random.chance(0.8) || year === 0 ? 'Z' : `${random.pick(['+', '-'])}${part(14)}:${part(60)}`;
    const date = `${String(year).padStart(4, '0')}-${part(12, 1)}-${part(28, 1)}`;
    return `${date}T${part(24)}:${part(60)}:${part(60)}${fraction}${zone}`;
  }

  private quantity(): string | number {
    const { random } = this;
    if (random.chance(0.2)) return random.pick([0, 1, 1.5, -3, 1e21, 1e-9]);
    const number = `${random.pick(['', '', '-', '+'])}${random.below(10 ** random.below(12))}`;
    const fraction = random.chance(0.3) ? `.${this.digits(1 + random.below(12))}` : '';
    const suffixes = ['', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei', 'e3', 'E-7'];
    return `${number}${fraction}${random.pick(suffixes)}`;
  }

  private duration(): string {
    const { random } = this;
    if (random.chance(0.1)) return random.pick(['0', '-9223372036854775808ns', '2562047h47m16.854775807s']);
    const part = () => `${random.below(5000)}${random.pick(['', '.5', '.000000001'])}`;
    const units = ['ns', 'us', 'ms', 's', 'm', 'h'];
    return `${random.pick(['', '-'])}${part()}${random.pick(units)}${random.chance(0.5) ? `${part()}s` : ''}`;
  }

  private scalar(name: ScalarName): unknown {
    const { random } = this;
    switch (name) {
      case 'string':
        return this.text();
      case 'int32':
        return random.chance(0.05) ? -(2 ** 31) : this.whole(2 ** 31 - 1);
      case 'int64':
        return this.whole(Number.MAX_SAFE_INTEGER);
      case 'bool':
        return random.chance(0.5);
      case 'double':
        return random.pick([0, 1, -2.5, 1e300, 5e-324, 0.1]);
      case 'bytes':
        return Buffer.from(this.digits(1 + random.below(8)), 'latin1').toString('base64');
      case 'quantity':
        return this.quantity();
      case 'time':
        return this.time(random.chance(0.5) ? `.${this.digits(1 + random.below(9))}` : '');
      case 'microTime':
        return this.time(`.${this.digits(6)}`);
      case 'duration':
        return this.duration();
      case 'intOrString':
        return random.chance(0.5) ? this.whole(2 ** 31 - 1) : this.text();
      case 'rawExtension':
      case 'fieldsV1':
        return this.object();
      case 'anyJson':
        return this.json(0);
    }
  }
}
