import { ownValue } from '../../../base/machinery/own-value.js';
import type { Aggregation } from '../../aggregation/aggregation.js';
import type { RemoteApiService } from '../../aggregation/known-api-service.js';
import type { HttpRequestContext } from '../request-info/http-request-context.js';
import { upgradeOf } from '../web-sockets.js';

/** Subresources whose responses last as long as their clients read. */
const longRunningSubresources: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** Subresources of the core group that may be long-running. */
const connections: Readonly<Record<string, ReadonlySet<string>>> = {
  pods: longRunningSubresources,
  services: new Set(['proxy']),
  nodes: new Set(['proxy']),
};

/** Paths whose requests may be upgraded. The parsed path decides later. */
const upgradable =
  /^\/api\/v1\/(?:namespaces\/[^/?]+\/(?:pods\/[^/?]+\/(?:attach|exec|portforward|proxy)|services\/[^/?]+\/proxy)|nodes\/[^/?]+\/proxy)(?:[/?]|$)/;

/**
 * Whether a request may last as long as its client reads: a connection to a node, or a long-running request to an
 * extension server.
 */
export function mayBeLongRunning(
  aggregation: Aggregation | undefined,
  context: HttpRequestContext,
  response: object,
): boolean {
  const { apiPrefix, apiGroup, apiVersion, verb, resource, subresource } = context.requestInfo;
  if (apiPrefix !== 'apis') return apiVersion === 'v1' && ownValue(connections, resource)?.has(subresource) === true;
  if (verb !== 'proxy' && !longRunningSubresources.has(subresource) && upgradeOf(response) === undefined) return false;
  return aggregation?.services.remote(apiGroup, apiVersion) !== undefined;
}

/** Whether the path of an upgrade request leads to another server, judged by the unparsed path. */
export function mayUpgrade(aggregation: Aggregation | undefined, url: string): boolean {
  return upgradable.test(url) || remoteOf(aggregation, url) !== undefined;
}

/** The extension server that serves a path, judged by the unparsed path. */
export function remoteOf(aggregation: Aggregation | undefined, url: string): RemoteApiService | undefined {
  const [, prefix, group = '', version = ''] = url.split(/[/?]/, 4);
  return prefix === 'apis' ? aggregation?.services.remote(group, version) : undefined;
}
