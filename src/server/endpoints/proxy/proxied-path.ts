import type { RequestInfo } from '../../../base/machinery/request-context.js';
import { badRequestError } from '../../../base/machinery/status-error.js';

/** The parts of the path of a proxied request. */
export interface ProxiedPath {
  /** The path prefix on this server that leads to the other server, as the client sent it. */
  readonly prefix: string;
  /** The path on the other server, as the client sent it; empty if nothing follows the prefix. */
  readonly rest: string;
  /** The query with its question mark; empty if there is none. */
  readonly query: string;
}

/** Splits the URL of a request. Throws a 400 for characters that a path must not contain. */
export function divideUrl(url: string, info: RequestInfo): ProxiedPath {
  if (!/^[\x21-\x7e]*$/.test(url)) throw badRequestError('the path of the request is not percent-encoded');
  const at = url.indexOf('?');
  const segments = (at < 0 ? url : url.slice(0, at)).split('/');
  // The segments of the prefix: an empty one before the first slash; `api`, the version; the namespace; resource, name
  // and subresource.
  const count = 1 + 2 + (info.namespace === '' ? 0 : 2) + 3;
  const rest = segments.slice(count);
  return {
    prefix: segments.slice(0, count).join('/'),
    rest: rest.length === 0 ? '' : `/${rest.join('/')}`,
    query: at < 0 ? '' : url.slice(at),
  };
}

/** The path on the other server for admission, decoded. */
export function decodedPath({ rest }: ProxiedPath): string {
  return rest.split('/').map(decodeURIComponent).join('/');
}

/**
 * A cookie of the other server, restricted to its own pages: other servers are reached at the same host, under other
 * prefixes.
 *
 * @param cookie a value of `Set-Cookie`
 */
export function rewriteCookie(cookie: string, prefix: string): string {
  const [pair = '', ...attributes] = cookie.split(';');
  const kept = attributes.flatMap((attribute) => {
    const [name = '', value = ''] = attribute.trim().split('=', 2);
    if (name.toLowerCase() === 'domain') return [];
    if (name.toLowerCase() !== 'path' || !value.startsWith('/')) return [attribute];
    return [` Path=${isBehind(value, prefix) ? value : `${prefix}${value}`}`];
  });
  return [pair, ...kept].join(';');
}

/** Encodes a path with which admission replaced the client's. Throws a 400 for a path with `..` segments. */
export function encodedPath(path: string): string {
  const segments = path.split('/');
  if (segments.some((segment) => segment === '.' || segment === '..')) {
    throw badRequestError('the path of the options leads upwards');
  }
  return `${path.startsWith('/') ? '' : '/'}${segments.map(encodeURIComponent).join('/')}`;
}

/**
 * A redirect of the other server, rewritten to lead through this one. A redirect elsewhere stays unchanged: the client
 * decides whether to follow it.
 *
 * @param own host names and ports that the other server uses for itself
 */
export function rewriteLocation(location: string, prefix: string, own: readonly string[]): string {
  let path = location;
  if (/^(?:[A-Za-z][A-Za-z0-9+.-]*:)?\/\//.test(location)) {
    let url: URL;
    try {
      url = new URL(location, 'http://other');
    } catch {
      return location;
    }
    const hosts = own.map((host) => host.toLowerCase());
    const port = url.port || (url.protocol === 'https:' ? '443' : '80');
    if (!hosts.includes(url.host) && !hosts.includes(`${url.hostname}:${port}`)) return location;
    path = `${url.pathname}${url.search}${url.hash}`;
  }
  return !path.startsWith('/') || isBehind(path, prefix) ? path : `${prefix}${path}`;
}

function isBehind(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}
