import type { RequestLabels } from '../../observability/metrics.js';
import type { HttpRequestContext } from './http-request-context.js';

/** Verbs that metrics name by their method, as dashboards expect. */
const metricVerbs: Readonly<Record<string, string>> = { create: 'POST', update: 'PUT' };
const emptyLabels = { group: '', version: '', resource: '', subresource: '', scope: '' } as const;
/** HTTP/2 accepts any word as a method. */
const knownMethods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'CONNECT',
  'TRACE',
]);

/**
 * Labels must be bounded, as each combination takes memory forever: unknown resources, subresources, verbs and methods
 * are never used as labels, whatever happened to the request.
 */
export function labelsOf({ resourceRequest, requestInfo, remote }: HttpRequestContext, method: string): RequestLabels {
  const scope = requestInfo.name !== '' ? 'resource' : requestInfo.namespace !== '' ? 'namespace' : 'cluster';
  if (remote !== undefined) {
    const verb = metricVerbs[requestInfo.verb] ?? requestInfo.verb.toUpperCase();
    // What the other server calls a resource is the client's word only.
    return { verb, group: remote.group, version: remote.version, resource: '', subresource: '', scope };
  }
  if (resourceRequest === undefined) return { verb: knownMethods.has(method) ? method : 'other', ...emptyLabels };
  const { definition, served } = resourceRequest.resource;
  return {
    verb: metricVerbs[resourceRequest.verb] ?? resourceRequest.verb.toUpperCase(),
    group: definition.group,
    version: served.version,
    resource: definition.resource,
    subresource: resourceRequest.subresource?.name ?? '',
    scope,
  };
}
