import {
  type CelType,
  isAssignable,
  joinTypes,
  listOf,
  mapOf,
  optionalOf,
  substitute,
  types,
} from '../values/cel-type.js';

interface Form {
  readonly args: readonly CelType[];
  readonly result: CelType;
}

const { a, b, bool, bytes, double, duration, dyn, int, string, timestamp, uint } = types;
const form = (result: CelType, ...args: readonly CelType[]): Form => ({ args, result });
const numbers = [int, uint, double];
const same = (of: readonly CelType[]) => of.map((type) => form(type, type, type));

const ordered: readonly Form[] = [
  ...numbers.flatMap((left) => numbers.map((right) => form(bool, left, right))),
  ...[bool, string, bytes, timestamp, duration].map((type) => form(bool, type, type)),
];

const forms: Readonly<Record<string, readonly Form[]>> = {
  '!_': [form(bool, bool)],
  '-_': [form(int, int), form(double, double)],
  '_+_': [
    ...same([...numbers, string, bytes, duration]),
    form(listOf(a), listOf(a), listOf(a)),
    form(timestamp, timestamp, duration),
    form(timestamp, duration, timestamp),
  ],
  '_-_': [...same([...numbers, duration]), form(duration, timestamp, timestamp), form(timestamp, timestamp, duration)],
  '_*_': same(numbers),
  '_/_': same(numbers),
  '_%_': same([int, uint]),
  '_==_': [form(bool, a, a)],
  '_!=_': [form(bool, a, a)],
  '_<_': ordered,
  '_<=_': ordered,
  '_>_': ordered,
  '_>=_': ordered,
  '@in': [form(bool, a, listOf(a)), form(bool, a, mapOf(a, b))],
  '_[_]': [
    form(a, listOf(a), int),
    form(b, mapOf(a, b), a),
    form(optionalOf(a), optionalOf(listOf(a)), int),
    form(optionalOf(b), optionalOf(mapOf(a, b)), a),
  ],
  '_[?_]': [
    form(optionalOf(a), listOf(a), int),
    form(optionalOf(b), mapOf(a, b), a),
    form(optionalOf(a), optionalOf(listOf(a)), int),
    form(optionalOf(b), optionalOf(mapOf(a, b)), a),
  ],
};

/** The type of the result of an operator; undefined if it can't be applied to these types. */
export function operatorType(name: string, args: readonly CelType[]): CelType | undefined {
  // An object with known fields can be indexed by key, like a map.
  if ((name === '_[_]' || name === '_[?_]') && args[0] !== undefined && isObject(args[0])) {
    return name === '_[_]' && args[0].kind === 'object' ? dyn : optionalOf(dyn);
  }
  if (name === '@in' && args[1]?.kind === 'object' && args[1].isClosed !== true) return bool;
  return resultOf(forms[name] as readonly Form[], args);
}

function isObject(type: CelType): boolean {
  const object = type.kind === 'optional' ? type.value : type;
  return object.kind === 'object' && object.isClosed !== true;
}

/** The type of the result of a function with these overloads: unknown if several with different results may apply. */
export function resultOf(candidates: readonly Form[], args: readonly CelType[]): CelType | undefined {
  let result: CelType | undefined;
  for (const candidate of candidates) {
    if (candidate.args.length !== args.length) continue;
    const bindings = new Map<string, CelType>();
    if (!candidate.args.every((declared, i) => isAssignable(declared, args[i] as CelType, bindings))) continue;
    const own = substitute(candidate.result, bindings);
    result = result === undefined ? own : joinTypes(result, own);
  }
  return result;
}
