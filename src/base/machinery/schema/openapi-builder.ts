import { resolveType } from './access.js';
import { zeroMaker } from './compile.js';
import type { Field, ScalarName, SchemaType, StructType } from './types.js';

/** One schema of an OpenAPI document. */
export interface OpenApiSchema {
  $ref?: string;
  allOf?: OpenApiSchema[];
  oneOf?: OpenApiSchema[];
  anyOf?: OpenApiSchema[];
  type?: string;
  format?: string;
  description?: string;
  enum?: unknown[];
  default?: unknown;
  properties?: Record<string, OpenApiSchema>;
  required?: string[];
  items?: OpenApiSchema;
  additionalProperties?: OpenApiSchema;
  [extension: `x-${string}`]: unknown;
}

/**
 * Descriptions for declarations without their own, by type and field: `core.PodSpec` stands for this type in every
 * version, the empty field name for the type itself. The fields of `scalars` are named values with their own schemas. A
 * description in the declaration takes precedence.
 */
export type FieldDescriptions = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What a release publishes about its types beyond the declarations. Types are named as in declarations. */
export interface PublishedInfo {
  /** Values of fields, separated by bars, by type of every version (`core.Probe`) or of one (`core.v1.Probe`). */
  readonly enumValues: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The required fields of types whose declarations differ. */
  readonly requiredFields: Readonly<Record<string, readonly string[]>>;
  /** Types of which at most one member may be set. */
  readonly unions: Readonly<Record<string, { readonly members: readonly string[]; readonly discriminator?: string }>>;
  /** Versions, separated by spaces, of the groups whose requests can contain options and events of watches. */
  readonly optionGroups: Readonly<Record<string, string>>;
}

export interface OpenApiOptions {
  /** 2 for Swagger 2.0 documents, 3 for OpenAPI 3.0 ones. */
  readonly version: 2 | 3;
  /** Served name of a declared group: `networking` with the vendor suffix. */
  readonly groupName: (declaredGroup: string) => string;
  /** The vendor's domain: names of definitions begin with it, in reverse order. */
  readonly domain: string;
  readonly descriptions?: FieldDescriptions;
  readonly published?: PublishedInfo;
}

/** Kinds that every group has, although their declarations name only the core group. */
const kindsOfEveryGroup: ReadonlySet<string> = new Set(['meta.v1.DeleteOptions', 'meta.v1.WatchEvent']);

/** Packages of types that are declared outside `<domain>.api`. */
const packagePrefixes: Readonly<Record<string, string>> = {
  meta: 'apimachinery.pkg.apis',
  apiextensions: 'apiextensions-apiserver.pkg.apis',
  apiregistration: 'kube-aggregator.pkg.apis',
  version: 'apimachinery.pkg',
};

const sharedScalars: Partial<Record<ScalarName, string>> = {
  quantity: 'apimachinery.pkg.api.resource.Quantity',
  time: 'apimachinery.pkg.apis.meta.v1.Time',
  microTime: 'apimachinery.pkg.apis.meta.v1.MicroTime',
  duration: 'apimachinery.pkg.apis.meta.v1.Duration',
  intOrString: 'apimachinery.pkg.util.intstr.IntOrString',
  rawExtension: 'apimachinery.pkg.runtime.RawExtension',
  fieldsV1: 'apimachinery.pkg.apis.meta.v1.FieldsV1',
  anyJson: 'apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON',
};

/** Stands for a definition that {@link OpenApiBuilder.takeDefinitions} has returned. */
const takenSchema: OpenApiSchema = {};

/**
 * Builds the schemas of an OpenAPI document from declarations. Every requested type, and every type that it refers to,
 * is added to `definitions` once, under a unique name.
 */
export class OpenApiBuilder {
  /** Schemas by definition name, in the order of their first use. */
  readonly definitions: Record<string, OpenApiSchema> = {};
  /** Names of the definitions that were added since the last call of {@link takeDefinitions}. */
  private fresh: string[] = [];
  private readonly prefix: string;
  private readonly refPrefix: string;
  private readonly toReference = (type: StructType) => ({ ...this.reference(type) });

  constructor(private readonly options: OpenApiOptions) {
    this.prefix = options.domain.split('.').reverse().join('.');
    this.refPrefix = options.version === 2 ? '#/definitions/' : '#/components/schemas/';
  }

  /** The definition name of a struct, without defining it. */
  nameOf(type: StructType): string {
    return type.custom === undefined ? this.fullName(type.name) : type.name;
  }

  private fullName(name: string): string {
    const packageName = name.slice(0, name.indexOf('.'));
    return `${this.prefix}.${packagePrefixes[packageName] ?? 'api'}.${name}`;
  }

  /** A reference to a struct's definition, which is created on first use. */
  reference(type: StructType): OpenApiSchema {
    return this.define(this.nameOf(type), () => this.structSchema(type));
  }

  private define(name: string, make: () => OpenApiSchema): OpenApiSchema {
    if (this.definitions[name] === undefined) {
      const schema: OpenApiSchema = {};
      // Registered before it is made: fields of a type may refer back to it.
      this.definitions[name] = schema;
      this.fresh.push(name);
      Object.assign(schema, make());
    }
    return { $ref: this.refPrefix + name };
  }

  /**
   * The definitions that were added since the last call. The builder keeps only their names, so that documents of
   * thousands of types can be written piece by piece.
   */
  takeDefinitions(): Record<string, OpenApiSchema> {
    const taken: Record<string, OpenApiSchema> = {};
    for (const name of this.fresh) {
      taken[name] = this.definitions[name] as OpenApiSchema;
      this.definitions[name] = takenSchema;
    }
    this.fresh = [];
    return taken;
  }

  /** The schema of any type; structs and shared scalars as references. */
  schemaOf(type: SchemaType): OpenApiSchema {
    const resolved = resolveType(type);
    switch (resolved.type) {
      case 'scalar':
        return this.scalarSchema(resolved.scalar);
      case 'enum':
        return { type: 'string' };
      case 'list':
        return { type: 'array', items: this.schemaOf(resolved.element) };
      case 'map':
        return { type: 'object', additionalProperties: this.schemaOf(resolved.value) };
      case 'struct':
        return this.reference(resolved);
      case 'variant':
        return this.variantSchema(resolved.name);
      case 'custom':
        return resolved.form.openApi(this.options.version, this.toReference) as OpenApiSchema;
    }
  }

  /** Swagger 2.0 can't express "one of", so any value is allowed. */
  private variantSchema(name: string): OpenApiSchema {
    const description = this.options.descriptions?.[versionlessName(name)]?.[''];
    return this.define(this.fullName(name), () => (description === undefined ? {} : { description }));
  }

  private beside(schema: OpenApiSchema, extras: OpenApiSchema): OpenApiSchema {
    // Readers of version 3 would ignore members next to a `$ref`.
    if (schema.$ref !== undefined && this.options.version === 3) return { allOf: [schema], ...extras };
    return { ...schema, ...extras };
  }

  private scalarSchema(scalar: ScalarName): OpenApiSchema {
    const shared = sharedScalars[scalar];
    if (shared === undefined) return plainScalar(scalar, this.options.version);
    const description = this.options.descriptions?.scalars?.[scalar];
    return this.define(`${this.prefix}.${shared}`, () => ({
      ...(description === undefined ? {} : { description }),
      ...plainScalar(scalar, this.options.version),
    }));
  }

  private structSchema(type: StructType): OpenApiSchema {
    const { version } = this.options;
    const { required: wanted, ...known } = type.custom?.openApi(version, this.toReference) ?? {};
    const schema = known as OpenApiSchema;
    const description = type.doc ?? this.descriptionsOf(type)?.[''];
    if (description !== undefined) schema.description = description;
    schema.type = 'object';
    const properties: Record<string, OpenApiSchema> = {};
    const hasFields = type.custom?.publishesFields(version) !== false;
    if (type.kind !== undefined && hasFields) {
      properties.apiVersion = {
        description: 'APIVersion defines the version that the object is written in.',
        type: 'string',
      };
      properties.kind = { description: 'Kind of the object.', type: 'string' };
    }
    const requiredNames: string[] = Array.isArray(wanted) ? [...(wanted as string[])] : [];
    if (hasFields) this.addFields(type, type, properties, requiredNames);
    if (Object.keys(properties).length > 0) schema.properties = properties;
    const { requiredFields, unions } = this.options.published ?? {};
    const names = requiredFields?.[type.name] ?? requiredNames;
    if (names.length > 0) schema.required = [...names];
    if (type.mapType !== undefined) schema['x-kubernetes-map-type'] = type.mapType;
    const union = unions?.[type.name];
    if (union !== undefined) schema['x-kubernetes-unions'] = [unionExtension(union)];
    const kinds = this.groupVersionKinds(type);
    if (kinds.length > 0) schema['x-kubernetes-group-version-kind'] = kinds;
    return schema;
  }

  private groupVersionKinds({ name, kind }: StructType): Record<string, string>[] {
    const { version, groupName, published } = this.options;
    if (!kindsOfEveryGroup.has(name)) {
      return kind === undefined ? [] : [{ group: groupName(kind.group), kind: kind.kind, version: kind.version }];
    }
    const everyGroup: Readonly<Record<string, string>> = (version === 2 && published?.optionGroups) || { '': 'v1' };
    const short = name.slice(name.lastIndexOf('.') + 1);
    return Object.entries(everyGroup).flatMap(([group, versions]) =>
      versions.split(' ').map((each) => ({ group: groupName(group), kind: short, version: each })),
    );
  }

  /**
   * Adds the fields of a struct, which is the root or inline in it. Inline structs are expanded; descriptions come from
   * the struct that declares a field, published values from the root.
   */
  private addFields(
    root: StructType,
    type: StructType,
    properties: Record<string, OpenApiSchema>,
    requiredNames: string[],
  ): void {
    const descriptions = this.descriptionsOf(type);
    for (const field of type.fields) {
      if (field.presence === 'inline') {
        this.addFields(root, field.type as StructType, properties, requiredNames);
        continue;
      }
      properties[field.name] = this.fieldSchema(root, field, field.doc ?? descriptions?.[field.name]);
      if (field.presence === 'required') requiredNames.push(field.name);
    }
  }

  private descriptionsOf({ name }: StructType): Readonly<Record<string, string>> | undefined {
    return this.options.descriptions?.[versionlessName(name)];
  }

  private fieldSchema(owner: StructType, field: Field, description: string | undefined): OpenApiSchema {
    const schema = this.schemaOf(field.type);
    const { enumValues } = this.options.published ?? {};
    const values = enumValues?.[owner.name]?.[field.name] ?? enumValues?.[versionlessName(owner.name)]?.[field.name];
    if (values !== undefined) (schema.items ?? schema.additionalProperties ?? schema).enum = values.split('|');
    const extras = fieldExtras(owner, field, description);
    // In version 2, fields of declared types have no defaults.
    const preset =
      this.options.version === 2 || owner.custom !== undefined ? undefined : (field.default ?? zeroDefault(field));
    if (preset !== undefined) extras.default = preset;
    return Object.keys(extras).length === 0 ? schema : this.beside(schema, extras);
  }
}

function unionExtension(union: { readonly members: readonly string[]; readonly discriminator?: string }): object {
  const { members, discriminator } = union;
  const named = Object.fromEntries(members.map((member) => [member, member.charAt(0).toUpperCase() + member.slice(1)]));
  return { ...(discriminator === undefined ? {} : { discriminator }), 'fields-to-discriminateBy': named };
}

/**
 * The value of a field that is always written when it was not given; lists, maps, times and pointers have no such
 * default.
 */
function zeroDefault({ type, presence, nullable }: Field): unknown {
  if ((presence !== 'required' && presence !== 'always') || nullable) return undefined;
  const resolved = resolveType(type);
  if (resolved.type === 'struct') return {};
  if (resolved.type !== 'enum' && (resolved.type !== 'scalar' || sharedScalars[resolved.scalar] !== undefined)) {
    return undefined;
  }
  return zeroMaker(resolved)() ?? undefined;
}

function plainScalar(scalar: ScalarName, version: 2 | 3): OpenApiSchema {
  switch (scalar) {
    case 'string':
    case 'duration':
      return { type: 'string' };
    case 'int32':
    case 'int64':
      return { type: 'integer', format: scalar };
    case 'bool':
      return { type: 'boolean' };
    case 'double':
      return { type: 'number', format: 'double' };
    case 'bytes':
      return { type: 'string', format: 'byte' };
    case 'time':
    case 'microTime':
      return { type: 'string', format: 'date-time' };
    case 'quantity':
      return version === 2 ? { type: 'string' } : { oneOf: [{ type: 'string' }, { type: 'number' }] };
    case 'intOrString':
      return version === 2
        ? // Swagger 2.0 has no type that is either; readers know the format.
          { type: 'string', format: 'int-or-string' }
        : { oneOf: [{ type: 'integer' }, { type: 'string' }], format: 'int-or-string' };
    case 'rawExtension':
    case 'fieldsV1':
      return { type: 'object' };
    case 'anyJson':
      return {};
  }
}

/** The name under which a type's descriptions are stored: `core.PodSpec` for `core.v1.PodSpec`. */
export function versionlessName(name: string): string {
  return name.slice(0, name.indexOf('.')) + name.slice(name.lastIndexOf('.'));
}

function fieldExtras(owner: StructType, field: Field, description: string | undefined): OpenApiSchema {
  const extras: OpenApiSchema = {};
  if (description !== undefined) extras.description = description;
  if (field.mapType !== undefined) extras['x-kubernetes-map-type'] = field.mapType;
  const resolved = resolveType(field.type);
  const isList = resolved.type === 'list';
  // Lists of kinds are never applied: the server makes them. Neither are verbs, a type of their own.
  const isApplied = isList && resolved.wrapper === undefined && !(owner.kind !== undefined && field.name === 'items');
  const listType = field.listType ?? (isApplied ? 'atomic' : undefined);
  if (listType !== undefined) extras['x-kubernetes-list-type'] = listType;
  if (field.listKeys !== undefined) extras['x-kubernetes-list-map-keys'] = [...field.listKeys];
  if (field.patch !== undefined) {
    const { strategy, key, retainKeys } = field.patch;
    // Structs are always merged, so a lone `merge` strategy is not mentioned.
    const strategies = retainKeys === true ? (isList ? [strategy, 'retainKeys'] : ['retainKeys']) : [strategy];
    extras['x-kubernetes-patch-strategy'] = strategies.join(',');
    if (key !== undefined) extras['x-kubernetes-patch-merge-key'] = key;
  }
  return extras;
}
