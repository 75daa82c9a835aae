import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { inTurns } from '../../../base/machinery/turns.js';
import { groupName } from '../../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import type { Aggregation } from '../../aggregation/aggregation.js';
import type { SwaggerParts } from '../../aggregation/swagger-merge.js';
import type { EndpointServices } from '../endpoint-services.js';
import { jsonText } from '../negotiation/json-text.js';
import { type Packed, packInTurns } from '../negotiation/pack-in-turns.js';
import { corePath, groupListPath, groupPath, groupVersionPath, issuerPaths, versionPath } from './discovery-paths.js';
import { openApi3Message } from './document-messages.js';
import type { DocumentInfo } from './document-parts.js';
import { openApi3Document } from './openapi3-document.js';
import type { PathModel } from './operation-model.js';
import { resourcePaths } from './resource-paths.js';
import { bytesInSteps, type DocumentContent, mergedPieces, swaggerBytes, swaggerText } from './swagger-content.js';
import { swaggerPieces } from './swagger-document.js';

export type DocumentForm = 'json' | 'protobuf';

/** A document that is ready to be sent. */
export type OpenApiDocument = Packed;

/** The content of one document. */
interface Source {
  /** The resources that the document describes; when they change, the document must be rebuilt. */
  readonly resources: readonly ServedResource[];
  readonly paths: () => Iterable<PathModel>;
}

interface Held {
  readonly content: readonly unknown[];
  readonly document: Promise<OpenApiDocument>;
}

type Encoder = typeof import('./encode-document.js');

/**
 * OpenAPI documents of everything that the registry serves. Each document is built on the first request, and again
 * after its resources changed. Only compressed bytes are kept: together they take less memory than a single document as
 * a value.
 */
export class OpenApiDocuments {
  private readonly held = new Map<string, Held>();
  private encoder: Encoder | undefined;

  constructor(
    private readonly services: Pick<EndpointServices, 'registry' | 'kinds' | 'names' | 'accept'> & {
      readonly options?: Pick<EndpointServices['options'], 'documentPaths'>;
      readonly aggregation?: Aggregation | undefined;
    },
    private readonly info: DocumentInfo,
  ) {
    services.registry.onChange(({ before }) => this.forget(before));
  }

  /** The Swagger 2.0 document, which covers everything. */
  async swagger(form: DocumentForm): Promise<OpenApiDocument> {
    const remotes = await this.remoteSwaggers();
    const sources = [...this.sources().values()];
    const resources = sources.flatMap((source) => source.resources);
    return this.hold(`v2 ${form}`, [...resources, ...remotes], async () => {
      const own = swaggerPieces(this.info, this.schemaOptions(), pathsOf(sources), this.services.kinds.status);
      const pieces = remotes.length === 0 ? own : await mergedPieces(own, remotes);
      return form === 'json' ? swaggerText(pieces) : swaggerBytes(this.loadEncoder(), pieces);
    });
  }

  /** The documents of extension servers; for unavailable servers, their last known documents. */
  private async remoteSwaggers(): Promise<SwaggerParts[]> {
    const { aggregation } = this.services;
    if (aggregation === undefined) return [];
    const found = await Promise.all(
      aggregation.services.remotes().map(async (remote) => {
        const { swagger } = aggregation.of(remote);
        return (remote.isAvailable ? await swagger.get() : swagger.last).value;
      }),
    );
    return found.filter((parts) => parts !== undefined);
  }

  /** The index of the OpenAPI 3.0 documents of extension servers, by path. */
  async remoteIndex(): Promise<Map<string, string>> {
    const { aggregation } = this.services;
    const remotes = aggregation?.services.remotes() ?? [];
    const found = await Promise.all(
      remotes.map(async (remote) => {
        const { openApi3 } = (aggregation as Aggregation).of(remote);
        const { value = '' } = remote.isAvailable ? await openApi3.get() : openApi3.last;
        return [`apis/${remote.group}/${remote.version}`, value] as const;
      }),
    );
    return new Map(found.filter(([, url]) => url !== ''));
  }

  /** The OpenAPI 3.0 document of a path such as `apis/apps/v1`; undefined for an unknown path. */
  openApi3(path: string, form: DocumentForm): Promise<OpenApiDocument> | undefined {
    const source = this.sourceOf(path);
    return source === undefined ? undefined : this.fromSource(path, source, form);
  }

  /** The paths of the OpenAPI 3.0 documents, with the digests of their JSON. */
  async index(): Promise<Map<string, string>> {
    const digests = new Map<string, string>();
    const sources = this.sources();
    for (const [path, source] of sources) {
      const document = await this.fromSource(path, source, 'json');
      digests.set(path, document.digest);
    }
    return digests;
  }

  /** Drops the documents that describe a resource which is gone or has changed. */
  private forget(definition: ResourceDefinition | undefined): void {
    if (definition === undefined) return;
    const { group, versions } = definition;
    const paths = [`apis/${group}`, ...versions.map(({ version }) => `apis/${group}/${version}`)];
    for (const form of ['json', 'protobuf']) {
      this.held.delete(`v2 ${form}`);
      for (const path of paths) this.held.delete(`v3 ${form} ${path}`);
    }
  }

  private fromSource(path: string, source: Source, form: DocumentForm): Promise<OpenApiDocument> {
    return this.hold(`v3 ${form} ${path}`, source.resources, () => this.openApi3Content(source, form));
  }

  private async *openApi3Content(source: Source, form: DocumentForm): AsyncGenerator<string | Uint8Array> {
    const { kinds, accept } = this.services;
    // Keep references to long schemas, which would otherwise be dropped from memory.
    const schemas = [];
    for (const resource of source.resources) schemas.push(await publishedSchema(resource));
    const options = this.schemaOptions();
    const document = await inTurns(
      openApi3Document(this.info, options, source.paths(), kinds.status, accept.documentedTypes()),
    );
    if (form === 'json') yield* jsonText(document);
    else yield yield* bytesInSteps(this.loadEncoder().encodeDocument(openApi3Message, document));
    schemas.length = 0;
  }

  private hold(
    key: string,
    content: readonly unknown[],
    make: () => DocumentContent | Promise<DocumentContent>,
  ): Promise<OpenApiDocument> {
    const held = this.held.get(key);
    if (held !== undefined && isSame(held.content, content)) return held.document;
    const document = makeDocument(make);
    this.held.set(key, { content, document });
    document.catch(() => {
      if (this.held.get(key)?.document === document) this.held.delete(key);
    });
    return document;
  }

  private sources(): Map<string, Source> {
    const paths = ['api', 'apis', 'version', ...this.issuerPaths().keys()];
    for (const { group, versions } of this.services.registry.groups()) {
      if (group !== '') paths.push(`apis/${group}`);
      for (const version of versions) paths.push(group === '' ? `api/${version}` : `apis/${group}/${version}`);
    }
    return new Map(paths.map((path) => [path, this.sourceOf(path) as Source]));
  }

  /** The content of the document of a path; undefined when nothing is served there. */
  private sourceOf(path: string): Source | undefined {
    const { registry, kinds, names, accept } = this.services;
    const context = { kinds, names, accept };
    const plain = (paths: () => Iterable<PathModel>): Source => ({ resources: none, paths });
    if (path === 'api') return plain(() => [corePath(context)]);
    if (path === 'apis') return plain(() => [groupListPath(context)]);
    if (path === 'version') return plain(() => [versionPath(context)]);
    const issuerPath = this.issuerPaths().get(path);
    if (issuerPath !== undefined) return plain(() => [issuerPath()]);
    const [root, ...parts] = path.split('/');
    const [group, version, ...more] = root === 'api' ? ['', ...parts] : parts;
    if ((root !== 'api' && root !== 'apis') || group === undefined || more.length > 0) return undefined;
    if ((root === 'apis') !== (group !== '')) return undefined;
    if (version === undefined) return registry.hasGroup(group) ? plain(() => [groupPath(context, group)]) : undefined;
    if (!registry.hasGroupVersion(group, version)) return undefined;
    const resources = registry.resourcesOf(group, version);
    const paths = function* () {
      yield groupVersionPath(context, group, version);
      for (const resource of resources) yield* resourcePaths(context, resource);
    };
    return { resources, paths };
  }

  /** The paths of the issuer's documents that the server has. */
  private issuerPaths(): Map<string, () => PathModel> {
    const served = this.services.options?.documentPaths?.() ?? [];
    return new Map(Object.entries(issuerPaths).filter(([path]) => served.includes(`/${path}`)));
  }

  private schemaOptions() {
    const { kinds, names, registry } = this.services;
    return {
      domain: names.suffix,
      descriptions: kinds.descriptions(),
      published: kinds.published(),
      // Kinds added at run time are declared under their served group.
      groupName: (declared: string) => (registry.hasGroup(declared) ? declared : groupName(declared, names)),
    };
  }

  /** Loads the encoder on first use, like the codec of bodies. */
  private loadEncoder(): Encoder {
    this.encoder ??= createRequire(import.meta.url)('./encode-document.js') as Encoder;
    return this.encoder;
  }
}

async function makeDocument(make: () => DocumentContent | Promise<DocumentContent>): Promise<OpenApiDocument> {
  // Clients request many documents in a row, so yield to other requests between them.
  await nextTurn();
  return packInTurns(await make());
}

async function* pathsOf(sources: readonly Source[]): AsyncGenerator<PathModel, void, undefined> {
  for (const source of sources) {
    // Keep references to long schemas, which would otherwise be dropped from memory.
    const schemas = [];
    for (const resource of source.resources) schemas.push(await publishedSchema(resource));
    yield* source.paths();
    schemas.length = 0;
  }
}

/** Prepares the description of a resource with a long schema, yielding to other work. */
function publishedSchema({ served }: ServedResource): Promise<unknown> | undefined {
  return served.type.custom?.published();
}

const none: readonly ServedResource[] = [];

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((resource, i) => resource === b[i]);
}
