import { CelError } from '../cel-error.js';
import { charged, type LibraryBuilder } from '../function-table.js';
import { opaque, types } from '../values/cel-type.js';
import { OpaqueValue, type Value } from '../values/value.js';

const { bool, int, string } = types;
const semverTypeName = 'kubernetes.Semver';
const semverType = opaque(semverTypeName);
const grammar =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;
const maxLength = 256;
const largest = (1n << 63n) - 1n;

class SemverValue extends OpaqueValue {
  readonly typeName = semverTypeName;

  constructor(
    readonly numbers: readonly [bigint, bigint, bigint],
    readonly prerelease: readonly string[],
  ) {
    super();
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof SemverValue && compare(this, other) === 0;
  }
}

/** A version without a leading `v`, with all three numbers, and numbers without leading zeros. */
function normalized(text: string): string {
  const [, core = '', rest = ''] = /^v?([^-+]*)(.*)$/s.exec(text) ?? [];
  const numbers = core.split('.').map((part) => (/^\d+$/.test(part) ? part.replace(/^0+(?=\d)/, '') : part));
  if (numbers.length < 3 && rest !== '') return text;
  while (numbers.length < 3) numbers.push('0');
  return `${numbers.join('.')}${rest}`;
}

function parse(text: string, normalize: boolean): SemverValue | undefined {
  if (text.length > maxLength) return undefined;
  const match = grammar.exec(normalize ? normalized(text) : text);
  if (match === null) return undefined;
  const numbers = [match[1], match[2], match[3]].map((part) => BigInt(part as string)) as [bigint, bigint, bigint];
  if (numbers.some((number) => number > largest)) return undefined;
  const prerelease = match[4]?.split('.') ?? [];
  if (prerelease.some((part) => /^0\d+$/.test(part))) return undefined;
  return new SemverValue(numbers, prerelease);
}

function semver(text: string, normalize: boolean): SemverValue {
  const value = parse(text, normalize);
  if (value === undefined) throw new CelError(`invalid semantic version ${JSON.stringify(text.slice(0, maxLength))}`);
  return value;
}

/** A version as a value of expressions; undefined for text that is not a version. */
export function semanticVersionValue(text: string): Value | undefined {
  return parse(text, false);
}

function compare(a: SemverValue, b: SemverValue): number {
  for (const i of [0, 1, 2] as const) {
    if (a.numbers[i] !== b.numbers[i]) return a.numbers[i] < b.numbers[i] ? -1 : 1;
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0) {
    return Math.sign(b.prerelease.length - a.prerelease.length);
  }
  for (let i = 0; i < Math.max(a.prerelease.length, b.prerelease.length); i++) {
    const order = comparePart(a.prerelease[i], b.prerelease[i]);
    if (order !== 0) return order;
  }
  return 0;
}

/** Numbers come before words, and a shorter list before a longer one. */
function comparePart(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1;
  if (a === b) return 0;
  const isANumber = /^\d+$/.test(a);
  const isBNumber = /^\d+$/.test(b);
  if (isANumber && isBNumber) return BigInt(a) < BigInt(b) ? -1 : 1;
  if (isANumber !== isBNumber) return isANumber ? -1 : 1;
  return a < b ? -1 : 1;
}

/** The cost of one call, in addition to reading its string. */
const stepCost = 20;

/** `semver` and its methods. */
export function semanticVersions(outer: LibraryBuilder): void {
  const library = charged(outer, stepCost);
  library
    .fn('semver', [string], semverType, (_, text: string) => semver(text, false))
    .fn('semver', [string, bool], semverType, (_, text: string, normalize: boolean) => semver(text, normalize))
    .fn('isSemver', [string], bool, (_, text: string) => parse(text, false) !== undefined)
    .fn('isSemver', [string, bool], bool, (_, text: string, normalize: boolean) => parse(text, normalize) !== undefined)
    .method('major', [semverType], int, (_, { numbers }: SemverValue) => numbers[0])
    .method('minor', [semverType], int, (_, { numbers }: SemverValue) => numbers[1])
    .method('patch', [semverType], int, (_, { numbers }: SemverValue) => numbers[2])
    .method('isLessThan', [semverType, semverType], bool, (_, a: SemverValue, b: SemverValue) => compare(a, b) < 0)
    .method('isGreaterThan', [semverType, semverType], bool, (_, a: SemverValue, b: SemverValue) => compare(a, b) > 0)
    .method('compareTo', [semverType, semverType], int, (_, a: SemverValue, b: SemverValue) => BigInt(compare(a, b)));
}
