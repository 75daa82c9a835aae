import { resolveType } from './access.js';
import { zeroMaker } from './compile.js';
import type { Field, KindIdentity, ScalarName, SchemaType, StructType } from './types.js';

/** One schema of an OpenAPI document. */
export interface OpenApiSchema {
  $ref?: string;
  allOf?: OpenApiSchema[];
  oneOf?: OpenApiSchema[];
  anyOf?: OpenApiSchema[];
  type?: string;
  format?: string;
  nullable?: boolean;
  description?: string;
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

export interface OpenApiOptions {
  /** 2 for Swagger 2.0 documents, 3 for OpenAPI 3.0 ones. */
  readonly version: 2 | 3;
  /** Served name of a declared group: `networking` with the vendor suffix. */
  readonly groupName: (declaredGroup: string) => string;
  /** The vendor's domain, with which the names of definitions begin, reversed. */
  readonly domain: string;
  readonly descriptions?: FieldDescriptions;
}

/** Packages of types that are declared outside `<domain>.api`. */
const packagePrefixes: Readonly<Record<string, string>> = {
  meta: 'apimachinery.pkg.apis',
  apiextensions: 'apiextensions-apiserver.pkg.apis',
  apiregistration: 'kube-aggregator.pkg.apis',
};

const sharedScalars: Partial<Record<ScalarName, string>> = {
  quantity: 'apimachinery.pkg.api.resource.Quantity',
  time: 'apimachinery.pkg.apis.meta.v1.Time',
  microTime: 'apimachinery.pkg.apis.meta.v1.MicroTime',
  duration: 'apimachinery.pkg.apis.meta.v1.Duration',
  intOrString: 'apimachinery.pkg.util.intstr.IntOrString',
  rawExtension: 'apimachinery.pkg.runtime.RawExtension',
  fieldsV1: 'apimachinery.pkg.apis.meta.v1.FieldsV1',
};

/** In the place of a definition that was taken. */
const takenSchema: OpenApiSchema = {};

/**
 * Builds the schemas of an OpenAPI document from declarations. Every requested type, and every type that it refers to,
 * is added to `definitions` once, under a unique name.
 */
export class OpenApiBuilder {
  /** Schemas by definition name, in the order of their first use. */
  readonly definitions: Record<string, OpenApiSchema> = {};
  /** Names of the definitions that have not been taken. */
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
    if (type.custom !== undefined) return type.name;
    const packageName = type.name.slice(0, type.name.indexOf('.'));
    return `${this.prefix}.${packagePrefixes[packageName] ?? 'api'}.${type.name}`;
  }

  /** A reference to a struct's definition, which is created on first use. */
  reference(type: StructType): OpenApiSchema {
    const name = this.nameOf(type);
    if (this.definitions[name] === undefined) {
      const schema: OpenApiSchema = {};
      // Registered before its fields are visited: they may refer back to it.
      this.definitions[name] = schema;
      this.fresh.push(name);
      Object.assign(schema, this.structSchema(type));
    }
    return { $ref: this.refPrefix + name };
  }

  /**
   * The definitions that were added since the last call. The builder keeps their names alone, so that documents of
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
        return { type: 'array', items: this.elementSchema(resolved.element) };
      case 'map':
        return { type: 'object', additionalProperties: this.elementSchema(resolved.value) };
      case 'struct':
        return this.reference(resolved);
      case 'variant':
        // Swagger 2.0 can't express "one of", so allow any value.
        return {};
      case 'custom':
        return resolved.form.openApi(this.options.version, this.toReference) as OpenApiSchema;
    }
  }

  /** A missing element or map value is shown in its zero form. */
  private elementSchema(type: SchemaType): OpenApiSchema {
    const schema = this.schemaOf(type);
    return zeroIsNull(type) ? this.beside(schema, this.orNull()) : schema;
  }

  /** Allows null, in the syntax of the OpenAPI version. */
  private orNull(): OpenApiSchema {
    return this.options.version === 3 ? { nullable: true } : { 'x-nullable': true };
  }

  private beside(schema: OpenApiSchema, extras: OpenApiSchema): OpenApiSchema {
    // Readers of version 3 would ignore members next to a `$ref`.
    if (schema.$ref !== undefined && this.options.version === 3) return { allOf: [schema], ...extras };
    return { ...schema, ...extras };
  }

  private scalarSchema(scalar: ScalarName): OpenApiSchema {
    const shared = sharedScalars[scalar];
    if (shared === undefined) return plainScalar(scalar, this.options.version);
    const name = `${this.prefix}.${shared}`;
    const description = this.options.descriptions?.scalars?.[scalar];
    if (this.definitions[name] === undefined) {
      this.fresh.push(name);
      this.definitions[name] = {
        ...(description === undefined ? {} : { description }),
        ...plainScalar(scalar, this.options.version),
      };
    }
    return { $ref: this.refPrefix + name };
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
      properties.apiVersion = { description: 'Version that the object is written in.', type: 'string' };
      properties.kind = { description: 'Kind of the object.', type: 'string' };
    }
    const requiredNames: string[] = Array.isArray(wanted) ? [...(wanted as string[])] : [];
    if (hasFields) this.addFields(type, properties, requiredNames);
    if (Object.keys(properties).length > 0) schema.properties = properties;
    if (requiredNames.length > 0) schema.required = requiredNames;
    if (type.mapType !== undefined) schema['x-kubernetes-map-type'] = type.mapType;
    if (type.kind !== undefined) schema['x-kubernetes-group-version-kind'] = [this.groupVersionKind(type.kind)];
    return schema;
  }

  private groupVersionKind({ group, version, kind }: KindIdentity): Record<string, string> {
    return { group: this.options.groupName(group), kind, version };
  }

  /** Adds a struct's fields. Inline structs are expanded; the struct that declares a field describes it. */
  private addFields(type: StructType, properties: Record<string, OpenApiSchema>, requiredNames: string[]): void {
    const descriptions = this.descriptionsOf(type);
    for (const field of type.fields) {
      if (field.presence === 'inline') {
        this.addFields(field.type as StructType, properties, requiredNames);
        continue;
      }
      properties[field.name] = this.fieldSchema(field, field.doc ?? descriptions?.[field.name]);
      if (field.presence === 'required') requiredNames.push(field.name);
    }
  }

  private descriptionsOf({ name }: StructType): Readonly<Record<string, string>> | undefined {
    return this.options.descriptions?.[versionlessName(name)];
  }

  private fieldSchema(field: Field, description: string | undefined): OpenApiSchema {
    const schema = this.schemaOf(field.type);
    const extras = { ...fieldExtras(field, description), ...(showsNull(field) ? this.orNull() : {}) };
    return Object.keys(extras).length === 0 ? schema : this.beside(schema, extras);
  }
}

/** Whether an always-present field is null when it was not given. */
function showsNull({ name, type, presence, nullable }: Field): boolean {
  if (presence !== 'required' && presence !== 'always') return false;
  return nullable || (zeroIsNull(type) && name !== 'items');
}

function zeroIsNull(type: SchemaType): boolean {
  const resolved = resolveType(type);
  return resolved.type !== 'struct' && resolved.type !== 'custom' && zeroMaker(resolved)() === null;
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
        ? // Swagger 2.0 has no type that is either: without one, every client and validator takes both.
          { format: 'int-or-string', 'x-kubernetes-int-or-string': true }
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

function fieldExtras(field: Field, description: string | undefined): OpenApiSchema {
  const extras: OpenApiSchema = {};
  if (description !== undefined) extras.description = description;
  if (field.default !== undefined) extras.default = field.default;
  if (field.mapType !== undefined) extras['x-kubernetes-map-type'] = field.mapType;
  const isList = resolveType(field.type).type === 'list';
  if (isList) extras['x-kubernetes-list-type'] = field.listType ?? 'atomic';
  if (field.listKeys !== undefined) extras['x-kubernetes-list-map-keys'] = [...field.listKeys];
  if (field.patch !== undefined) {
    const { strategy, key, retainKeys } = field.patch;
    // A struct is always merged, so this needs no mention.
    const strategies = retainKeys === true ? (isList ? [strategy, 'retainKeys'] : ['retainKeys']) : [strategy];
    extras['x-kubernetes-patch-strategy'] = strategies.join(',');
    if (key !== undefined) extras['x-kubernetes-patch-merge-key'] = key;
  }
  return extras;
}
