import type { Budget } from './budget.js';
import { CelError } from './cel-error.js';
import type { Evaluation } from './evaluation.js';
import { compareCelValues, equals } from './values/equality.js';
import { Span, Timestamp } from './values/time.js';
import {
  CombiningList,
  fromJson,
  isJsonObject,
  isList,
  isMap,
  LazyObject,
  ListValue,
  listItem,
  listItems,
  listSize,
  MapValue,
  MessageValue,
  mapGet,
  mapHas,
  mapKey,
  OptionalValue,
  Uint,
  type Value,
} from './values/value.js';

/** Code of an operator with two operands. */
export type BinaryCode = (evaluation: Evaluation, left: Value, right: Value) => Value;

/** The error of an operator or a function that has no overload for the values. */
export const noSuchOverload = (): CelError => new CelError('no such overload');

function int(value: bigint): bigint {
  if (BigInt.asIntN(64, value) !== value) throw new CelError('integer overflow');
  return value;
}

function uint(value: bigint): Uint {
  if (BigInt.asUintN(64, value) !== value) throw new CelError('unsigned integer overflow');
  return new Uint(value);
}

function arithmetic(
  whole: (a: bigint, b: bigint) => bigint,
  real: ((a: number, b: number) => number) | undefined,
): (left: Value, right: Value) => Value {
  return (left, right) => {
    if (typeof left === 'bigint' && typeof right === 'bigint') return int(whole(left, right));
    if (real !== undefined && typeof left === 'number' && typeof right === 'number') return real(left, right);
    if (left instanceof Uint && right instanceof Uint) return uint(whole(left.value, right.value));
    throw noSuchOverload();
  };
}

const plusNumbers = arithmetic(
  (a, b) => a + b,
  (a, b) => a + b,
);
const minusNumbers = arithmetic(
  (a, b) => a - b,
  (a, b) => a - b,
);

const add: BinaryCode = ({ budget }, left, right) => {
  if (typeof left === 'string' && typeof right === 'string') {
    budget.chargeText(left.length + right.length);
    return left + right;
  }
  if (typeof left !== 'object' || left === null) return plusNumbers(left, right);
  if (isList(left) && isList(right)) {
    if (left instanceof CombiningList) return left.plus(right, budget);
    budget.charge(listSize(left) + listSize(right));
    return new ListValue([...listItems(left), ...listItems(right)]);
  }
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    budget.chargeText(left.length + right.length);
    return Buffer.concat([left, right]);
  }
  if (left instanceof Span && right instanceof Span) return Span.of(left.nanoseconds + right.nanoseconds);
  if (left instanceof Timestamp && right instanceof Span) return Timestamp.of(left.nanoseconds + right.nanoseconds);
  if (left instanceof Span && right instanceof Timestamp) return Timestamp.of(left.nanoseconds + right.nanoseconds);
  return plusNumbers(left, right);
};

const subtract: BinaryCode = (_, left, right) => {
  if (left instanceof Span && right instanceof Span) return Span.of(left.nanoseconds - right.nanoseconds);
  if (left instanceof Timestamp && right instanceof Timestamp) return Span.of(left.nanoseconds - right.nanoseconds);
  if (left instanceof Timestamp && right instanceof Span) return Timestamp.of(left.nanoseconds - right.nanoseconds);
  return minusNumbers(left, right);
};

const times = arithmetic(
  (a, b) => a * b,
  (a, b) => a * b,
);
const quotient = arithmetic(
  (a, b) => a / nonzero(b, 'division by zero'),
  (a, b) => a / b,
);
const modulus = arithmetic((a, b) => a % nonzero(b, 'modulus by zero'), undefined);

function nonzero(value: bigint, message: string): bigint {
  if (value === 0n) throw new CelError(message);
  return value;
}

function ordering(holds: (order: number) => boolean): BinaryCode {
  return ({ budget }, left, right) => {
    const order = compareCelValues(left, right, budget);
    if (order === undefined) throw noSuchOverload();
    return holds(order);
  };
}

const contains: BinaryCode = ({ budget }, item, container) => {
  if (isList(container)) {
    const size = listSize(container);
    for (let i = 0; i < size; i++) {
      budget.charge(1);
      if (equals(item, listItem(container, i), budget)) return true;
    }
    return false;
  }
  if (isMap(container)) return mapHas(container, item);
  throw noSuchOverload();
};

/** Operators with two operands that are both always evaluated. */
export const binaryOperators: Readonly<Record<string, BinaryCode>> = {
  '_+_': add,
  '_-_': subtract,
  '_*_': (_, left, right) => times(left, right),
  '_/_': (_, left, right) => quotient(left, right),
  '_%_': (_, left, right) => modulus(left, right),
  '_==_': ({ budget }, left, right) => equals(left, right, budget),
  '_!=_': ({ budget }, left, right) => !equals(left, right, budget),
  '_<_': ordering((order) => order < 0),
  '_<=_': ordering((order) => order <= 0),
  '_>_': ordering((order) => order > 0),
  '_>=_': ordering((order) => order >= 0),
  '@in': contains,
  '_[_]': (_, container, index) => element(container, index),
  '_[?_]': (_, container, index) => optionalElement(container, index),
};

/** Operators with one operand. */
export const unaryOperators: Readonly<Record<string, (value: Value) => Value>> = {
  '!_': (value) => {
    if (typeof value !== 'boolean') throw noSuchOverload();
    return !value;
  },
  '-_': (value) => {
    if (typeof value === 'bigint') return int(-value);
    if (typeof value === 'number') return -value;
    throw noSuchOverload();
  },
};

/** `container[index]`. */
function element(container: Value, index: Value): Value {
  if (isList(container)) {
    const position = mapKey(index);
    if (typeof position !== 'bigint') throw noSuchOverload();
    if (position < 0n || position >= BigInt(listSize(container))) {
      throw new CelError(`index out of bounds: ${position}`);
    }
    return listItem(container, Number(position));
  }
  if (container instanceof OptionalValue) return optionalElement(container, index);
  if (!isMap(container)) throw noSuchOverload();
  const value = mapGet(container, index);
  if (value === undefined) throw new CelError(`no such key: ${shownKey(index)}`);
  return value;
}

function optionalElement(container: Value, index: Value): Value {
  if (container instanceof OptionalValue) {
    return container.value === undefined ? OptionalValue.none : optionalElement(container.value, index);
  }
  if (isList(container)) {
    const position = mapKey(index);
    if (typeof position !== 'bigint') throw noSuchOverload();
    const isThere = position >= 0n && position < BigInt(listSize(container));
    return isThere ? OptionalValue.of(listItem(container, Number(position))) : OptionalValue.none;
  }
  if (!isMap(container)) throw noSuchOverload();
  const value = mapGet(container, index);
  return value === undefined ? OptionalValue.none : OptionalValue.of(value);
}

function shownKey(key: Value): string {
  if (key instanceof Uint) return String(key.value);
  return typeof key === 'object' ? 'unsupported' : String(key).slice(0, 256);
}

/** `operand.field`. */
export function select(operand: Value, field: string, budget: Budget): Value {
  if (operand instanceof OptionalValue) return selectOptional(operand, field, budget);
  const value = operand === null ? undefined : fieldOf(operand, field, budget);
  if (value === undefined) throw new CelError(`no such key: ${field}`);
  return value;
}

/** `operand.?field`. */
export function selectOptional(operand: Value, field: string, budget: Budget): OptionalValue {
  if (operand instanceof OptionalValue) {
    return operand.value === undefined ? OptionalValue.none : selectOptional(operand.value, field, budget);
  }
  const value = fieldOf(operand, field, budget);
  return value === undefined ? OptionalValue.none : OptionalValue.of(value);
}

/** `has(operand.field)`. */
export function isPresent(operand: Value, field: string, budget: Budget): boolean {
  if (operand instanceof OptionalValue) return operand.value !== undefined && isPresent(operand.value, field, budget);
  return mayHaveFields(operand) && fieldOf(operand, field, budget) !== undefined;
}

function mayHaveFields(operand: Value): boolean {
  if (isJsonObject(operand)) return true;
  return operand instanceof MapValue || operand instanceof LazyObject || operand instanceof MessageValue;
}

/** The value of a field; undefined if the operand does not have it. Throws if it can't have fields. */
function fieldOf(operand: Value, field: string, budget: Budget): Value | undefined {
  if (isJsonObject(operand)) return Object.hasOwn(operand, field) ? fromJson(operand[field]) : undefined;
  if (operand instanceof MapValue) return operand.entries.get(field)?.value;
  if (operand instanceof LazyObject) return operand.get(field, budget);
  if (operand instanceof MessageValue) return operand.fields.get(field);
  throw noSuchOverload();
}
