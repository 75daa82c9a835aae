import { exactFieldValue } from '../../../base/machinery/field-selector.js';
import { isPathSegmentName } from '../../../base/machinery/names.js';
import { ownValue } from '../../../base/machinery/own-value.js';
import type { RequestInfo, Verb } from '../../../base/machinery/request-context.js';
import { badRequestError } from '../../../base/machinery/status-error.js';

const methodVerbs: Readonly<Record<string, Verb>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Second segments below a namespace that are its subresources, not resources in it. */
const namespaceSubresources: ReadonlySet<string> = new Set(['status', 'finalize']);

/** First segments that name the verb instead of a resource: old spellings of `?watch=true` and of proxying. */
const verbSegments: ReadonlySet<string> = new Set(['watch', 'proxy']);

const selectingVerbs: ReadonlySet<Verb> = new Set(['list', 'watch', 'deletecollection']);

const noParts: readonly string[] = Object.freeze([]);

/**
 * Determines which resource and action a request is for (specification 4.1). Paths are taken literally: empty, `.` and
 * `..` segments are never removed, so `/api/v1//secrets` is not a resource request. Throws a 400 for invalid
 * percent-encoding in the path.
 *
 * @param path the path without its query, still percent-encoded
 */
export function parseRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const segments = decodeSegments(path);
  const prefix = segments[0];
  const isCore = prefix === 'api' && segments.length >= 3;
  const isNamed = prefix === 'apis' && segments.length >= 4;
  const mayBeEmptyFrom = isCore ? endOfProxyPath(segments) : segments.length;
  if ((!isCore && !isNamed) || segments.some((s, i) => (s === '' && i < mayBeEmptyFrom) || s === '.' || s === '..')) {
    return nonResource(method, path);
  }
  const apiGroup = isCore ? '' : (segments[1] as string);
  const apiVersion = segments[isCore ? 1 : 2] as string;
  let parts = segments.slice(isCore ? 2 : 3);

  let verb: Verb = ownValue(methodVerbs, method) ?? '';
  let isVerbInPath = false;
  if (parts.length > 1 && verbSegments.has(parts[0] as string)) {
    verb = parts[0] as string;
    isVerbInPath = true;
    parts = parts.slice(1);
  }

  let namespace = '';
  if (parts[0] === 'namespaces' && parts.length > 1) {
    namespace = parts[1] as string;
    if (parts.length > 2 && !namespaceSubresources.has(parts[2] as string)) parts = parts.slice(2);
  }
  const resource = parts[0] ?? '';
  let name = parts[1] ?? '';
  const subresource = parts[2] ?? '';

  if (name === '' && verb === 'get') {
    verb = isTrue(query.get('watch')) ? 'watch' : 'list';
    // A list of one name is authorized like a read of that name. A delete of a collection is not: rules for single
    // names don't apply to it (specification 5.4).
    name = selectedName(query);
  } else if (name === '' && verb === 'delete') {
    verb = 'deletecollection';
  }
  // A path below `/watch/` may name one object, whose watch ignores selectors; so they do not limit the authorization
  // check.
  const selectors = !isVerbInPath && selectingVerbs.has(verb) ? selectorsOf(query) : undefined;
  return {
    isResourceRequest: true,
    path,
    verb,
    apiPrefix: prefix as string,
    apiGroup,
    apiVersion,
    namespace,
    resource,
    subresource,
    name,
    parts,
    ...(isVerbInPath ? { isVerbInPath } : {}),
    ...selectors,
  };
}

/**
 * A boolean query parameter by the usual convention: if present, even without a value, it is true unless its value is
 * one of the spellings of false that clients use.
 */
export function isTrue(value: string | null): boolean {
  return value !== null && !/^(0|f|false)$/i.test(value);
}

/**
 * The index of the first segment of the path on the other server, where segments may be empty; the end if there is no
 * such path.
 */
function endOfProxyPath(segments: readonly string[]): number {
  const at = segments[2] === 'namespaces' ? 6 : 4;
  return segments[at] === 'proxy' ? at + 1 : segments.length;
}

/** The selectors that the handlers apply. */
function selectorsOf(query: URLSearchParams): Pick<RequestInfo, 'fieldSelector' | 'labelSelector'> | undefined {
  const fieldSelector = query.get('fieldSelector') ?? '';
  const labelSelector = query.get('labelSelector') ?? '';
  if (fieldSelector === '' && labelSelector === '') return undefined;
  return { fieldSelector, labelSelector };
}

function selectedName(query: URLSearchParams): string {
  // The handler reports an invalid selector, after authorization.
  const name = exactFieldValue(query.get('fieldSelector') ?? '', 'metadata.name') ?? '';
  return isPathSegmentName(name).length === 0 ? name : '';
}

function decodeSegments(path: string): string[] {
  const trimmed = path.endsWith('/') && path.length > 1 ? path.slice(1, -1) : path.slice(1);
  const segments = trimmed.split('/');
  if (!path.includes('%')) return segments;
  try {
    return segments.map(decodeURIComponent);
  } catch (cause) {
    throw badRequestError('the path of the request is not valid percent-encoding', cause);
  }
}

function nonResource(method: string, path: string): RequestInfo {
  return {
    isResourceRequest: false,
    path,
    verb: method.toLowerCase(),
    apiPrefix: '',
    apiGroup: '',
    apiVersion: '',
    namespace: '',
    resource: '',
    subresource: '',
    name: '',
    parts: noParts,
  };
}
