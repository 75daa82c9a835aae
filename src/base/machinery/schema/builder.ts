import type {
  EnumType,
  Field,
  FieldMap,
  FieldOptions,
  FieldSpec,
  Infer,
  InferFields,
  KindIdentity,
  KindType,
  LazyType,
  ListType,
  MapType,
  Presence,
  ScalarName,
  ScalarType,
  SchemaType,
  StructType,
  Typed,
  TypeMeta,
  VariantType,
} from './types.js';

/** Static types exist for the compiler only; they are added here and nowhere else. */
function typed<S>(schema: object): S {
  return schema as S;
}

function scalar<T, Z = T>(name: ScalarName): ScalarType<T, Z> {
  return typed({ type: 'scalar', scalar: name });
}

/** UTF-8 text. */
export const string = scalar<string>('string');
export const int32 = scalar<number>('int32');
/** A whole number. Values beyond 2^53 - 1 are bigints at run time: use `Number(value)` before arithmetic. */
export const int64 = scalar<number>('int64');
export const bool = scalar<boolean>('bool');
export const double = scalar<number>('double');
/** Base64 text in JSON. */
export const bytes = scalar<string, null>('bytes');
/** Canonical quantity text, see `values/quantity.ts`. */
export const quantity = scalar<string>('quantity');
/** RFC 3339 in UTC, whole seconds. */
export const time = scalar<string, null>('time');
/** RFC 3339 in UTC with six decimals. */
export const microTime = scalar<string, null>('microTime');
/** Duration text such as `1m30s`. */
export const duration = scalar<string>('duration');
export const intOrString = scalar<number | string>('intOrString');
/** Any JSON object, kept unchanged: a nested API object of any kind. */
export const rawExtension = scalar<Record<string, unknown>, null>('rawExtension');
/** The field set of a managedFields entry, kept unchanged. */
export const fieldsV1 = scalar<Record<string, unknown>, null>('fieldsV1');
/** Any JSON value, kept unchanged. */
export const anyJson = scalar<unknown, null>('anyJson');

/** A string with known values; other values can be decoded, too. */
export function enumOf<const T extends string>(...values: readonly T[]): EnumType<T> {
  return typed({ type: 'enum', values });
}

export function list<S extends SchemaType>(element: S): ListType<Infer<S>> {
  return typed({ type: 'list', element, wrapper: undefined });
}

/** A list that protobuf wraps in a message `name`, with the elements as field 1. */
export function wrappedList<S extends SchemaType>(name: string, element: S): ListType<Infer<S>> {
  return typed({ type: 'list', element, wrapper: name });
}

export function map<S extends SchemaType>(value: S): MapType<Infer<S>> {
  return typed({ type: 'map', value });
}

/** Declares `T` by hand, since the type of a recursive declaration can't be inferred. */
export function lazy<T>(resolve: () => StructType<T>): LazyType<T> {
  return typed({ type: 'lazy', resolve });
}

/** Either a struct or `true`/`false`. */
export function structOrBool<T>(name: string, struct: Typed<T> & SchemaType): VariantType<T | boolean> {
  return typed({ type: 'variant', name, alternative: 'bool', struct });
}

/** Either a struct or a list of them. */
export function structOrList<T>(name: string, struct: Typed<T> & SchemaType): VariantType<T | T[]> {
  return typed({ type: 'variant', name, alternative: 'list', struct });
}

/** Either a struct or a list of strings. */
export function structOrStrings<T>(name: string, struct: Typed<T> & SchemaType): VariantType<T | string[]> {
  return typed({ type: 'variant', name, alternative: 'strings', struct });
}

function spec<T, Z, P extends Presence>(
  number: number,
  fieldType: SchemaType,
  presence: P,
  options: FieldOptions,
): FieldSpec<T, Z, P> {
  return typed({ number, presence, fieldType, options });
}

type Value<S extends Typed<unknown, unknown>> = Infer<S>;
type Zero<S extends Typed<unknown, unknown>> = S extends Typed<unknown, infer Z> ? Z : never;
type ZeroWith<S extends Typed<unknown, unknown>, O extends FieldOptions> = O extends { readonly nullable: true }
  ? null
  : Zero<S>;

const noOptions: FieldOptions = {};

/** Required by the schema. Always present in the canonical form; the zero value if not given. */
export function required<S extends SchemaType, O extends FieldOptions = FieldOptions>(
  number: number,
  type: S,
  options?: O,
): FieldSpec<Value<S>, ZeroWith<S, O>, 'required'> {
  return spec(number, type, 'required', options ?? noOptions);
}

/** Not required, but always present in the canonical form. */
export function always<S extends SchemaType, O extends FieldOptions = FieldOptions>(
  number: number,
  type: S,
  options?: O,
): FieldSpec<Value<S>, ZeroWith<S, O>, 'always'> {
  return spec(number, type, 'always', options ?? noOptions);
}

/** Dropped when zero: absent and zero are equal. */
export function optional<S extends SchemaType>(
  number: number,
  type: S,
  options: FieldOptions = noOptions,
): FieldSpec<Value<S>, Zero<S>, 'optional'> {
  return spec(number, type, 'optional', options);
}

/** Dropped only when absent: an explicit zero is kept. */
export function pointer<S extends SchemaType>(
  number: number,
  type: S,
  options: FieldOptions = noOptions,
): FieldSpec<Value<S>, Zero<S>, 'pointer'> {
  return spec(number, type, 'pointer', options);
}

/** The fields of the struct appear in the parent's JSON object. The name of this field is its protobuf name. */
export function inline<T>(number: number, type: StructType<T>): FieldSpec<T, T, 'inline'> {
  return spec(number, type, 'inline', noOptions);
}

/** Options of a list whose elements are identified by these fields, and which patches merge by the first of them. */
export function mergedBy(...keys: readonly [string, ...string[]]): FieldOptions {
  return { listType: 'map', listKeys: keys, patch: { strategy: 'merge', key: keys[0] } };
}

/** Options of a list whose elements are identified by these fields for server-side apply only. */
export function keyedBy(...keys: readonly [string, ...string[]]): FieldOptions {
  return { listType: 'map', listKeys: keys };
}

/** Descriptions of the usual parts of a kind, for declarations without their own. */
const usualParts: Readonly<Record<string, string>> = {
  metadata: "Standard object's metadata: name, labels and other data that every object has.",
  spec: 'What is wanted.',
  status: 'Most recently observed state; written by controllers.',
};

function makeFields(fields: FieldMap, docs: Readonly<Record<string, string>> = {}): Field[] {
  const made: Field[] = [];
  for (const name of Object.keys(fields)) {
    const { number, presence, fieldType, options } = fields[name] as FieldSpec<unknown, unknown, Presence>;
    made.push({
      name,
      protoName: options.protoName ?? name,
      number,
      type: fieldType,
      presence,
      nullable: presence === 'pointer' || options.nullable === true,
      listType: options.listType,
      listKeys: options.listKeys,
      mapType: options.mapType,
      patch: options.patch,
      default: options.default,
      dropped: options.dropped === true,
      gate: options.gate,
      doc: options.doc ?? docs[name],
    });
  }
  return made;
}

export interface StructOptions {
  readonly mapType?: 'atomic';
  readonly doc?: string;
}

/**
 * Declares a struct. Its fields keep their order in the canonical form. The name is unique among all types: package,
 * version and short name (`core.v1.PodSpec`).
 */
export function struct<F extends FieldMap>(
  name: string,
  fields: F,
  options: StructOptions = {},
): StructType<InferFields<F>> {
  return typed({
    type: 'struct',
    name,
    fields: makeFields(fields),
    mapType: options.mapType,
    doc: options.doc,
    kind: undefined,
  });
}

export interface KindOptions extends StructOptions {
  /** The full name, if it does not follow from group, version and kind (for kinds that every group version has). */
  readonly name?: string;
}

/** Declares a type with apiVersion and kind. */
export function kind<F extends FieldMap>(
  identity: KindIdentity,
  fields: F,
  options: KindOptions = {},
): KindType<TypeMeta & InferFields<F>> {
  return typed({
    type: 'struct',
    name: options.name ?? defaultName(identity),
    fields: makeFields(fields, usualParts),
    mapType: options.mapType,
    doc: options.doc,
    kind: identity,
  });
}

function defaultName({ group, version, kind: name }: KindIdentity): string {
  const dot = group.indexOf('.');
  const packageName = group === '' ? 'core' : dot < 0 ? group : group.slice(0, dot);
  return `${packageName}.${version}.${name}`;
}
