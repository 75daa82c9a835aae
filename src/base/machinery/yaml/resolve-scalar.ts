import { ScalarError } from './scalar-error.js';

/** `merge` is the tag of the key `<<`. */
type Tag = 'null' | 'bool' | 'int' | 'float' | 'str' | 'binary' | 'timestamp' | 'merge';

/** A scalar and its tag. Its value is null, a boolean, a number, a whole number as a bigint, or a string. */
export interface ResolvedScalar {
  readonly tag: Tag;
  readonly value: unknown;
}

const prefix = 'tag:yaml.org,2002:';

const words: ReadonlyMap<string, ResolvedScalar> = new Map([
  ...entries('null', null, ['', '~', 'null', 'Null', 'NULL']),
  ...entries('bool', true, ['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON', 'true', 'True', 'TRUE']),
  ...entries('bool', false, ['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF', 'false', 'False', 'FALSE']),
  ...entries('float', Number.POSITIVE_INFINITY, ['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF']),
  ...entries('float', Number.NEGATIVE_INFINITY, ['-.inf', '-.Inf', '-.INF']),
  ...entries('float', Number.NaN, ['.nan', '.NaN', '.NAN']),
  ...entries('merge', '<<', ['<<']),
]);

function entries(tag: Tag, value: unknown, texts: readonly string[]): [string, ResolvedScalar][] {
  return texts.map((text) => [text, { tag, value }]);
}

/**
 * The value of a scalar as other servers of this API read YAML: by the rules of version 1.1, but times stay strings and
 * base-60 numbers are not supported. Whole numbers with a leading zero are octal; `yes`, `on` and `y` are true. Whole
 * numbers up to 64 bits, signed or not, are exact; longer ones and fractions are doubles. Infinities and NaN are
 * returned as such.
 *
 * @param tag the tag in full, if the scalar has one
 * @param isPlain whether the scalar is neither quoted nor a block
 * @throws ScalarError for text that does not fit its tag
 */
export function resolveScalar(text: string, tag: string | undefined, isPlain: boolean): ResolvedScalar {
  if (tag === undefined && isPlain) return resolvePlain(text);
  if (tag === undefined || !tag.startsWith(prefix)) return asText(text);
  const wanted = tag.slice(prefix.length);
  switch (wanted) {
    case 'binary':
      return asText(fromBase64(text));
    case 'bool':
    case 'int':
    case 'null':
    case 'float':
      break;
    case 'merge':
      return { tag: 'merge', value: text };
    default:
      // A time stays a string, as do values with unknown tags.
      return asText(text);
  }
  const resolved = resolvePlain(text);
  if (resolved.tag === wanted || (wanted === 'float' && resolved.tag === 'int')) return resolved;
  throw new ScalarError(`cannot decode !!${resolved.tag} \`${text.slice(0, maxShown)}\` as a !!${wanted}`);
}

function asText(text: string): ResolvedScalar {
  return { tag: 'str', value: text };
}

/** The most characters of a scalar that a message shows. */
const maxShown = 64;

function fromBase64(text: string): string {
  const compact = text.replace(/[\r\n]/g, '');
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(compact)) {
    throw new ScalarError('!!binary value contains invalid base64 data');
  }
  return Buffer.from(compact, 'base64').toString('utf8');
}

function resolvePlain(text: string): ResolvedScalar {
  return words.get(text) ?? resolveNumber(text) ?? asText(text);
}

const decimalFloat = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

function resolveNumber(text: string): ResolvedScalar | undefined {
  const first = text.charCodeAt(0);
  const isDigit = first >= 0x30 && first <= 0x39;
  if (!isDigit && first !== 0x2b && first !== 0x2d && first !== 0x2e) return undefined;
  // Underscores between digits are for readability only, but are not allowed after a leading point.
  const plain = first === 0x2e ? text : text.replaceAll('_', '');
  const whole = wholeNumber(plain);
  if (whole !== undefined) return { tag: 'int', value: whole };
  if (!decimalFloat.test(plain)) return undefined;
  const value = Number(plain);
  // A number too large for a double is read as a string.
  return Number.isFinite(value) ? { tag: 'float', value } : undefined;
}

/** Longer strings are no 64-bit integers, except with very many leading zeros, which nobody writes. */
const maxDigits = 80;
const maxUnsigned = 2n ** 64n - 1n;
const minSigned = -(2n ** 63n);

/**
 * Reads a whole number in base 16, 8, 2 or 10, by its prefix. Undefined for other strings and for numbers that exceed
 * 64 bits.
 */
function wholeNumber(text: string): number | bigint | undefined {
  if (text.length > maxDigits) return undefined;
  const match = /^([-+]?)(?:(0[xX][0-9a-fA-F]+)|(0[bB][01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/.exec(text);
  if (match === null) return undefined;
  const [, sign, hex, binary, octal, decimal] = match;
  const size = BigInt(hex ?? binary ?? (octal === undefined ? (decimal as string) : `0o${octal}`));
  const value = sign === '-' ? -size : size;
  if (value > maxUnsigned || value < minSigned || (sign !== '' && value >= -minSigned)) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
