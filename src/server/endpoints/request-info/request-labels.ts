import type { RequestLabels } from '../../../base/observability/metrics.js';
import { isHealthPath } from '../health/health-checks.js';
import type { HttpRequestContext } from './http-request-context.js';

/** The method that metrics show for these verbs, as dashboards expect. */
const metricVerbs: Readonly<Record<string, string>> = { create: 'POST', update: 'PUT' };
/** Subresources whose requests open a connection to another server. */
const connections: ReadonlySet<string> = new Set(['attach', 'exec', 'portforward', 'proxy']);
const emptyLabels = { group: '', version: '', resource: '', scope: '' } as const;
/** The label of each known method. HTTP/2 accepts any word as a method, so unknown ones are not used as labels. */
const methodVerbs: ReadonlyMap<string, string> = new Map([
  ['GET', 'GET'],
  ['HEAD', 'GET'],
  ['POST', 'POST'],
  ['PUT', 'PUT'],
  ['PATCH', 'PATCH'],
  ['DELETE', 'DELETE'],
  ['CONNECT', 'CONNECT'],
]);
/** The common prefix of the media types of server-side apply. */
const applyMediaType = 'application/apply-patch+';

/**
 * Labels must be bounded, as each combination takes memory forever: unknown resources, subresources, verbs and methods
 * are never used as labels, whatever the outcome of the request.
 */
export function labelsOf(context: HttpRequestContext, method: string): RequestLabels {
  const { resourceRequest, requestInfo, remote } = context;
  const scope = requestInfo.name !== '' ? 'resource' : requestInfo.namespace !== '' ? 'namespace' : 'cluster';
  if (remote !== undefined) {
    const verb = metricVerbs[requestInfo.verb] ?? requestInfo.verb.toUpperCase();
    // The resource name on the other server is not verified: the client could send any.
    return { verb, group: remote.group, version: remote.version, resource: '', subresource: '', scope };
  }
  if (resourceRequest === undefined) {
    return { verb: methodVerbs.get(method) ?? 'other', ...emptyLabels, subresource: plainPath(requestInfo.path) };
  }
  const { definition, served } = resourceRequest.resource;
  const subresource = resourceRequest.subresource?.name ?? '';
  return {
    verb: connections.has(subresource) ? 'CONNECT' : resourceVerb(resourceRequest.verb, context.contentType),
    group: definition.group,
    version: served.version,
    resource: definition.resource,
    subresource,
    scope,
  };
}

function resourceVerb(verb: string, contentType: string | undefined): string {
  if (verb === 'patch' && contentType?.startsWith(applyMediaType) === true) return 'APPLY';
  return metricVerbs[verb] ?? verb.toUpperCase();
}

/** Health checks and metrics are labeled by their paths, without the name of a single check. */
function plainPath(path: string): string {
  if (path === '/metrics' || path === '/metrics/slis') return path;
  const [, first = ''] = path.split('/', 2);
  return isHealthPath(first) ? `/${first}` : '';
}
