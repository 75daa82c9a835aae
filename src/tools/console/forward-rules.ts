import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

const methods: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const roots = /^\/(?:api|apis|openapi)(?:\/|$)|^\/(?:version|metrics|history\/(?:version|times))$/;
/** Segments as they stand in paths of the API; all other characters of a name are encoded. */
const plainPath = /^(?:\/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+)+$/;
/** Encoded separators, dots and NUL: other programs could read a different path in them than we do. */
const hiddenInPath = /%(?:2f|5c|2e|00)/i;
/** Subresources that lead to programs in the cluster, whose responses must not come from the origin of the console. */
const streams: ReadonlySet<string> = new Set(['attach', 'exec', 'portforward', 'proxy']);
const textTypes = /^(?:application\/json|application\/yaml|text\/plain)\b/i;
/** The headers that a client may set. We set everything else (users, groups, connections, lengths). */
const requestHeaders = ['accept', 'content-type'] as const;
const answerHeaders = ['warning', 'retry-after', 'audit-id'] as const;

/**
 * The path and query to send to the API server, or why there is none.
 *
 * @param url as it came in the request line
 */
export function forwardedPath(method: string, url: string): { readonly path: string } | { readonly problem: string } {
  if (!methods.has(method)) return { problem: `${method} is not passed on` };
  const [path = '', ...rest] = url.split('?');
  const query = rest.length === 0 ? '' : `?${rest.join('?')}`;
  if (!roots.test(path)) return { problem: 'there is no such page' };
  if (!plainPath.test(path) || hiddenInPath.test(path)) return { problem: 'the path is not one of the API' };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a query can't have
  if (/[\u0000-\u0020\u007f-\uffff#]/.test(query)) return { problem: 'the query is not encoded' };
  const segments = path.split('/').map(decoded);
  if (segments.some((segment) => segment === undefined || segment === '.' || segment === '..')) {
    return { problem: 'the path is not one of the API' };
  }
  if (streams.has(subresourceOf(segments) ?? '')) {
    return { problem: 'the console does not connect to programs in the cluster' };
  }
  return { path: path + query };
}

/** Requests that ask about the user, and write nothing. */
const reviews =
  /^\/apis\/auth(?:orization|entication)\.([a-z0-9.-]+)\/v\d[a-z0-9]*\/selfsubject(?:access|rules)?reviews(?:\?|$)/;

/**
 * Whether a request that is passed on changes nothing.
 *
 * @param suffix of the server's own groups: a custom kind of another group may have the name of a review, and be stored
 */
export function isRead(method: string, url: string, suffix: string): boolean {
  return method === 'GET' || method === 'HEAD' || (method === 'POST' && reviews.exec(url)?.[1] === suffix);
}

/** Where a terminal may connect to: a program in a pod, and nothing else. */
const terminals = /^(\/api\/v1\/namespaces\/[^/]+\/pods\/[^/]+)\/(?:exec|attach)$/;

/**
 * The path and query of a terminal to send to the API server, or why there is none. The path of its pod passes the same
 * rules as all others.
 *
 * @param url as it came in the request line
 */
export function terminalPath(method: string, url: string): { readonly path: string } | { readonly problem: string } {
  const [path = '', ...rest] = url.split('?');
  const pod = terminals.exec(path)?.[1];
  if (pod === undefined) return { problem: 'only terminals of pods are connected' };
  const checked = forwardedPath(method, [pod, ...rest].join('?'));
  return 'problem' in checked ? checked : { path: url };
}

/** The part after the name of an object; for old paths below a verb, the verb. */
function subresourceOf(segments: readonly (string | undefined)[]): string | undefined {
  const inGroup = segments.slice(segments[1] === 'apis' ? 4 : 3);
  if (inGroup[0] === 'proxy') return inGroup[0];
  const inNamespace = inGroup[0] === 'namespaces' && inGroup.length > 3 ? inGroup.slice(2) : inGroup;
  return inNamespace[2];
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** The headers to send, with the credentials of the session and none that the browser chose. */
export function forwardedHeaders(headers: IncomingHttpHeaders, authorization: string | undefined): OutgoingHttpHeaders {
  const sent: OutgoingHttpHeaders = { 'user-agent': 'plinth-console' };
  for (const name of requestHeaders) {
    const value = headers[name];
    if (value !== undefined) sent[name] = value;
  }
  if (authorization !== undefined) sent.authorization = authorization;
  return sent;
}

/** The headers of a response that a browser receives. Content types that a browser could run are removed. */
export function answeredHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const type = headers['content-type'];
  const answered: OutgoingHttpHeaders = {
    'content-type': type !== undefined && textTypes.test(type) ? type : 'application/octet-stream',
    'cache-control': 'no-store',
  };
  for (const name of answerHeaders) {
    const value = headers[name];
    if (typeof value === 'string') answered[name] = value;
  }
  return answered;
}
