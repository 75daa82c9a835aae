import type { Budget } from '../budget.js';
import { CelError } from '../cel-error.js';
import type { MessageType } from '../compiler/environment.js';
import type { FunctionTable, Overload } from '../function-table.js';
import { apiFunctions } from '../library/index.js';
import { type CelType, listOf, typeName, types } from '../values/cel-type.js';
import { Span, Timestamp } from '../values/time.js';
import {
  isList,
  isMap,
  listItems,
  MessageValue,
  mapGet,
  mapKeys,
  OptionalValue,
  Uint,
  type Value,
} from '../values/value.js';

const objectTypes = /^Object(?:\.[A-Za-z_$][A-Za-z0-9_$]*)*$/;
const patchFields: Readonly<Record<string, CelType>> = {
  op: types.string,
  path: types.string,
  from: types.string,
  value: types.dyn,
};

/** The result of an apply configuration's expression. */
export const appliedObject: CelType = { kind: 'message', name: 'Object' };
/** The result of a JSON patch's expression. */
export const patchOperations: CelType = listOf({ kind: 'message', name: 'JSONPatch' });

/**
 * The types that the expressions of mutations construct: `JSONPatch`, and `Object` with types named after the fields
 * below it (`Object.spec`, `Object.spec.containers.item` for an element of a list). Field names are not checked before
 * the object is merged.
 */
export function mutationMessages(name: string): MessageType | undefined {
  if (name === 'JSONPatch')
    return { field: (field) => (Object.hasOwn(patchFields, field) ? patchFields[field] : undefined) };
  if (!objectTypes.test(name)) return undefined;
  return { field: () => types.dyn, refuse: (field, value) => wrongName(`${name}.${field}`, value) };
}

function wrongName(expected: string, type: CelType): string | undefined {
  if (type.kind === 'list') return wrongName(`${expected}.item`, type.element);
  if (type.kind !== 'message' || type.name === expected) return undefined;
  return `unexpected type name "${typeName(type)}", expected "${expected}", which matches field name path from root Object type`;
}

const escapeKey: Overload = {
  args: [types.string],
  result: types.string,
  run: ({ budget }, text: string) => {
    budget.chargeText(text.length);
    return text.replaceAll('~', '~0').replaceAll('/', '~1');
  },
};

/** The functions for expressions of mutations. */
export const mutationFunctions: FunctionTable = Object.freeze({
  functions: new Map(apiFunctions.functions).set('jsonpatch.escapeKey', [escapeKey]),
  methods: apiFunctions.methods,
});

/** A value as JSON. Throws a CelError for a value that JSON does not have. */
export function toJson(value: Value, budget: Budget): unknown {
  budget.charge(1);
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (value instanceof Uint) return toJson(value.value, budget);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Timestamp) return value.toString();
  if (value instanceof Span) return value.toUnits();
  if (value instanceof OptionalValue) throw new CelError('an optional value cannot be part of an object');
  if (value instanceof MessageValue) {
    return Object.fromEntries([...value.fields].map(([name, field]) => [name, toJson(field, budget)]));
  }
  if (isList(value)) return listItems(value).map((item) => toJson(item, budget));
  if (isMap(value)) {
    return Object.fromEntries(mapKeys(value).map((key) => [jsonKey(key), toJson(mapGet(value, key) as Value, budget)]));
  }
  throw new CelError('a value of this type cannot be part of an object');
}

function jsonKey(key: Value): string {
  if (typeof key !== 'string') throw new CelError('keys of an object must be strings');
  return key;
}
