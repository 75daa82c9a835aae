import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  quantitySign,
} from '../../../base/machinery/values/quantity.js';
import { ValueFormatError } from '../../../base/machinery/values/value-format-error.js';
import { CelError } from '../cel-error.js';
import type { Evaluation } from '../evaluation.js';
import type { LibraryBuilder } from '../function-table.js';
import { opaque, types } from '../values/cel-type.js';
import { OpaqueValue, type Value } from '../values/value.js';

const { bool, double, int, string } = types;
const typeNameOfQuantity = 'kubernetes.Quantity';
const type = opaque(typeNameOfQuantity);
/** The type of quantities. */
export const quantityType = type;
/** Quantities with a binary suffix are capped at this value. */
const largest = (1n << 63n) - 1n;
const decimal = /^(-?)(\d+)(.*)$/;
const factors: Readonly<Record<string, readonly [bigint, bigint]>> = Object.freeze({
  n: [1n, 10n ** 9n],
  u: [1n, 10n ** 6n],
  m: [1n, 1000n],
  '': [1n, 1n],
  k: [1000n, 1n],
  M: [10n ** 6n, 1n],
  G: [10n ** 9n, 1n],
  T: [10n ** 12n, 1n],
  P: [10n ** 15n, 1n],
  E: [10n ** 18n, 1n],
  Ki: [1n << 10n, 1n],
  Mi: [1n << 20n, 1n],
  Gi: [1n << 30n, 1n],
  Ti: [1n << 40n, 1n],
  Pi: [1n << 50n, 1n],
  Ei: [1n << 60n, 1n],
});

class QuantityValue extends OpaqueValue {
  readonly typeName = typeNameOfQuantity;

  constructor(readonly text: string) {
    super();
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof QuantityValue && compareQuantities(this.text, other.text) === 0;
  }

  /** The value as numerator and denominator. */
  get fraction(): readonly [bigint, bigint] {
    const [, sign, digits, suffix = ''] = decimal.exec(this.text) as RegExpExecArray;
    const value = BigInt(`${sign}${digits}`);
    const exponent = /^e(-?\d+)$/.exec(suffix)?.[1];
    if (exponent !== undefined) {
      const power = 10n ** BigInt(exponent.replace('-', ''));
      return exponent.startsWith('-') ? [value, power] : [value * power, 1n];
    }
    const [times, by] = factors[suffix] as readonly [bigint, bigint];
    return [value * times, by];
  }

  /** The value as a 64-bit integer; undefined if it is not one, or was capped when it was read. */
  get whole(): bigint | undefined {
    const [numerator, denominator] = this.fraction;
    if (numerator % denominator !== 0n) return undefined;
    const value = numerator / denominator;
    return -largest < value && value < largest ? value : undefined;
  }
}

function parse(text: string): QuantityValue {
  try {
    return new QuantityValue(canonicalQuantity(text));
  } catch (error) {
    if (error instanceof ValueFormatError) throw new CelError(error.message);
    throw error;
  }
}

/** A canonical quantity as a value of expressions. */
export function celQuantity(canonical: string): Value {
  return new QuantityValue(canonical);
}

function isQuantity(text: string): boolean {
  try {
    parse(text);
    return true;
  } catch (error) {
    if (error instanceof CelError) return false;
    throw error;
  }
}

function add(a: QuantityValue, b: QuantityValue): QuantityValue {
  return new QuantityValue(formatQuantity(addQuantities(a.text, b.text)));
}

function negated({ text }: QuantityValue): QuantityValue {
  return new QuantityValue(text.startsWith('-') ? text.slice(1) : text === '0' ? text : `-${text}`);
}

/** The cost of one calculation, in addition to the call. */
const stepCost = 10;

const whole = (value: bigint): QuantityValue => parse(String(value));

/** `quantity` and its methods. */
export function quantities(library: LibraryBuilder): void {
  const order = ({ budget }: Evaluation, a: QuantityValue, b: QuantityValue): number => {
    budget.charge(stepCost);
    return compareQuantities(a.text, b.text);
  };
  const compare = (holds: (order: number) => boolean) => (e: Evaluation, a: QuantityValue, b: QuantityValue) =>
    holds(order(e, a, b));
  const sum = ({ budget }: Evaluation, a: QuantityValue, b: QuantityValue): QuantityValue => {
    budget.charge(stepCost);
    return add(a, b);
  };
  library
    .fn('quantity', [string], type, ({ budget }, text: string) => {
      budget.charge(stepCost + text.length);
      return parse(text);
    })
    .fn('isQuantity', [string], bool, ({ budget }, text: string) => {
      budget.charge(stepCost + text.length);
      return isQuantity(text);
    })
    .method('sign', [type], int, (_, { text }: QuantityValue) => BigInt(quantitySign(text)))
    .method('isInteger', [type], bool, (_, value: QuantityValue) => value.whole !== undefined)
    .method('asInteger', [type], int, (_, value: QuantityValue) => {
      if (value.whole === undefined) throw new CelError('cannot convert value to integer');
      return value.whole;
    })
    .method('asApproximateFloat', [type], double, (_, value: QuantityValue) => {
      const [numerator, denominator] = value.fraction;
      return Number(numerator) / Number(denominator);
    })
    .method(
      'isGreaterThan',
      [type, type],
      bool,
      compare((order) => order > 0),
    )
    .method(
      'isLessThan',
      [type, type],
      bool,
      compare((order) => order < 0),
    )
    .method('compareTo', [type, type], int, (e, a: QuantityValue, b: QuantityValue) => BigInt(order(e, a, b)))
    .method('add', [type, type], type, sum)
    .method('add', [type, int], type, (e, a: QuantityValue, b: bigint) => sum(e, a, whole(b)))
    .method('sub', [type, type], type, (e, a: QuantityValue, b: QuantityValue) => sum(e, a, negated(b)))
    .method('sub', [type, int], type, (e, a: QuantityValue, b: bigint) => sum(e, a, whole(-b)));
}
