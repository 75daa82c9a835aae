import {
  isDns1035Label,
  isDns1123Label,
  isDns1123Subdomain,
  isQualifiedName,
  isValidLabelValue,
} from '../../../base/machinery/names.js';
import { CelError } from '../cel-error.js';
import { charged, type LibraryBuilder } from '../function-table.js';
import { listOf, opaque, optionalOf, types } from '../values/cel-type.js';
import { Timestamp } from '../values/time.js';
import { ListValue, OpaqueValue, OptionalValue } from '../values/value.js';

const { string } = types;
const formatTypeName = 'kubernetes.NamedFormat';
const formatType = opaque(formatTypeName);
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

class FormatValue extends OpaqueValue {
  readonly typeName = formatTypeName;

  constructor(
    readonly name: string,
    /** Returns the faults of a string; empty if there are none. */
    readonly check: (text: string) => readonly string[],
  ) {
    super();
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof FormatValue && other.name === this.name;
  }
}

/** A check for the base of a generated name, which may end in a dash. */
const asPrefix = (check: (text: string) => string[]) => (text: string) =>
  check(text.endsWith('-') ? `${text.slice(0, -1)}a` : text);
const matching = (pattern: RegExp, message: string) => (text: string) => (pattern.test(text) ? [] : [message]);

function isTime(text: string): boolean {
  try {
    Timestamp.parse(text);
    return true;
  } catch (error) {
    if (error instanceof CelError) return false;
    throw error;
  }
}

const checks: Readonly<Record<string, (text: string) => readonly string[]>> = {
  dns1123Label: isDns1123Label,
  dns1123Subdomain: isDns1123Subdomain,
  dns1035Label: isDns1035Label,
  qualifiedName: isQualifiedName,
  dns1123LabelPrefix: asPrefix(isDns1123Label),
  dns1123SubdomainPrefix: asPrefix(isDns1123Subdomain),
  dns1035LabelPrefix: asPrefix(isDns1035Label),
  labelValue: isValidLabelValue,
  uri: (text) =>
    /^(?:[a-zA-Z][a-zA-Z0-9+.-]*:|\/)/.test(text) && URL.canParse(text, 'http://a') ? [] : ['invalid URI'],
  uuid: matching(uuid, 'does not match the UUID format'),
  byte: matching(base64, 'invalid base64'),
  date: (text) => (isTime(`${text}T00:00:00Z`) ? [] : ['invalid date']),
  datetime: (text) => (isTime(text) ? [] : ['invalid datetime']),
};

const formatsByName = new Map(Object.entries(checks).map(([name, check]) => [name, new FormatValue(name, check)]));
/** How many times a check reads the string. */
const passes = 5;

/** The cost of one call, in addition to reading its string. */
const stepCost = 20;

/** `format.<name>()`, `format.named(name)` and `validate`. */
export function formats(outer: LibraryBuilder): void {
  const library = charged(outer, stepCost);
  for (const [name, format] of formatsByName) library.fn(`format.${name}`, [], formatType, () => format);
  library
    .fn('format.named', [string], optionalOf(formatType), (_, name: string) => {
      const format = formatsByName.get(name);
      return format === undefined ? OptionalValue.none : OptionalValue.of(format);
    })
    .method(
      'validate',
      [formatType, string],
      optionalOf(listOf(string)),
      ({ budget }, format: FormatValue, text: string) => {
        budget.chargeText(text.length * passes);
        const faults = format.check(text);
        return faults.length === 0 ? OptionalValue.none : OptionalValue.of(new ListValue(faults));
      },
    );
}
