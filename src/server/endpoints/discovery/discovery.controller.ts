import { All, Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { KindType } from '../../../base/machinery/schema/index.js';
import { notAcceptableError, pageNotFoundError } from '../../../base/machinery/status-error.js';
import type { OrderedGroup } from '../../aggregation/group-order.js';
import { EndpointServices } from '../endpoint-services.js';
import { HEALTH_CHECKS } from '../health/health.controller.js';
import type { HealthCheck } from '../health/health-checks.js';
import { checkRepresentations, plainJsonType } from '../negotiation/accept.js';
import { compressionThresholdBytes, wantsGzip } from '../negotiation/compression.js';
import { type Packed, packInTurns } from '../negotiation/pack-in-turns.js';
import { sendText, sendValue, setCommonHeaders } from '../negotiation/respond.js';
import { sendPacked } from '../negotiation/send-packed.js';
import { handleRemote } from '../remote/handle-remote.js';
import { remoteVersions } from '../remote/remote-versions.js';
import type { HttpRequestContext } from '../request-info/http-request-context.js';
import { isOfCustomResources, unknownPath } from '../unknown-path.js';
import {
  aggregatedBytes,
  aggregatedGroups,
  aggregatedText,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  type RemoteVersion,
} from './discovery-documents.js';
import { readOnlyPaths } from './read-only-paths.js';

/** The name and version that this server reports. */
export interface VersionInfo {
  readonly major: string;
  readonly minor: string;
  readonly emulationMajor: string;
  readonly emulationMinor: string;
  readonly minCompatibilityMajor: string;
  readonly minCompatibilityMinor: string;
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
  readonly goVersion: string;
  readonly compiler: string;
  readonly platform: string;
}

export const VERSION_INFO = Symbol('VersionInfo');

const aggregatedVersions = ['v2'] as const;

interface HeldDocument {
  readonly content: Promise<Packed>;
  /** The registry's change count when the document was made. */
  readonly changes: number;
  /** The order of the groups, which extension servers may change. */
  readonly order: string;
  readonly remotes: ReadonlyMap<string, RemoteVersion>;
}

/** Discovery of groups, versions and resources, and the version of the server. */
@Controller()
export class DiscoveryController {
  private readonly documents = new Map<string, HeldDocument>();

  constructor(
    @Inject(EndpointServices) private readonly services: EndpointServices,
    @Inject(VERSION_INFO) private readonly version: VersionInfo,
    @Inject(HEALTH_CHECKS) private readonly checks: readonly HealthCheck[],
  ) {}

  @All()
  root(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const checks = new Set(this.checks.flatMap((check) => check.paths.map((path) => `/${path}/${check.name}`)));
    // Some paths are listed both with and without a trailing slash, as in the reference.
    const listed = ['/apis/', '/healthz', '/livez', '/openapi/v3/', '/readyz', ...checks];
    const paths = [...readOnlyPaths(this.services), ...listed];
    this.sendPlain(request, reply, { paths: paths.sort() });
  }

  @Get('api')
  async api(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    if (await this.sendAggregated(request, reply, true)) return;
    const { registry, kinds } = this.services;
    this.send(request, reply, apiVersions(registry, request.host), kinds.apiVersions, true);
  }

  @All('apis')
  async apis(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    if (await this.sendAggregated(request, reply, false)) return;
    this.send(request, reply, apiGroupList(this.services.orderedGroups()), this.services.kinds.apiGroupList);
  }

  @Get('api/:version')
  coreVersion(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const { version } = request.params as { version: string };
    this.sendResources(request, reply, '', version);
  }

  @All('apis/:group')
  group(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const { group } = request.params as { group: string };
    const found = group === '' ? undefined : this.services.orderedGroups().find((g) => g.group === group);
    if (found === undefined) throw pageNotFoundError();
    this.send(request, reply, apiGroup(found), this.services.kinds.apiGroup);
  }

  @Get('apis/:group/:version')
  async groupVersion(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { group, version } = request.params as { group: string; version: string };
    if (group === '') throw pageNotFoundError();
    const remote = this.services.aggregation?.services.remote(group, version);
    if (remote !== undefined) return handleRemote(this.services, remote, request, reply);
    this.sendResources(request, reply, group, version);
  }

  @Get('version')
  versionInfo(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.sendPlain(request, reply, this.version);
  }

  private sendResources(request: FastifyRequest, reply: FastifyReply, group: string, version: string): void {
    const { registry, kinds } = this.services;
    if (!registry.hasGroupVersion(group, version)) {
      throw unknownPath(this.services, group === '' ? `/api/${version}` : `/apis/${group}/${version}`);
    }
    const hasRoutes = !isOfCustomResources(registry, group);
    this.send(request, reply, apiResourceList(registry, group, version), kinds.apiResourceList, hasRoutes);
  }

  /** @param hasRoutes whether the path is one of those that the reference routes by the types that they have */
  private send(request: FastifyRequest, reply: FastifyReply, value: unknown, type: KindType, hasRoutes = false): void {
    const { accept } = this.services;
    const representations = hasRoutes ? accept.mediaTypes() : undefined;
    const accepted = accept.negotiate(plainAccept(request.headers.accept, accept.mediaTypes()), false, {
      representations,
    });
    sendValue({ context: request.plinthContext as HttpRequestContext, reply }, 200, value, accepted, type);
  }

  /** Sends a value that is not an API object. It is always indented JSON, whatever the client accepts. */
  private sendPlain(request: FastifyRequest, reply: FastifyReply, value: unknown): void {
    const context = request.plinthContext as HttpRequestContext;
    checkRepresentations(request.headers.accept, [plainJsonType.contentType]);
    sendText({ context, reply }, 200, plainJsonType.contentType, JSON.stringify(value, null, 2));
  }

  /**
   * Returns a cached document, rebuilt only when resources were added, changed or removed, here or on extension
   * servers.
   */
  private held(
    key: string,
    groups: readonly OrderedGroup[],
    remotes: ReadonlyMap<string, RemoteVersion>,
    make: () => Iterable<string | Uint8Array>,
  ): Promise<Packed> {
    const { changes } = this.services.registry;
    const order = groups.map((one) => `${one.group}/${one.versions.join(',')}`).join(' ');
    const known = this.documents.get(key);
    if (known?.changes === changes && known.order === order && isSame(known.remotes, remotes)) return known.content;
    const content = packInTurns(make());
    this.documents.set(key, { changes, order, remotes, content });
    content.catch(() => {
      if (this.documents.get(key)?.content === content) this.documents.delete(key);
    });
    return content;
  }

  /** Sends the aggregated document if the client prefers it; returns whether it was sent. */
  private async sendAggregated(request: FastifyRequest, reply: FastifyReply, core: boolean): Promise<boolean> {
    const { registry, aggregation, names, kinds } = this.services;
    const group = `apidiscovery.${names.suffix}`;
    const asked = aggregatedForm(request.headers.accept, group, names.protobufMediaTypes);
    if (asked === undefined) return false;
    const { version, mediaType } = asked;
    const isJson = mediaType === jsonType;
    const remotes = core || aggregation === undefined ? noRemotes : await remoteVersions(aggregation);
    const groups = this.services.orderedGroups().filter((one) => (one.group === '') === core);
    const make = () => {
      const items = aggregatedGroups(registry, groups, remotes);
      const apiVersion = `${group}/${version}`;
      return isJson ? aggregatedText(items, apiVersion) : aggregatedBytes(items, apiVersion, kinds.apiGroupDiscovery);
    };
    const packed = await this.held(`${version} ${core} ${isJson}`, groups, remotes, make);
    const etag = `"${packed.digest}"`;
    const context = request.plinthContext as HttpRequestContext;
    const isLong = packed.length > compressionThresholdBytes;
    reply.header('etag', etag).header('vary', isLong ? 'Accept, Accept-Encoding' : 'Accept');
    if (request.headers['if-none-match'] === etag) {
      reply.code(304).send();
      return true;
    }
    const type = `${mediaType};g=${group};v=${version};as=APIGroupDiscoveryList`;
    setCommonHeaders(context, reply);
    await sendPacked(reply, type, packed, isLong && wantsGzip(reply));
    return true;
  }
}

const noRemotes: ReadonlyMap<string, RemoteVersion> = new Map();

/** Whether both contain the same reports of extension servers. Unchanged reports are the same object. */
function isSame(a: ReadonlyMap<string, RemoteVersion>, b: ReadonlyMap<string, RemoteVersion>): boolean {
  if (a.size !== b.size) return false;
  for (const [name, { resources, isCurrent }] of a) {
    const other = b.get(name);
    if (other?.resources !== resources || other.isCurrent !== isCurrent) return false;
  }
  return true;
}

const jsonType = 'application/json';

/**
 * The version and media type of aggregated discovery, if the first clause of the Accept header requests it: clients
 * that want the aggregated form name it first.
 */
function aggregatedForm(
  accept: string | undefined,
  group: string,
  protobufTypes: readonly string[],
): { readonly version: string; readonly mediaType: string } | undefined {
  for (const clause of (accept ?? '').split(',')) {
    const parts = clause.split(';').map((p) => p.trim());
    const [mediaType = ''] = parts;
    if (mediaType !== jsonType && !protobufTypes.includes(mediaType)) continue;
    if (!parts.includes('as=APIGroupDiscoveryList')) return undefined;
    if (!parts.includes(`g=${group}`)) continue;
    const version = aggregatedVersions.find((v) => parts.includes(`v=${v}`));
    if (version !== undefined) return { version, mediaType };
  }
  return undefined;
}

/**
 * The Accept header without the clauses for forms that this path does not have.
 *
 * @throws StatusError NotAcceptable when no other form is accepted
 */
function plainAccept(accept: string | undefined, mediaTypes: readonly string[]): string | undefined {
  if (accept === undefined || !accept.includes('as=')) return accept;
  const plain = accept.split(',').filter((clause) => !clause.includes('as='));
  if (plain.length === 0) throw notAcceptableError(mediaTypes);
  return plain.join(',');
}
