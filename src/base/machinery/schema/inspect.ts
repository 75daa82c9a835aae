import { ExactNumber } from '../json/exact-numbers.js';
import { ValueFormatError } from '../values/value-format-error.js';
import { jsonFields } from './access.js';
import { maxSelfNesting } from './depth.js';
import { Mismatch } from './mismatch.js';
import { scalarDecoders } from './scalars.js';
import type { CustomKindForm, ScalarName, SchemaType, StructType, VariantType } from './types.js';

/**
 * The value that does not fit, if any, and the unknown fields before it, up to a hundred. Of several such values it is
 * the one that release 1.37 reports: the first in the order of the body whose type has a parser of its own, else the
 * first.
 */
export interface Inspection {
  readonly fault: { readonly path: string; readonly detail: string } | undefined;
  readonly unknownFields: readonly string[];
}

/** Reporting more unknown fields than this helps nobody, and all of them might not fit into a response. */
const maxUnknownFields = 100;

interface Walk {
  readonly unknownFields: string[];
  /** The first value of a wrong JSON type. */
  fault: Fault | undefined;
  /** The current nesting depth of types that contain themselves. */
  depth: number;
}

class Fault {
  constructor(
    readonly path: string,
    readonly detail: string,
  ) {}
}

/** Walks a value along its type to locate the problems. Slow; meant for values that have some. */
export function inspect(type: SchemaType, input: unknown): Inspection {
  const walk: Walk = { unknownFields: [], fault: undefined, depth: 0 };
  const { unknownFields } = walk;
  try {
    visit(type, input, '', walk);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { fault: error, unknownFields };
  }
  return { fault: walk.fault, unknownFields };
}

/** Scalars with a parser of their own, whose faults end a decoding run; it goes on behind values of a wrong JSON type. */
const endingScalars: ReadonlySet<ScalarName> = new Set([
  'quantity',
  'time',
  'microTime',
  'duration',
  'intOrString',
  'rawExtension',
  'fieldsV1',
  'anyJson',
]);

function visit(type: SchemaType, input: unknown, path: string, walk: Walk): void {
  if (type.type === 'custom') {
    type.form.decode(input, (below) => note(walk, childPath(path, below)));
    return;
  }
  if (input === null || input === undefined) return;
  if (type.type === 'lazy') {
    if (++walk.depth > maxSelfNesting) throw new Fault(path, 'exceeded max depth');
    visit(type.resolve(), input, path, walk);
    walk.depth--;
    return;
  }
  switch (type.type) {
    case 'scalar':
      visitScalar(type.scalar, input, path, walk);
      break;
    case 'enum':
      visitScalar('string', input, path, walk);
      break;
    case 'list':
      visitList(type.element, input, path, walk);
      break;
    case 'map':
      for (const [key, value] of entries(input, path, walk)) visit(type.value, value, childPath(path, key), walk);
      break;
    case 'struct':
      if (type.custom === undefined) visitStruct(type, input, path, walk);
      else visitCustomKind(type, type.custom, input, path, walk);
      break;
    case 'variant':
      visitVariant(type, input, path, walk);
      break;
  }
}

function visitVariant(type: VariantType<unknown>, input: unknown, path: string, walk: Walk): void {
  if (type.alternative === 'bool' && typeof input === 'boolean') return;
  if (type.alternative === 'list' && Array.isArray(input)) visitList(type.struct, input, path, walk);
  else if (type.alternative === 'strings' && Array.isArray(input)) {
    for (const [i, element] of input.entries()) visitScalar('string', element, `${path}[${i}]`, walk);
  } else visit(type.struct, input, path, walk);
}

function visitScalar(scalar: ScalarName, input: unknown, path: string, walk: Walk): void {
  try {
    scalarDecoders[scalar](input);
  } catch (error) {
    if (!(error instanceof Mismatch) && !(error instanceof ValueFormatError)) throw error;
    const isMismatch = error instanceof Mismatch;
    const detail = isMismatch ? `expected ${error.expected}, found ${describe(error.found)}` : error.message;
    if (endingScalars.has(scalar)) throw new Fault(path, detail);
    walk.fault ??= new Fault(path, detail);
  }
}

function visitList(element: SchemaType, input: unknown, path: string, walk: Walk): void {
  if (!Array.isArray(input)) {
    walk.fault ??= new Fault(path, `expected a list, found ${describe(input)}`);
    return;
  }
  for (const [i, value] of input.entries()) visit(element, value, `${path}[${i}]`, walk);
}

function visitStruct(type: StructType, input: unknown, path: string, walk: Walk): void {
  const fields = jsonFields(type);
  for (const [name, value] of entries(input, path, walk)) {
    const field = fields.get(name);
    if (field !== undefined) visit(field.type, value, childPath(path, name), walk);
    else if (type.kind !== undefined && (name === 'kind' || name === 'apiVersion')) {
      if (value !== null) visitScalar('string', value, childPath(path, name), walk);
    } else note(walk, childPath(path, name));
  }
}

function visitCustomKind(type: StructType, custom: CustomKindForm, input: unknown, path: string, walk: Walk): void {
  const given = entries(input, path, walk);
  if (walk.fault !== undefined) return;
  const identity = given.filter(([name]) => name === 'metadata' || name === 'kind' || name === 'apiVersion');
  visitStruct({ ...type, custom: undefined }, Object.fromEntries(identity), path, walk);
  custom.decode(input as Readonly<Record<string, unknown>>, (below) => note(walk, childPath(path, below)));
}

function note(walk: Walk, path: string): void {
  if (walk.unknownFields.length < maxUnknownFields) walk.unknownFields.push(path);
}

/** The members of an object; none of another value, whose fault is noted. */
function entries(input: unknown, path: string, walk: Walk): [string, unknown][] {
  if (typeof input !== 'object' || input === null || Array.isArray(input) || input instanceof ExactNumber) {
    walk.fault ??= new Fault(path, `expected an object, found ${describe(input)}`);
    return [];
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
  if (typeof value === 'object' && !(value instanceof ExactNumber)) return 'an object';
  if (typeof value !== 'string') return `${typeof value === 'boolean' ? '' : 'the number '}${String(value)}`;
  return `the string ${JSON.stringify(value.length > shownLength ? `${value.slice(0, shownLength)}...` : value)}`;
}
