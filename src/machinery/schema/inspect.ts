import { ValueFormatError } from '../values/value-format-error.js';
import { jsonFields, resolveType } from './access.js';
import { Mismatch, scalarDecoders } from './scalars.js';
import type { SchemaType, StructType, VariantType } from './types.js';

/** The first value that does not fit, if any, and all unknown fields met before it. */
export interface Inspection {
  readonly fault: { readonly path: string; readonly detail: string } | undefined;
  readonly unknownFields: readonly string[];
}

class Fault {
  constructor(
    readonly path: string,
    readonly detail: string,
  ) {}
}

/** Walks a value beside its type to say where the faults are; slow, for values that have some. */
export function inspect(type: SchemaType, input: unknown): Inspection {
  const unknownFields: string[] = [];
  try {
    visit(type, input, '', unknownFields);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { fault: error, unknownFields };
  }
  return { fault: undefined, unknownFields };
}

function visit(type: SchemaType, input: unknown, path: string, unknown: string[]): void {
  if (input === null || input === undefined) return;
  const resolved = resolveType(type);
  switch (resolved.type) {
    case 'scalar':
      visitScalar(scalarDecoders[resolved.scalar], input, path);
      break;
    case 'enum':
      visitScalar(scalarDecoders.string, input, path);
      break;
    case 'list':
      visitList(resolved.element, input, path, unknown);
      break;
    case 'map':
      for (const [key, value] of entries(input, path)) visit(resolved.value, value, childPath(path, key), unknown);
      break;
    case 'struct':
      visitStruct(resolved, input, path, unknown);
      break;
    case 'variant':
      visitVariant(resolved, input, path, unknown);
      break;
  }
}

function visitVariant(type: VariantType<unknown>, input: unknown, path: string, unknown: string[]): void {
  if (type.alternative === 'bool' && typeof input === 'boolean') return;
  if (type.alternative === 'list' && Array.isArray(input)) visitList(type.struct, input, path, unknown);
  else if (type.alternative === 'strings' && Array.isArray(input)) {
    for (const [i, element] of input.entries()) visitScalar(scalarDecoders.string, element, `${path}[${i}]`);
  } else visit(type.struct, input, path, unknown);
}

function visitScalar(decode: (input: unknown) => unknown, input: unknown, path: string): void {
  try {
    decode(input);
  } catch (error) {
    if (error instanceof Mismatch) throw new Fault(path, `expected ${error.expected}, found ${describe(error.found)}`);
    if (error instanceof ValueFormatError) throw new Fault(path, error.message);
    throw error;
  }
}

function visitList(element: SchemaType, input: unknown, path: string, unknown: string[]): void {
  if (!Array.isArray(input)) throw new Fault(path, `expected a list, found ${describe(input)}`);
  for (const [i, value] of input.entries()) visit(element, value, `${path}[${i}]`, unknown);
}

function visitStruct(type: StructType, input: unknown, path: string, unknown: string[]): void {
  const fields = jsonFields(type);
  for (const [name, value] of entries(input, path)) {
    const field = fields.get(name);
    if (field !== undefined) visit(field.type, value, childPath(path, name), unknown);
    else if (type.kind !== undefined && (name === 'kind' || name === 'apiVersion')) {
      if (value !== null) visitScalar(scalarDecoders.string, value, childPath(path, name));
    } else unknown.push(childPath(path, name));
  }
}

function entries(input: unknown, path: string): [string, unknown][] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new Fault(path, `expected an object, found ${describe(input)}`);
  }
  return Object.entries(input);
}

function childPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

const shownLength = 80;

function describe(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value !== 'string') return `${typeof value === 'boolean' ? '' : 'the number '}${String(value)}`;
  return `the string ${JSON.stringify(value.length > shownLength ? `${value.slice(0, shownLength)}...` : value)}`;
}
