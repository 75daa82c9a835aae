import { Budget } from '../budget.js';
import type { CelEnvironment } from '../compiler/environment.js';
import { apiFunctions } from '../library/index.js';
import { celQuantity, quantityType } from '../library/quantities.js';
import { semanticVersionValue } from '../library/semantic-versions.js';
import { compileProgram, type Program } from '../program.js';
import { type CelType, mapOf, objectTypeOf, resultTypeName, sized } from '../values/cel-type.js';
import { fromJson, type MapKey, MapValue, type Value } from '../values/value.js';

/** The most that one evaluation of an expression about a device may cost. */
export const deviceExpressionCostLimit = 1_000_000;

const maxAttributes = 32;
const maxDomainLength = 63;
const maxIdentifierLength = 32;
const maxValueLength = 64;

const domain = sized('string', maxDomainLength);
const identifier = sized('string', maxIdentifierLength);
const attributes: CelType = {
  ...(mapOf(identifier, sized('dyn', maxValueLength), maxAttributes) as CelType & { kind: 'map' }),
  hasSizedFields: true,
};

const deviceType = objectTypeOf('kubernetes.DRADevice', {
  driver: sized('string', maxDomainLength),
  allowMultipleAllocations: sized('bool', 1),
  attributes: mapOf(domain, attributes, maxAttributes),
  capacity: mapOf(domain, mapOf(identifier, quantityType, maxAttributes), maxAttributes),
});

const environment: CelEnvironment = {
  variables: { device: deviceType },
  functions: apiFunctions,
  declared: deviceType,
  hasBindings: true,
};

/** The data about a device that expressions can read. Each attribute has exactly one value. */
export interface DeviceInfo {
  readonly driver: string;
  readonly allowMultipleAllocations?: boolean | undefined;
  readonly attributes?: Readonly<Record<string, DeviceAttributeValue>> | undefined;
  readonly capacity?: Readonly<Record<string, { readonly value: string }>> | undefined;
}

interface DeviceAttributeValue {
  readonly int?: number;
  readonly bool?: boolean;
  readonly string?: string;
  readonly version?: string;
}

/** Compiles an expression that selects devices. Its highest possible cost is not checked. */
export function compileDeviceExpression(text: string): { readonly program: Program } | { readonly fault: string } {
  try {
    const program = compileProgram(text, environment, { costLimit: Number.POSITIVE_INFINITY });
    const { type } = program;
    if (type.kind === 'bool' || type.kind === 'dyn') return { program };
    return { fault: `must evaluate to bool or the unknown type, not ${shownType(type)}` };
  } catch (error) {
    return { fault: `compilation failed: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** The type as messages name it: `Any` for attributes. */
function shownType(type: CelType): string {
  return resultTypeName(type).replaceAll(/\bdyn\b/g, 'google.protobuf.Any');
}

/**
 * Whether an expression selects a device.
 *
 * @throws {CelError} if it has no value for the device, or one that is not true or false.
 * @throws {CostLimitExceeded} if it costs too much.
 */
export function deviceMatches(program: Program, device: DeviceInfo): boolean {
  const { driver, allowMultipleAllocations = false } = device;
  const info = new MapValue(
    entriesOf([
      ['driver', driver],
      ['allowMultipleAllocations', allowMultipleAllocations],
      ['attributes', byDomain(driver, device.attributes, attributeValue)],
      ['capacity', byDomain(driver, device.capacity, ({ value }) => celQuantity(value))],
    ]),
  );
  return program.evaluate({ device: info }, new Budget(deviceExpressionCostLimit)) === true;
}

function attributeValue(attribute: DeviceAttributeValue): Value {
  if (attribute.version !== undefined) return semanticVersionValue(attribute.version) ?? null;
  return fromJson(attribute.int ?? attribute.bool ?? attribute.string);
}

type Entries = Map<MapKey, { key: Value; value: Value }>;

function entriesOf(pairs: readonly (readonly [string, Value])[]): Entries {
  return new Map(pairs.map(([key, value]) => [key, { key, value }]));
}

/** Groups values by domain. Names without a domain belong to the driver's domain. */
function byDomain<T>(
  driver: string,
  values: Readonly<Record<string, T>> | undefined,
  toValue: (value: T) => Value,
): MapValue {
  const domains = new Map<string, [string, Value][]>();
  for (const [name, value] of Object.entries(values ?? {})) {
    const slash = name.indexOf('/');
    const key = slash < 0 ? driver : name.slice(0, slash);
    const own = domains.get(key) ?? [];
    own.push([name.slice(slash + 1), toValue(value)]);
    domains.set(key, own);
  }
  return new MapValue(new EntriesWithDefault([...domains].map(([key, own]) => [key, new MapValue(entriesOf(own))])));
}

const noEntries = new MapValue(new Map());

/** A map from domains to values that has an empty map for every domain in which the device has no values. */
class EntriesWithDefault extends Map<MapKey, { key: Value; value: Value }> {
  constructor(pairs: readonly (readonly [string, Value])[]) {
    super(entriesOf(pairs));
  }

  override get(key: MapKey): { key: Value; value: Value } {
    return super.get(key) ?? { key: key as Value, value: noEntries };
  }
}
