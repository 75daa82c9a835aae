import type { Api } from './api.js';
import { anyItem, type Step } from './yaml-path.js';

/** The description of a value in the server's OpenAPI. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly allOf?: readonly Schema[];
  readonly $ref?: string;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
}

interface Document {
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/** The schema of a kind, with those that it refers to. */
export interface KindSchema {
  readonly root: Schema;
  readonly named: Readonly<Record<string, Schema>>;
}

const ref = '#/components/schemas/';
/** References to references end here, whatever an extension server sends. */
const mostSteps = 20;
/** The most schemas that are merged into one: each may refer to several others, or to itself more than once. */
const mostParts = 200;
/** Lists of lists and maps of maps are named to this depth: a schema may be a list of itself. */
const mostNested = 5;

/** The OpenAPI documents of a server, read when they are needed and kept. */
export class Schemas {
  private index: Promise<Readonly<Record<string, string>>> | undefined;
  private readonly documents = new Map<string, Promise<Document>>();

  constructor(private readonly api: Api) {}

  /** The schema of a kind; undefined where the server has none, or can't be reached. */
  async of(apiVersion: string, kind: string): Promise<KindSchema | undefined> {
    try {
      const named = (await this.document(apiVersion)).components?.schemas ?? {};
      const slash = apiVersion.indexOf('/');
      const [group, version] = slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
      const root = Object.values(named).find((schema) =>
        schema['x-kubernetes-group-version-kind']?.some(
          (each) => each.group === group && each.version === version && each.kind === kind,
        ),
      );
      return root === undefined ? undefined : { root, named };
    } catch {
      this.forget(apiVersion);
      return undefined;
    }
  }

  private async document(apiVersion: string): Promise<Document> {
    this.index ??= this.paths();
    const key = apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`;
    const paths = await this.index;
    const path = Object.hasOwn(paths, key) ? paths[key] : undefined;
    if (path === undefined) return {};
    const known = this.documents.get(apiVersion) ?? this.api.json<Document>(path);
    this.documents.set(apiVersion, known);
    return known;
  }

  private async paths(): Promise<Readonly<Record<string, string>>> {
    const { paths = {} } = await this.api.json<{
      readonly paths?: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
    }>('/openapi/v3');
    return Object.fromEntries(Object.entries(paths).map(([key, { serverRelativeURL }]) => [key, serverRelativeURL]));
  }

  private forget(apiVersion: string): void {
    this.index = undefined;
    this.documents.delete(apiVersion);
  }
}

/** The schema at the end of the steps, with references resolved; undefined where the schema says nothing. */
export function schemaAt({ root, named }: KindSchema, path: readonly Step[]): Schema | undefined {
  let schema: Schema | undefined = resolved(root, named);
  for (const step of path) {
    if (schema === undefined) return undefined;
    if (step === anyItem) schema = schema.items;
    else {
      const { properties = {}, additionalProperties } = schema;
      const more = typeof additionalProperties === 'object' ? additionalProperties : undefined;
      schema = Object.hasOwn(properties, step) ? properties[step] : more;
    }
    schema = schema === undefined ? undefined : resolved(schema, named);
  }
  return schema;
}

/** A schema without references: what it says itself goes before what it refers to. */
export function resolved(schema: Schema, named: KindSchema['named']): Schema {
  return merged(schema, named, { parts: 0, steps: 0 });
}

function merged(schema: Schema, named: KindSchema['named'], work: { parts: number; steps: number }): Schema {
  if (work.steps > mostSteps || work.parts++ > mostParts) return schema;
  const parts = [...(schema.allOf ?? [])];
  if (schema.$ref?.startsWith(ref)) {
    const name = schema.$ref.slice(ref.length);
    const target = Object.hasOwn(named, name) ? named[name] : undefined;
    if (target !== undefined) parts.push(target);
  }
  work.steps++;
  const referred = parts.map((part) => merged(part, named, work));
  work.steps--;
  return Object.assign({}, ...referred.toReversed(), schema) as Schema;
}

/** The type of a value, for people. */
export function typeText(schema: Schema, named: KindSchema['named'], depth = 0): string {
  if (schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string') return 'number or text';
  const inner = (of: Schema) => (depth < mostNested ? typeText(resolved(of, named), named, depth + 1) : '…');
  if (schema.type === 'array') return schema.items === undefined ? 'list' : `list of ${inner(schema.items)}`;
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object') {
    return `map of ${inner(schema.additionalProperties)}`;
  }
  const format = schema.format === undefined ? '' : ` (${schema.format})`;
  return `${schema.type ?? 'any'}${format}`;
}

/** Texts that a value may have, where the schema names them. */
export function valuesOf(schema: Schema): readonly string[] {
  const isPlain = (value: unknown) => value !== '' && typeof value !== 'object';
  if (schema.enum !== undefined) return schema.enum.filter(isPlain).map(String);
  return schema.type === 'boolean' ? ['true', 'false'] : [];
}
