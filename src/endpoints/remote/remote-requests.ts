import type { Aggregation } from '../../aggregation/aggregation.js';
import type { RemoteApiService } from '../../aggregation/known-api-service.js';
import type { HttpRequestContext } from '../request-info/http-request-context.js';
import { upgradeOf } from '../web-sockets.js';

/** Subresources whose answers last as long as their clients read. */
const lasting: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** Whether a request may last as long as its client reads: the log of a pod, or what an extension server may let last. */
export function mayLast(aggregation: Aggregation | undefined, context: HttpRequestContext, response: object): boolean {
  const { apiPrefix, apiGroup, apiVersion, verb, resource, subresource } = context.requestInfo;
  if (apiPrefix !== 'apis') return resource === 'pods' && subresource === 'log' && verb === 'get';
  if (verb !== 'proxy' && !lasting.has(subresource) && upgradeOf(response) === undefined) return false;
  return aggregation?.services.remote(apiGroup, apiVersion) !== undefined;
}

/** The extension server that answers a path, as far as the unparsed path tells. */
export function remoteOf(aggregation: Aggregation | undefined, url: string): RemoteApiService | undefined {
  const [, prefix, group = '', version = ''] = url.split(/[/?]/, 4);
  return prefix === 'apis' ? aggregation?.services.remote(group, version) : undefined;
}
