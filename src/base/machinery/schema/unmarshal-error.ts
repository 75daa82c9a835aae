import { jsonFields, resolveType } from './access.js';
import type { DecodeError } from './decode-error.js';
import { embeddedStructs } from './embedded-structs.js';
import { fieldTypeNames } from './field-type-names.js';
import type { KindType, SchemaType, StructType } from './types.js';

/**
 * The position of a wrong value: its declared type, the struct it belongs to, and the names of the fields that lead
 * there.
 */
interface Place {
  readonly type: SchemaType;
  readonly struct: StructType;
  readonly names: readonly string[];
  /** How many lists and maps are between the last of the names and the value. */
  readonly depth: number;
}

/** Faults of types with a parser of their own: upstream reports them without the path of the field. */
const ownForms =
  /^(illegal base64 data|parsing time|quantities must match|unable to parse (numeric part of quantity|quantity's suffix))/;

/**
 * The upstream message for a wrong value of a body: `json: cannot unmarshal number into Go struct field ConfigMap.data
 * of type string`. Falls back to a message with the path for other values.
 */
export function unmarshalDetail(kind: KindType, { path, detail, message }: DecodeError): string {
  if (ownForms.test(detail)) return detail;
  const place = placeOf(kind, path);
  if (isQuantity(place)) return `quantities must match the regular expression '${quantityPattern}'`;
  const wanted = place === undefined ? undefined : (ownNameAt(place) ?? nameOf(place.type));
  const found = foundIn(detail, wanted);
  if (place === undefined || wanted === undefined || found === undefined) return message;
  const struct = place.struct.name.slice(place.struct.name.lastIndexOf('.') + 1);
  // The metadata of custom kinds is decoded separately.
  const names = kind.custom !== undefined && place.names[0] === 'metadata' ? place.names.slice(1) : place.names;
  return `json: cannot unmarshal ${found} into Go struct field ${struct}.${names.join('.')} of type ${wanted}`;
}

/**
 * The upstream message for a wrong value in the result of a strategic merge patch, which is not decoded from a text:
 * `cannot restore slice from map`. Falls back to {@link unmarshalDetail} for types with a parser of their own.
 */
export function restoreDetail(kind: KindType, error: DecodeError): string {
  const place = placeOf(kind, error.path);
  const found = structureIn(error.detail);
  if (place === undefined || found === undefined) return unmarshalDetail(kind, error);
  const wanted = resolveType(place.type);
  switch (wanted.type) {
    case 'struct':
      return `cannot restore struct from: ${found}`;
    case 'list':
      return `cannot restore slice from ${found}`;
    case 'map':
      return `cannot restore map from ${found}`;
    case 'enum':
      return found === 'int64'
        ? `cannot convert int64 to ${ownNameAt(place) ?? 'string'}`
        : 'unrecognized type: string';
    case 'scalar': {
      const parsed = parsedNames[wanted.scalar];
      if (parsed !== undefined)
        return `json: cannot unmarshal ${foundIn(error.detail, parsed)} into Go value of type ${parsed}`;
      const name = scalarNames[wanted.scalar];
      if (name === undefined) return unmarshalDetail(kind, error);
      const isNumber = found === 'int64' || found === 'float64';
      return isNumber && name !== 'bool' ? `cannot convert ${found} to ${name}` : `unrecognized type: ${name}`;
    }
    default:
      return unmarshalDetail(kind, error);
  }
}

/** The kind of value that the message of a decoder found, in the words of {@link restoreDetail}. */
function structureIn(detail: string): string | undefined {
  const [, scalar, container, truth, literal = ''] = foundWords.exec(detail) ?? [];
  if (truth !== undefined) return 'bool';
  if (container !== undefined) return container === 'list' ? 'slice' : 'map';
  if (scalar === 'number') return /^-?\d*$/.test(literal) ? 'int64' : 'float64';
  return scalar;
}

const foundWords = /found (?:(?:the (number|string))|an? (object|list)|(true|false|bool))(?: (\S+))?/;

function foundIn(detail: string, wanted: string | undefined): string | undefined {
  const [, scalar, container, truth, literal = ''] = foundWords.exec(detail) ?? [];
  if (truth !== undefined) return 'bool';
  if (container !== undefined) return container === 'list' ? 'array' : container;
  // The message contains the number itself if it does not fit into the number type.
  if (scalar === 'number' && /^(int|float)/.test(wanted ?? '')) return `number ${literal}`;
  return scalar;
}

const quantityPattern = '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$';

function isQuantity(place: Place | undefined): boolean {
  const type = place === undefined ? undefined : resolveType(place.type);
  return type?.type === 'scalar' && type.scalar === 'quantity';
}

/** The name of a type that has one of its own in the release. Undefined for others. */
function ownNameAt({ struct, names, depth }: Place): string | undefined {
  let name = ownNameOf(struct.name, names.at(-1) ?? '');
  for (let i = 0; i < depth && name !== undefined; i++) name = /^(?:\[\]|map\[\w+(?:\.\w+)?\])(.+)$/.exec(name)?.[1];
  return name;
}

/** Types that were probed in version 1 only have the same names in other versions. */
function ownNameOf(struct: string, field: string): string | undefined {
  const [group = '', version = '', short = ''] = struct.split('.');
  const name = fieldTypeNames[struct]?.[field];
  if (name !== undefined || version === 'v1') return name;
  return fieldTypeNames[`${group}.v1.${short}`]?.[field]?.replace(/\bv1\./g, `${version}.`);
}

/** Upstream names of types; undefined for types with other names or their own parsers. */
function nameOf(type: SchemaType): string | undefined {
  const resolved = resolveType(type);
  switch (resolved.type) {
    case 'scalar':
      return scalarNames[resolved.scalar] ?? parsedNames[resolved.scalar];
    case 'enum':
      return 'string';
    case 'list': {
      const element = nameOf(resolved.element);
      return element === undefined ? undefined : `[]${element}`;
    }
    case 'map': {
      const value = nameOf(resolved.value);
      return value === undefined ? undefined : `map[string]${value}`;
    }
    case 'struct':
      return resolved.name.split('.').slice(-2).join('.');
    default:
      return undefined;
  }
}

const scalarNames: Readonly<Record<string, string>> = {
  string: 'string',
  int32: 'int32',
  int64: 'int64',
  bool: 'bool',
  double: 'float64',
  bytes: '[]uint8',
};

/** Scalars whose own parser reads a text or a number. */
const parsedNames: Readonly<Record<string, string>> = {
  time: 'string',
  microTime: 'string',
  duration: 'string',
  intOrString: 'int32',
};

/** The part of a path behind a key of a map; empty if the path ends with the key. */
function restBehindKey(value: SchemaType, path: string): string {
  const resolved = resolveType(value);
  if (resolved.type === 'list') return /\[\d+\][^\]]*$/.exec(path)?.[0] ?? '';
  if (resolved.type !== 'struct') return '';
  const fields = jsonFields(resolved);
  for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
    const rest = path.slice(dot + 1);
    if (fields.has(/^[^.[]+/.exec(rest)?.[0] ?? '')) return rest;
  }
  return '';
}

function placeOf(kind: KindType, path: string): Place | undefined {
  let type: SchemaType = kind;
  let struct: StructType = kind;
  const names: string[] = [];
  let depth = 0;
  let rest = path;
  while (rest !== '') {
    const resolved = resolveType(type);
    if (resolved.type === 'struct') {
      const name = /^[^.[]+/.exec(rest)?.[0] ?? '';
      const field = jsonFields(resolved).get(name);
      if (field === undefined) return undefined;
      struct = resolved;
      names.push(...embeddedStructs(resolved.name, name), name);
      depth = 0;
      type = field.type;
      rest = rest.slice(name.length).replace(/^\./, '');
    } else if (resolved.type === 'list') {
      const index = /^\[\d+\]\.?/.exec(rest)?.[0];
      if (index === undefined) return undefined;
      type = resolved.element;
      depth++;
      rest = rest.slice(index.length);
    } else if (resolved.type === 'map') {
      // Keys of maps may contain dots, so a field behind one is found only if it is one of the struct in the map.
      type = resolved.value;
      depth++;
      rest = restBehindKey(type, rest);
    } else return undefined;
  }
  return names.length === 0 ? undefined : { type, struct, names, depth };
}
