import { exactly, nothing, one, product, type Range, sum, traversal, unbounded } from '../cost-estimate.js';
import type { CelType } from '../values/cel-type.js';
import type { Compiled } from './compiled.js';

/** What an operation costs beside its operands, and the size of its result where that follows from theirs. */
export interface OperationEstimate {
  readonly cost: Range;
  readonly size?: Range;
}

const perCharacter = 0.1;
const perPatternCharacter = 0.25;
/** A question to an authorizer. */
const authorizationCost = 350_000;

const text: ReadonlySet<CelType['kind']> = new Set(['string', 'bytes', 'dyn']);

/**
 * What an operator costs, as the newest release estimates it: one unit, or for text and lists what their size demands.
 * Operands of unknown type count as the most expensive ones.
 */
export function operatorEstimate(name: string, operands: readonly Compiled[]): OperationEstimate {
  const [left, right] = operands;
  if (left === undefined || right === undefined) return { cost: one };
  switch (name) {
    case '_+_': {
      const size = sum(left.size, right.size);
      if (!text.has(left.type.kind) || !text.has(right.type.kind)) {
        return left.type.kind === 'list' || right.type.kind === 'list' ? { cost: one, size } : { cost: one };
      }
      const cost = traversal(size, perCharacter);
      return left.type.kind === 'dyn' || right.type.kind === 'dyn'
        ? { cost: { min: 1, max: Math.max(1, cost.max) }, size: unbounded }
        : { cost, size };
    }
    case '_==_':
    case '_!=_':
      return { cost: comparison(left.size, right.size) };
    case '_<_':
    case '_<=_':
    case '_>_':
    case '_>=_':
      return { cost: text.has(left.type.kind) && text.has(right.type.kind) ? comparison(left.size, right.size) : one };
    case '@in':
      if (right.type.kind === 'list') return { cost: right.size };
      return { cost: right.type.kind === 'dyn' ? { min: 0, max: Math.max(1, right.size.max) } : one };
    default:
      return { cost: one };
  }
}

/** A comparison ends with the shorter one. */
function comparison(left: Range, right: Range): Range {
  const max = Math.min(left.max, right.max);
  return traversal({ min: max > 0 ? 1 : 0, max }, perCharacter);
}

/** What a call costs; the target of a method is its first argument. */
export function callEstimate(name: string, args: readonly Compiled[]): OperationEstimate {
  const estimate = estimates[name];
  return estimate === undefined || args.length === 0
    ? { cost: one }
    : estimate(
        args.map(({ size }) => size),
        args,
      );
}

type Estimate = (sizes: readonly Range[], args: readonly Compiled[]) => OperationEstimate;

const walk: Estimate = ([size = unbounded]) => ({ cost: traversal(size, perCharacter) });
const walkKeepingSize: Estimate = ([size = unbounded]) => ({ cost: traversal(size, perCharacter), size });
const walkSecond: Estimate = ([, size = unbounded]) => ({ cost: traversal(size, perCharacter) });
const pattern: Estimate = ([size = unbounded, of = unbounded]) => ({
  cost: product(traversal(sum(size, one), perCharacter), traversal(of, perPatternCharacter)),
});
const elements: Estimate = ([size = unbounded], [list]) => {
  const element = list?.type.kind === 'list' ? list.type.element : undefined;
  const isText = element === undefined || text.has(element.kind);
  const most = element !== undefined && 'maxSize' in element ? element.maxSize : undefined;
  return { cost: isText ? product(size, traversal({ min: 1, max: most ?? Infinity }, perCharacter)) : size };
};
/** The text of a number, a bool or a time. */
const scalarText: Range = { min: 1, max: 40 };
const authorization: Estimate = () => ({ cost: exactly(authorizationCost) });

const estimates: Readonly<Record<string, Estimate>> = {
  contains: ([size = unbounded, part = unbounded]) => ({
    cost: product(traversal(size, perCharacter), traversal(part, perCharacter)),
  }),
  startsWith: walkSecond,
  endsWith: walkSecond,
  matches: pattern,
  find: pattern,
  findAll: pattern,
  format: walk,
  lowerAscii: walkKeepingSize,
  upperAscii: walkKeepingSize,
  substring: walkKeepingSize,
  trim: walkKeepingSize,
  reverse: walkKeepingSize,
  replace: ([size = unbounded, from = unbounded, to = unbounded]) => ({
    cost: traversal(size, 2 * perCharacter),
    size: { min: 0, max: size.max * Math.max(1, from.min === 0 ? to.max + 1 : Math.ceil(to.max / from.min)) },
  }),
  split: ([size = unbounded]) => ({ cost: traversal(size, perCharacter), size: { min: 0, max: size.max } }),
  join: ([size = unbounded, separator = nothing], [list]) => {
    const element = list?.type.kind === 'list' ? list.type.element : undefined;
    const most = element !== undefined && 'maxSize' in element ? (element.maxSize ?? Infinity) : Infinity;
    const made = product(size, { min: 0, max: most + separator.max });
    return { cost: traversal(made, perCharacter), size: made };
  },
  isSorted: elements,
  sum: elements,
  min: elements,
  max: elements,
  indexOf: elements,
  lastIndexOf: elements,
  'sets.contains': ([a = unbounded, b = unbounded]) => ({ cost: sum(one, product(a, b)) }),
  'sets.intersects': ([a = unbounded, b = unbounded]) => ({ cost: sum(one, product(a, b)) }),
  'sets.equivalent': ([a = unbounded, b = unbounded]) => ({ cost: sum(one, product(exactly(2), product(a, b))) }),
  url: walkKeepingSize,
  isURL: walk,
  quantity: walkKeepingSize,
  isQuantity: walk,
  ip: walkKeepingSize,
  isIP: walk,
  cidr: walkKeepingSize,
  isCIDR: walk,
  semver: walkKeepingSize,
  isSemver: walk,
  bytes: ([size = unbounded]) => ({ cost: traversal(size, perCharacter), size: { min: size.min, max: size.max * 4 } }),
  string: ([size = unbounded], [from]) => {
    if (from?.type.kind === 'bytes') {
      return { cost: traversal(size, perCharacter), size: { min: Math.floor(size.min / 4), max: size.max } };
    }
    if (from?.type.kind === 'string') return { cost: one, size };
    return from === undefined || from.type.kind === 'dyn' ? { cost: one } : { cost: one, size: scalarText };
  },
  check: authorization,
};
