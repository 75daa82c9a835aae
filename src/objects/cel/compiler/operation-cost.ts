import { either, exactly, noCost, one, product, type Range, sum, traversal, unbounded } from '../cost-estimate.js';
import type { CelType } from '../values/cel-type.js';
import type { Compiled, ExpressionCompiler } from './compiled.js';
import { type DeclaredPlace, type EntrySizes, eitherEntries, sizeAt } from './declared-sizes.js';

/** The cost of an operation in addition to its operands, and what is known of its result beyond its type. */
export interface OperationEstimate {
  readonly cost: Range;
  readonly size?: Range | undefined;
  readonly place?: DeclaredPlace | undefined;
  readonly entries?: EntrySizes | undefined;
}

const perCharacter = 0.1;
const perPatternCharacter = 0.25;
/** A check by an authorizer. */
const authorizationCost = 350_000;

const text: ReadonlySet<CelType['kind']> = new Set(['string', 'bytes', 'dyn']);

/**
 * The cost of an operator, as the newest release estimates it: one unit, or for strings and lists a cost that grows
 * with their size. Operands of unknown type count as the most expensive ones.
 */
export function operatorEstimate(
  compiler: ExpressionCompiler,
  name: string,
  operands: readonly Compiled[],
): OperationEstimate {
  const [left, right] = operands;
  if (left === undefined || right === undefined) return { cost: one };
  switch (name) {
    case '_+_':
      return addition(left, right);
    case '_==_':
    case '_!=_':
      return { cost: equality(name, left, right) };
    case '_<_':
    case '_<=_':
    case '_>_':
    case '_>=_':
      return { cost: text.has(left.type.kind) && text.has(right.type.kind) ? comparison(left.size, right.size) : one };
    case '@in':
      if (right.type.kind === 'list') return { cost: right.size };
      return { cost: right.type.kind === 'dyn' ? { min: 0, max: Math.max(1, right.size.max) } : one };
    case '_[_]': {
      const { type, place, entries } = left;
      const step = type.kind === 'list' ? '@items' : '@values';
      return { cost: one, size: entries?.value, place: compiler.below(place, step) };
    }
    default:
      return { cost: one };
  }
}

function addition(left: Compiled, right: Compiled): OperationEstimate {
  const size = sum(left.size, right.size);
  const entries = eitherEntries(left.entries, right.entries);
  if (!text.has(left.type.kind) || !text.has(right.type.kind)) {
    return left.type.kind === 'list' || right.type.kind === 'list' ? { cost: one, size, entries } : { cost: one };
  }
  const cost = traversal(size, perCharacter);
  return left.type.kind === 'dyn' && right.type.kind === 'dyn'
    ? { cost: { min: Math.min(1, cost.min), max: Math.max(1, cost.max) }, size, entries }
    : { cost, size, entries };
}

/** The cost in the newest release of `==` on two opaque values of one type. `!=` counts as for text of any length. */
function equality(name: string, left: Compiled, right: Compiled): Range {
  const { type } = left;
  if (name === '_!=_' || type.kind !== 'opaque' || right.type.kind !== 'opaque' || type.name !== right.type.name) {
    return comparison(left.size, right.size);
  }
  if (type.name === 'NamedFormat') return { min: 1, max: 7 };
  if (type.name !== 'URL' || right.size.max === Number.POSITIVE_INFINITY) return one;
  return traversal({ min: 1, max: right.size.max }, perCharacter);
}

/** A comparison ends with the shorter value. */
function comparison(left: Range, right: Range): Range {
  const max = Math.min(left.max, right.max);
  return traversal({ min: max > 0 ? 1 : 0, max }, perCharacter);
}

/** The cost of a call; the target of a method is its first argument. */
export function callEstimate(compiler: ExpressionCompiler, name: string, args: readonly Compiled[]): OperationEstimate {
  const estimate = estimates[name];
  if (estimate === undefined || args.length === 0) return { cost: one };
  return estimate(
    args.map(({ size }) => size),
    args,
    compiler,
  );
}

type Estimate = (sizes: readonly Range[], args: readonly Compiled[], compiler: ExpressionCompiler) => OperationEstimate;

const walk: Estimate = ([size = unbounded]) => ({ cost: traversal(size, perCharacter) });
const walkTwice: Estimate = ([size = unbounded]) => ({ cost: traversal(size, 2 * perCharacter) });
const walkKeepingSize: Estimate = ([size = unbounded]) => ({ cost: traversal(size, perCharacter), size });
const walkSecond: Estimate = ([, size = unbounded]) => ({ cost: traversal(size, perCharacter) });

function patternCost(size: Range, pattern: Range): Range {
  return product(traversal(sum(size, one), perCharacter), traversal(pattern, perPatternCharacter));
}

/** The declared size of the elements of a list or the keys of a map; undefined if they have none. */
function elementOf(
  { type, place }: Compiled,
  compiler: ExpressionCompiler,
): { type: CelType; size: Range } | undefined {
  const element = type.kind === 'list' ? type.element : type.kind === 'map' ? type.key : undefined;
  if (element === undefined) return undefined;
  const declared = place === undefined ? undefined : compiler.below(place, '@items')?.type;
  return { type: element, size: declared === undefined ? unbounded : sizeAt({ type: declared }, element) };
}

/** Each element is compared, a string character by character. */
const elements: Estimate = ([size = unbounded], [list], compiler) => {
  const element = list === undefined ? undefined : elementOf(list, compiler);
  if (element === undefined) return { cost: traversal(size, perCharacter) };
  const isText = element.type.kind === 'string' || element.type.kind === 'bytes';
  return { cost: product(size, isText ? sum(one, traversal(element.size, perCharacter)) : one) };
};

const replacement: Estimate = ([size = unbounded, from = unbounded, to = unbounded]) => {
  const cost = traversal(size, 2 * perCharacter);
  return { cost, size: { min: shortestReplaced(size, from, to), max: longestReplaced(size, from, to) } };
};

function longestReplaced(size: Range, from: Range, to: Range): number {
  // An empty string occurs before and after every character.
  if (from.min === 0) return times(size.max + 1, to.max) + size.max;
  return to.max <= from.min ? size.max : times(Math.ceil(size.max / from.min), to.max);
}

function shortestReplaced(size: Range, from: Range, to: Range): number {
  if (from.max === 0) return times(size.min + 1, to.min) + size.min;
  return from.max <= to.min ? size.min : times(Math.ceil(size.min / from.max), to.min);
}

function times(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b;
}

const join: Estimate = ([size = unbounded, separator], [list], compiler) => {
  const element = list === undefined ? undefined : elementOf(list, compiler);
  let made = element === undefined ? noCost : product(size, element.size);
  if (separator !== undefined) {
    const separators = { min: Math.max(0, size.min - 1), max: Math.max(0, size.max - 1) };
    made = sum(made, product(separator, separators));
  }
  return { cost: traversal(made, perCharacter), size: made };
};

const sets =
  (factor: number): Estimate =>
  ([a = unbounded, b = unbounded]) => ({ cost: sum(one, product(exactly(factor), product(a, b))) });

const find: Estimate = ([size = unbounded, pattern = unbounded]) => ({
  cost: patternCost(size, pattern),
  size: { min: 0, max: size.max },
});

/** An address is compared byte by byte; a string is parsed first. */
function addressIn(compared: Range): Estimate {
  return ([, size = unbounded], [, other]) => ({
    cost: other?.type.kind === 'string' ? sum(compared, traversal(size, perCharacter)) : compared,
  });
}

/** The cost of matching one unit of text with the longest pattern of a format. */
const formatPattern = 128 * perPatternCharacter;

/**
 * The length of a number, a bool or a time as a string. The newest release sets no bound for it, and so refuses message
 * expressions with numbers.
 */
const scalarText: Range = { min: 1, max: 40 };

const authorization: Estimate = () => ({ cost: exactly(authorizationCost) });

/** A selector is a list of requirements, each of which takes at least two characters. */
const selector: Estimate = ([, size = unbounded]) => {
  const requirements = traversal(size, 0.5);
  return { cost: sum(exactly(10), traversal(size, perCharacter), product(requirements, exactly(50))) };
};

const estimates: Readonly<Record<string, Estimate>> = {
  contains: ([size = unbounded, part = unbounded]) => ({
    cost: product(traversal(size, perCharacter), traversal(part, perCharacter)),
  }),
  startsWith: walkSecond,
  endsWith: walkSecond,
  matches: ([size = unbounded, pattern = unbounded]) => ({ cost: patternCost(size, pattern) }),
  find,
  findAll: find,
  format: walk,
  lowerAscii: walkKeepingSize,
  upperAscii: walkKeepingSize,
  substring: walkKeepingSize,
  trim: walkKeepingSize,
  replace: replacement,
  split: ([size = unbounded], [, , limit]) => {
    const most = typeof limit?.literal === 'bigint' ? BigInt.asUintN(64, limit.literal) : undefined;
    return {
      cost: traversal(size, 2 * perCharacter),
      size: { min: 0, max: most === undefined ? size.max : Number(most) },
    };
  },
  join,
  isSorted: elements,
  sum: elements,
  min: elements,
  max: elements,
  indexOf: elements,
  lastIndexOf: elements,
  'sets.contains': sets(1),
  'sets.intersects': sets(1),
  'sets.equivalent': sets(2),
  url: walkKeepingSize,
  quantity: walk,
  isQuantity: walk,
  ip: ([size = unbounded], [of]) => ({ cost: of?.type.kind === 'opaque' ? one : traversal(size, perCharacter) }),
  isIP: walk,
  'ip.isCanonical': walkTwice,
  cidr: walk,
  isCIDR: walk,
  containsIP: addressIn({ min: 1, max: 4 }),
  containsCIDR: addressIn({ min: 3, max: 7 }),
  semver: walk,
  isSemver: walk,
  validate: ([, size = unbounded]) => ({ cost: traversal(traversal(size, perCharacter), formatPattern) }),
  bytes: ([size = unbounded], [from]) => {
    const { kind } = from?.type ?? {};
    if (kind !== 'string' && kind !== 'dyn') return { cost: one };
    const cost = traversal(size, perCharacter);
    return { cost: kind === 'dyn' ? either(one, cost) : cost, size: { min: size.min, max: size.max * 4 } };
  },
  string: ([size = unbounded], [from]) => {
    const { kind } = from?.type ?? {};
    if (kind === 'string') return { cost: one };
    if (kind !== 'bytes' && kind !== 'dyn') return { cost: one, size: scalarText };
    const cost = traversal(size, perCharacter);
    return {
      cost: kind === 'dyn' ? either(one, cost) : cost,
      size: { min: Math.floor(size.min / 4), max: size.max },
    };
  },
  dyn: ([size], [of]) => ({ cost: one, size, entries: of?.entries }),
  check: authorization,
  fieldSelector: selector,
  labelSelector: selector,
};
