import { ownValue } from '../../../base/machinery/own-value.js';
import {
  type Budget,
  type CelType,
  equals,
  fromJson,
  LazyObject,
  ListValue,
  listOf,
  type MapKey,
  MapValue,
  mapOf,
  sized,
  type Value,
} from '../../cel/index.js';
import type { StructuralSchema } from '../structural/index.js';
import { isRecord, type JsonRecord } from '../structural/json-objects.js';
import { KeyedList, SetList } from './combining-lists.js';
import { namesInRules } from './escaped-names.js';
import { readBytes, readDate, readDateTime, readDuration } from './formatted-values.js';
import { largestString, mostEntries, mostItems, sizes, stringSize } from './serialized-sizes.js';

/** The values of a part of a schema as expressions see them. */
export interface RuleType {
  readonly cel: CelType;
  /** The fewest bytes of a value in JSON. */
  readonly minSize: number;
  /** Whether expressions can read the JSON values directly, without conversion. */
  readonly isPlain: boolean;
  /** The CEL value of a JSON value that is not null. Throws a CelError for text that does not have its format. */
  valueOf(json: unknown, budget: Budget): Value;
}

interface Field {
  readonly property: string;
  readonly type: RuleType;
}

const known = new WeakMap<StructuralSchema, RuleType | 'none'>();
const knownRoots = new WeakMap<StructuralSchema, RuleType | 'none'>();

/**
 * The type of the values of a schema; undefined where nothing is known of them, so expressions don't see them. A whole
 * object has its kind, its version and its name, even if the schema does not declare them.
 */
export function ruleType(schema: StructuralSchema, isObject: boolean): RuleType | undefined {
  const made = isObject ? knownRoots : known;
  let type = made.get(schema);
  if (type === undefined) {
    type = makeType(schema, isObject) ?? 'none';
    made.set(schema, type);
  }
  return type === 'none' ? undefined : type;
}

function makeType(schema: StructuralSchema, isObject: boolean): RuleType | undefined {
  if (schema.xIntOrString) return scalar(sized('dyn', largestString), sizes.minNumber);
  switch (schema.type) {
    case 'array':
      return listType(schema);
    case 'object':
      return typeof schema.additionalProperties === 'object' && !isObject
        ? mapType(schema, schema.additionalProperties)
        : objectType(schema, isObject);
    case 'string':
      return stringType(schema);
    case 'boolean':
      return scalar(sized('bool', 0), sizes.minBool);
    case 'number':
      return { ...scalar(sized('double', 0), sizes.minNumber), isPlain: false, valueOf: (json) => Number(json) };
    case 'integer':
      return scalar(sized('int', 0), sizes.minNumber);
    default:
      return undefined;
  }
}

function scalar(cel: CelType, minSize: number): RuleType {
  return { cel, minSize, isPlain: true, valueOf: fromJson };
}

const formats: Readonly<Record<string, readonly [CelType['kind'], number, (text: string) => Value]>> = {
  byte: ['bytes', sizes.minString, readBytes],
  date: ['timestamp', sizes.date, readDate],
  'date-time': ['timestamp', sizes.minDateTime, readDateTime],
  duration: ['duration', sizes.minDuration, readDuration],
};

function stringType(schema: StructuralSchema): RuleType {
  const size = stringSize(schema);
  const format = ownValue(formats, schema.validation?.format ?? '');
  if (format === undefined) return scalar(sized('string', size), sizes.minString);
  const [kind, minSize, read] = format;
  const cel = sized(kind as 'bytes', size);
  return { cel, minSize, isPlain: false, valueOf: (json) => (typeof json === 'string' ? read(json) : fromJson(json)) };
}

function listType(schema: StructuralSchema): RuleType | undefined {
  const { items, xListType, xListMapKeys } = schema;
  const element = items === undefined ? undefined : ruleType(items, items.xEmbedded);
  if (element === undefined) return undefined;
  const cel = listOf(element.cel, schema.validation?.maxItems ?? mostItems(element.minSize));
  const isOrdered = xListType !== 'set' && xListType !== 'map';
  const convert = (json: readonly unknown[], budget: Budget): readonly Value[] => {
    budget.charge(json.length);
    return json.map((item) => (item === null ? null : element.valueOf(item, budget)));
  };
  return {
    cel,
    minSize: sizes.minList,
    isPlain: isOrdered && element.isPlain,
    valueOf: (json, budget) => {
      if (!Array.isArray(json) || (isOrdered && element.isPlain)) return fromJson(json);
      const values = convert(json, budget);
      if (isOrdered) return new ListValue(values);
      return xListType === 'set' ? new SetList(values) : new KeyedList(values, xListMapKeys);
    },
  };
}

function mapType(schema: StructuralSchema, entries: StructuralSchema): RuleType | undefined {
  const entry = ruleType(entries, entries.xEmbedded);
  if (entry === undefined) return undefined;
  const most = schema.validation?.maxProperties ?? mostEntries(entry.minSize);
  return {
    cel: mapOf(sized('string', 0), entry.cel, most),
    minSize: sizes.minMap,
    isPlain: entry.isPlain,
    valueOf: (json, budget) => {
      if (!isRecord(json) || entry.isPlain) return fromJson(json);
      const made = new Map<MapKey, { key: Value; value: Value }>();
      for (const [key, value] of Object.entries(json)) {
        budget.charge(1);
        made.set(key, { key, value: value === null ? null : entry.valueOf(value, budget) });
      }
      return new MapValue(made);
    },
  };
}

/** The fewest bytes that a field takes besides its name and value: quotes, a colon and a comma. */
const fieldOverhead = 4;

function objectType(schema: StructuralSchema, isObject: boolean): RuleType {
  const fields = new Map<string, Field>();
  const required = new Set(schema.validation?.required);
  let minSize: number = sizes.minMap;
  let isPlain = true;
  const add = (property: string, type: RuleType | undefined, isNeeded: boolean) => {
    if (type === undefined) return;
    const names = namesInRules(property);
    for (const name of names) fields.set(name, { property, type });
    if (isNeeded) minSize += property.length + type.minSize + fieldOverhead;
    if (!type.isPlain || names.some((name) => name !== property)) isPlain = false;
  };
  for (const [property, own] of schema.properties) {
    if (isObject && ownValue(objectFields, property) !== undefined) continue;
    add(property, ruleType(own, own.xEmbedded), required.has(property) && own.default === undefined);
  }
  if (isObject)
    for (const [property, type] of Object.entries(objectFields)) add(property, type, required.has(property));
  const cel: CelType = {
    kind: 'object',
    name: 'object',
    isClosed: true,
    fields: (name) => fields.get(name)?.type.cel,
  };
  return {
    cel,
    minSize,
    isPlain,
    valueOf: (json) => (isPlain || !isRecord(json) ? fromJson(json) : new TypedObject(fields, json)),
  };
}

const anyText = scalar(sized('string', largestString), sizes.minString);

/** The fields that expressions see of every whole object. Of the metadata, they see only the name. */
const objectFields: Readonly<Record<string, RuleType>> = {
  apiVersion: anyText,
  kind: anyText,
  metadata: scalar(
    {
      kind: 'object',
      name: 'object',
      isClosed: true,
      fields: (name) => (name === 'name' || name === 'generateName' ? anyText.cel : undefined),
    },
    sizes.minMap,
  ),
};

/** An object in which some values have CEL types that JSON lacks, such as timestamps. */
class TypedObject extends LazyObject {
  constructor(
    private readonly fields: ReadonlyMap<string, Field>,
    private readonly json: JsonRecord,
  ) {
    super();
  }

  get(name: string, budget: Budget): Value | undefined {
    const field = this.fields.get(name);
    if (field === undefined) return undefined;
    const value = ownValue(this.json, field.property);
    if (value === undefined) return undefined;
    return value === null ? null : field.type.valueOf(value, budget);
  }

  override equals(other: LazyObject, budget: Budget): boolean {
    if (!(other instanceof TypedObject)) return false;
    if (this.json === other.json) return true;
    const names = Object.keys(this.json);
    budget.charge(2 * names.length + 1);
    if (names.length !== Object.keys(other.json).length) return false;
    const typed = new Set<string>();
    for (const [name, { property }] of this.fields) {
      typed.add(property);
      const [mine, its] = [this.get(name, budget), other.get(name, budget)];
      if (mine === undefined || its === undefined ? mine !== its : !equals(mine, its, budget)) return false;
    }
    return names.every((name) => {
      if (typed.has(name)) return true;
      const its = ownValue(other.json, name);
      return its !== undefined && equals(fromJson(this.json[name]), fromJson(its), budget);
    });
  }
}
