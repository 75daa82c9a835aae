import type { GroupVersionKind } from '../group-version.js';

/** Never present at run time: these carry the static types of a value and of its zero form. */
export declare const valueType: unique symbol;
export declare const zeroType: unique symbol;

/**
 * Carries the static types of a declaration. `T` is the canonical value; `Z` is the canonical form of an always-present
 * field that was not given (`null` for lists, maps, times and raw values; a value otherwise).
 */
export interface Typed<T, Z = T> {
  readonly [valueType]: T;
  readonly [zeroType]: Z;
}

export type ScalarName =
  | 'string'
  | 'int32'
  | 'int64'
  | 'bool'
  | 'double'
  | 'bytes'
  | 'quantity'
  | 'time'
  | 'microTime'
  | 'duration'
  | 'intOrString'
  | 'rawExtension'
  | 'fieldsV1'
  | 'anyJson';

export interface ScalarType<T, Z = T> extends Typed<T, Z> {
  readonly type: 'scalar';
  readonly scalar: ScalarName;
}

/**
 * A string with known values. It is open: decoding accepts any string, and validation decides which values are allowed.
 */
export interface EnumType<T extends string = string> extends Typed<T | (string & {})> {
  readonly type: 'enum';
  readonly values: readonly T[];
}

export interface ListType<T> extends Typed<T[], null> {
  readonly type: 'list';
  readonly element: SchemaType;
  /** Set for lists that protobuf wraps in their own message, with the list as field 1. */
  readonly wrapper: string | undefined;
}

/** A JSON object with free keys. Keys are strings. */
export interface MapType<T> extends Typed<Record<string, T>, null> {
  readonly type: 'map';
  readonly value: SchemaType;
}

export interface StructType<T = unknown> extends Typed<T> {
  readonly type: 'struct';
  /** Unique among all types: `core.v1.PodSpec`. */
  readonly name: string;
  /** Fields in declared order, with inline structs not expanded: the protobuf view. */
  readonly fields: readonly Field[];
  /** `atomic`: for server-side apply, one owner has the whole struct. */
  readonly mapType: 'atomic' | undefined;
  readonly doc: string | undefined;
  /** Set if the struct is a kind. */
  readonly kind: KindIdentity | undefined;
  /**
   * Set for kinds made at run time. Their names are complete (`dev.example.v1.Widget`), and their fields beside metadata are
   * sorted.
   */
  readonly custom?: CustomKindForm | undefined;
}

/** A type with apiVersion and kind. In JSON they precede its fields; in protobuf they are not fields. */
export interface KindType<T = unknown> extends StructType<T> {
  readonly kind: KindIdentity;
}

/** Group, version and kind of a declaration; the group does not have its vendor suffix yet. */
export interface KindIdentity extends GroupVersionKind {
  /** Missing for kinds without their own resource (lists, options, nested reviews). */
  readonly scope?: ResourceScope;
}

export type ResourceScope = 'Namespaced' | 'Cluster';

/**
 * A JSON value that is either a struct or something simpler: `bool` (true, false or a struct), `list` (a struct or a
 * list of structs), `strings` (a struct or a list of strings). In protobuf, a message with one field per alternative.
 */
export interface VariantType<T> extends Typed<T> {
  readonly type: 'variant';
  readonly name: string;
  readonly alternative: 'bool' | 'list' | 'strings';
  readonly struct: SchemaType;
}

/** A reference that is resolved on first use, for types that contain themselves. */
export interface LazyType<T> extends Typed<T> {
  readonly type: 'lazy';
  readonly resolve: () => StructType<T>;
}

/** How to read values whose form comes from a schema that was created at run time. */
export interface DecodeOptions {
  /**
   * Keeps nulls of custom values where their schema allows none, for the validation of the kind to refuse. Otherwise they
   * are dropped.
   */
  readonly keepsNulls?: boolean;
}

/** What is known about the values of a {@link CustomType}. Paths are relative to the value. */
export interface CustomForm {
  /**
   * The canonical form of any JSON value, null included: a copy without unknown fields. Wrong types are kept: those are
   * for the validation of the kind. `onUnknown` gets the path of each dropped field (`containers[0].foo`).
   */
  readonly decode: (input: unknown, onUnknown: (path: string) => void, options?: DecodeOptions) => unknown;
  /** How the value is owned, for server-side apply. */
  readonly ownership: () => CustomOwnership;
  /** The JSON shape of the value, for type-checking expressions about it. */
  readonly shape: () => CustomShape;
  /** The published schema, which the caller may change. */
  readonly openApi: PublishCustom;
  /** The column type of the value in SQL. */
  readonly column: 'jsonb' | 'text' | 'time';
}

/**
 * Builds the published schema of a custom value for a version of OpenAPI. `reference` refers to the schema of a
 * declared type.
 */
export type PublishCustom = (
  version: 2 | 3,
  reference: (type: StructType) => Readonly<Record<string, unknown>>,
) => Record<string, unknown>;

/** How field ownership treats a custom value (see `TypeView` of `machinery/field-set`). */
export type CustomOwnership =
  | { readonly kind: 'leaf'; readonly expected: 'string' | 'number' | 'boolean' | 'scalar' | 'list' | 'map' }
  | { readonly kind: 'any' }
  | {
      readonly kind: 'object';
      /** The ownership of a declared field, built on demand: there may be very many fields. */
      readonly field: (name: string) => CustomOwnership | undefined;
      /** The ownership of undeclared fields; undefined if they are not allowed. */
      readonly others: CustomOwnership | undefined;
    }
  | { readonly kind: 'map'; readonly value: CustomOwnership }
  | { readonly kind: 'set' }
  | {
      readonly kind: 'keyed';
      readonly element: CustomOwnership;
      readonly keys: readonly { readonly name: string; readonly default: string | number | boolean | undefined }[];
    };

/** The JSON shape of a custom value; `any` where its schema leaves that open. */
export type CustomShape =
  | { readonly kind: 'any' | 'string' | 'boolean' | 'integer' | 'number' }
  | { readonly kind: 'list'; readonly element: CustomShape }
  | { readonly kind: 'map'; readonly value: CustomShape }
  | {
      readonly kind: 'object';
      /** The shape of a declared field, built on demand: there may be very many fields. */
      readonly field: (name: string) => CustomShape | undefined;
      /** Whether there may be other fields. */
      readonly isOpen: boolean;
    };

/** A value whose form comes from a schema that was made at run time: a part of a custom resource. */
export interface CustomType extends Typed<unknown, null> {
  readonly type: 'custom';
  readonly form: CustomForm;
}

/** The properties of a custom kind besides its fields. */
export interface CustomKindForm {
  /**
   * The canonical form of an object: a copy without unknown fields, sorted, in which kind, apiVersion and metadata are
   * untouched. `onUnknown` receives the path of each dropped field (`spec.containers[0].foo`).
   *
   * @throws DecodeError for parts that must be objects of other kinds, but are not.
   */
  readonly decode: (
    input: Readonly<Record<string, unknown>>,
    onUnknown: (path: string) => void,
    options?: DecodeOptions,
  ) => Readonly<Record<string, unknown>>;
  /** The ownership of undeclared fields, for server-side apply; undefined if they are not allowed. */
  readonly others: CustomOwnership | undefined;
  /**
   * Prepares a long schema for publishing, in turns with other work; undefined when nothing needs to be prepared. As
   * long as the result is referenced, publishing the kind and its fields takes little time at once.
   */
  readonly published: () => Promise<unknown> | undefined;
  /** The published schema of the kind, its fields aside, which the caller may change. */
  readonly openApi: PublishCustom;
  /** Whether the fields are published. If they are not, readers would treat all other fields as unknown. */
  readonly publishesFields: (version: 2 | 3) => boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: any declaration, whatever its value type
type Any = any;

/** Any declaration. Narrow with `type`. */
export type SchemaType =
  | ScalarType<Any, Any>
  | EnumType<Any>
  | ListType<Any>
  | MapType<Any>
  | StructType<Any>
  | VariantType<Any>
  | LazyType<Any>
  | CustomType;

/** Static type of the canonical values of a declaration. */
export type Infer<S extends Typed<unknown, unknown>> = S[typeof valueType];

/**
 * The presence of a field in the canonical form:
 * - `required`: the schema requires it; always present, with its zero value if not given; empty lists and maps are
 *   null.
 * - `always`: not required, but always present (structs, times, quantities, fields without omitempty).
 * - `optional`: dropped when it has its zero value: absent and zero are equal.
 * - `pointer`: dropped only when absent: absent and zero differ.
 * - `inline`: a struct whose fields appear in the parent's JSON object; a nested message in protobuf.
 */
export type Presence = 'required' | 'always' | 'optional' | 'pointer' | 'inline';

export interface PatchOptions {
  readonly strategy: 'merge' | 'replace';
  /** The field that identifies an element; missing for lists of scalars. */
  readonly key?: string;
  /** Clears the members that the patch does not name (`$retainKeys`). */
  readonly retainKeys?: true;
}

export interface FieldOptions {
  /** The protobuf name, if it differs from the JSON name. */
  readonly protoName?: string;
  /** `required` and `always` only: the zero form is `null` (a Go pointer without omitempty). */
  readonly nullable?: true;
  /** How server-side apply treats a list; `atomic` by default. */
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listKeys?: readonly string[];
  /** How server-side apply treats a map or a struct; `granular` by default. */
  readonly mapType?: 'atomic' | 'granular';
  readonly patch?: PatchOptions;
  /** Static default in the published schema (merge keys need it); the kind's defaulting applies it. */
  readonly default?: string | number | boolean;
  /**
   * The field belongs to a feature of the release that is off by default and that this server does not have: it is
   * known and published, but dropped from what clients send. The presence must be `optional` or `pointer`.
   */
  readonly dropped?: true;
  /**
   * The feature gate that the field belongs to: it is known and published, but dropped from what clients send unless the
   * gate is open (`openFieldGates`). The presence must be `optional` or `pointer`.
   */
  readonly gate?: string;
  readonly doc?: string;
}

/** A field, as the builder functions return it; `T` and `Z` as in {@link Typed}. */
export interface FieldSpec<T, Z, P extends Presence> extends Typed<T, Z> {
  readonly number: number;
  readonly presence: P;
  readonly fieldType: SchemaType;
  readonly options: FieldOptions;
}

/** One declared field of a struct. Every member is set, so all fields have the same shape. */
export interface Field {
  /** The JSON name; only a label for inline fields. */
  readonly name: string;
  readonly protoName: string;
  /** Protobuf field number. */
  readonly number: number;
  readonly type: SchemaType;
  readonly presence: Presence;
  readonly nullable: boolean;
  readonly listType: 'atomic' | 'set' | 'map' | undefined;
  readonly listKeys: readonly string[] | undefined;
  readonly mapType: 'atomic' | 'granular' | undefined;
  readonly patch: PatchOptions | undefined;
  readonly default: string | number | boolean | undefined;
  readonly dropped: boolean;
  readonly gate: string | undefined;
  readonly doc: string | undefined;
}

/** Fields by name, as passed to `struct` and `kind`. */
export type FieldMap = Readonly<Record<string, FieldSpec<Any, Any, Presence>>>;

type InlineKeys<F extends FieldMap> = { [K in keyof F]: F[K]['presence'] extends 'inline' ? K : never }[keyof F];

type Intersected<U> = (U extends unknown ? (member: U) => void : never) extends (member: infer I) => void ? I : never;

type InlineFields<F extends FieldMap> = [InlineKeys<F>] extends [never]
  ? unknown
  : Intersected<F[InlineKeys<F>][typeof valueType]>;

/** Static type of a struct with these fields. Properties are mutable, so defaulting can set them. */
export type InferFields<F extends FieldMap> = {
  -readonly [K in keyof F as F[K]['presence'] extends 'required' | 'always' ? K : never]:
    | F[K][typeof valueType]
    | F[K][typeof zeroType];
} & {
  -readonly [K in keyof F as F[K]['presence'] extends 'optional' | 'pointer' ? K : never]?: F[K][typeof valueType];
} & InlineFields<F>;

/** The fields that precede those of a kind. A type, not an interface: only a type makes kinds count as `ApiObject`s. */
export type TypeMeta = {
  kind?: string;
  apiVersion?: string;
};
