import type { JsonObject } from '../patch/json-value.js';
import {
  type CustomOwnership,
  type CustomType,
  type Field,
  jsonFields,
  resolveType,
  type SchemaType,
  type StructType,
  zeroValue,
} from '../schema/index.js';
import { declareField } from './path-element.js';

/**
 * What field ownership needs to know about a declaration:
 * - `leaf`: owned as one value: scalars and everything atomic.
 * - `struct`: declared fields; others are taken as `any`.
 * - `map`: free keys.
 * - `keyed`: a list whose elements are told apart by some of their fields.
 * - `set`: a list of unique scalars.
 * - `any`: no declaration: objects are maps, lists are atomic.
 * - `untracked`: the server's own fields, owned by nobody.
 */
export type TypeView =
  | LeafView
  | { readonly kind: 'any' }
  | { readonly kind: 'untracked' }
  | StructView
  | { readonly kind: 'map'; readonly value: TypeView }
  | KeyedView
  | { readonly kind: 'set' };

/** The required JSON form of a leaf. */
export type LeafForm = 'string' | 'number' | 'boolean' | 'scalar' | 'list' | 'map' | 'any';

export interface LeafView {
  readonly kind: 'leaf';
  readonly expected: LeafForm;
  /** What an atomic map is, or each element of an atomic list; undefined where that is not known. */
  readonly parts?: (() => TypeView) | undefined;
}

export interface StructView {
  readonly kind: 'struct';
  readonly fields: Pick<ReadonlyMap<string, TypeView>, 'get' | 'has'>;
  /** The view of fields that are not declared but allowed. */
  readonly others?: TypeView | undefined;
}

/** A struct whose fields are all known from the start. */
interface DeclaredView extends StructView {
  readonly fields: ReadonlyMap<string, TypeView>;
}

export interface KeyedView {
  readonly kind: 'keyed';
  readonly element: TypeView;
  /** Sorted by name. */
  readonly keys: readonly ListKey[];
}

export interface ListKey {
  readonly name: string;
  /** Replaces an absent key. */
  readonly default: string | number | boolean | undefined;
}

const anyView: TypeView = { kind: 'any' };
const setView: TypeView = { kind: 'set' };
const untrackedView: TypeView = { kind: 'untracked' };
const leafViews: ReadonlyMap<LeafForm, TypeView> = new Map(
  (['string', 'number', 'boolean', 'scalar', 'list', 'map', 'any'] as const).map((expected) => [
    expected,
    { kind: 'leaf', expected },
  ]),
);

function leafView(expected: LeafForm): TypeView {
  return leafViews.get(expected) as TypeView;
}

function atomicView(expected: 'list' | 'map', parts: () => TypeView): TypeView {
  return { kind: 'leaf', expected, parts };
}

/** Metadata that the server sets on the object itself (metadata in templates is tracked completely). */
export const serverFields: readonly string[] = [
  'name',
  'namespace',
  'uid',
  'selfLink',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'resourceVersion',
  'generation',
  'managedFields',
];

const structViews = new WeakMap<StructType, DeclaredView>();
const rootViews = new WeakMap<StructType, StructView>();

/** The view of a whole object of a kind: type, identity and server-set metadata are untracked. Built once per type. */
export function rootView(type: StructType): StructView {
  let view = rootViews.get(type);
  if (view === undefined) {
    const plain = structView(type);
    const metadata = plain.fields.get('metadata');
    const fields = new Map(plain.fields);
    fields.set('kind', untrackedView).set('apiVersion', untrackedView);
    if (metadata?.kind === 'struct') {
      const tracked = new Map((metadata as DeclaredView).fields);
      for (const name of serverFields) tracked.set(name, untrackedView);
      fields.set('metadata', { ...metadata, fields: tracked });
    }
    view = { ...plain, fields };
    rootViews.set(type, view);
  }
  return view;
}

function structView(type: StructType): DeclaredView {
  let view = structViews.get(type);
  if (view === undefined) {
    const fields = new Map<string, TypeView>();
    const others = type.custom?.others;
    view = { kind: 'struct', fields, others: others === undefined ? undefined : ownershipView(others) };
    // Registered before its fields are visited: a struct may contain itself.
    structViews.set(type, view);
    // An object inside another may name its kind, too.
    if (type.kind !== undefined) for (const name of ['kind', 'apiVersion']) fields.set(name, leafView('string'));
    for (const [name, field] of jsonFields(type)) {
      const member = viewOf(field.type, field);
      fields.set(name, member);
      declareField(name);
    }
  }
  return view;
}

function viewOf(declared: SchemaType, field?: Field): TypeView {
  const type = resolveType(declared);
  switch (type.type) {
    case 'scalar':
      return scalarView(type.scalar);
    case 'enum':
      return leafView('string');
    case 'variant':
      return leafView('any');
    case 'struct':
      return (field?.mapType ?? type.mapType) === 'atomic'
        ? atomicView('map', () => structView(type))
        : structView(type);
    case 'map':
      return field?.mapType === 'atomic' ? leafView('map') : { kind: 'map', value: viewOf(type.value) };
    case 'list':
      return listView(type.element, field);
    case 'custom':
      return customView(type);
  }
}

const customViews = new WeakMap<CustomType, TypeView>();

function customView(type: CustomType): TypeView {
  let view = customViews.get(type);
  if (view === undefined) {
    view = ownershipView(type.form.ownership());
    customViews.set(type, view);
  }
  return view;
}

function ownershipView(ownership: CustomOwnership): TypeView {
  switch (ownership.kind) {
    case 'leaf':
      return leafView(ownership.expected);
    case 'any':
      return anyView;
    case 'set':
      return setView;
    case 'map':
      return { kind: 'map', value: ownershipView(ownership.value) };
    case 'keyed':
      return {
        kind: 'keyed',
        element: ownershipView(ownership.element),
        keys: ownership.keys.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      };
    case 'object': {
      const others = ownership.others === undefined ? undefined : ownershipView(ownership.others);
      return { kind: 'struct', fields: new OwnedFields(ownership.field), others };
    }
  }
}

/** The views of the fields, built when they are first requested. */
class OwnedFields {
  private readonly known = new Map<string, TypeView>();

  constructor(private readonly ownershipOf: (name: string) => CustomOwnership | undefined) {}

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  get(name: string): TypeView | undefined {
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const ownership = this.ownershipOf(name);
    // Views of undeclared names are not cached: any object may have others.
    if (ownership === undefined) return undefined;
    const view = ownershipView(ownership);
    this.known.set(name, view);
    return view;
  }
}

function scalarView(scalar: string): TypeView {
  switch (scalar) {
    case 'int32':
    case 'int64':
    case 'double':
      return leafView('number');
    case 'bool':
      return leafView('boolean');
    case 'quantity':
    case 'intOrString':
      return leafView('scalar');
    case 'anyJson':
      return anyView;
    case 'rawExtension':
      return leafView('any');
    case 'fieldsV1':
      return leafView('map');
    default:
      return leafView('string');
  }
}

/** A list without a list type counts as keyed if strategic merge patches merge it by key. */
function listView(declared: SchemaType, field: Field | undefined): TypeView {
  const merges = field?.patch?.strategy === 'merge';
  const listType = field?.listType ?? (merges ? (field.patch?.key === undefined ? 'set' : 'map') : 'atomic');
  if (listType === 'atomic') return atomicView('list', () => viewOf(declared));
  if (listType === 'set') return setView;
  const names = field?.listKeys ?? (field?.patch?.key === undefined ? [] : [field.patch.key]);
  const element = resolveType(declared);
  if (names.length === 0 || element.type !== 'struct') return leafView('list');
  const declaredFields = jsonFields(element);
  const keys = [...names].sort().map((name) => ({ name, default: keyDefault(declaredFields.get(name)) }));
  return { kind: 'keyed', element: viewOf(element), keys };
}

/** What an absent key of a list counts as: required fields that hold no null are empty or zero then. */
function keyDefault(field: Field | undefined): ListKey['default'] {
  if (field === undefined || field.default !== undefined || field.presence !== 'required') return field?.default;
  const type = resolveType(field.type);
  if (type.type === 'enum') return '';
  if (type.type !== 'scalar') return undefined;
  return { string: '', int32: 0, int64: 0 }[type.scalar as string];
}

const zeros = new WeakMap<StructType, JsonObject>();

/** The canonical empty object of a kind, with which new objects are compared. Built once per type. */
export function zeroObject(type: StructType): JsonObject {
  let zero = zeros.get(type);
  if (zero === undefined) {
    zero = zeroValue(type) as JsonObject;
    zeros.set(type, zero);
  }
  return zero;
}
