/** How a request is treated while the page shows the past. */
export type PastRequest =
  /** It is about the present, or does not depend on the time. */
  | { readonly kind: 'pass' }
  | { readonly kind: 'list'; readonly path: string }
  /** An object is read as a list of one, since only lists can be read at a version. */
  | { readonly kind: 'object'; readonly path: string; readonly name: string }
  /** A watch: nothing happens in the past. */
  | { readonly kind: 'watch' }
  | { readonly kind: 'refused'; readonly why: string };

const refusedWrite = 'this is the past, which can only be read: go back to now first';

/**
 * @param path with its query, as it would be sent for the present
 * @param version at which objects are read
 */
export function pastRequest(method: string, path: string, version: string): PastRequest {
  const [place = '', search = ''] = path.split('?');
  const [root, ...segments] = place.split('/').slice(1);
  if (root !== 'api' && root !== 'apis') return { kind: 'pass' };
  const inVersion = segments.slice(root === 'api' ? 1 : 2);
  if (inVersion.length === 0) return { kind: 'pass' };
  const inNamespace = inVersion[0] === 'namespaces' && inVersion.length > 2 ? inVersion.slice(2) : inVersion;
  const [resource = '', name, subresource] = inNamespace;
  if (method !== 'GET') {
    const isReview = method === 'POST' && name === undefined && /^self\w+reviews$/.test(resource);
    return isReview ? { kind: 'pass' } : { kind: 'refused', why: refusedWrite };
  }
  if (root === 'apis' && segments[0]?.startsWith('metrics.')) {
    return { kind: 'refused', why: 'usage is known of the present only' };
  }
  if (subresource !== undefined) return { kind: 'refused', why: `${subresource} of an object is of the present only` };
  const query = new URLSearchParams(search);
  if (query.get('watch') === 'true') return { kind: 'watch' };
  // A token knows the version of its list.
  if (name === undefined && query.has('continue')) return { kind: 'list', path };
  query.set('resourceVersion', version);
  query.set('resourceVersionMatch', 'Exact');
  if (name === undefined) return { kind: 'list', path: `${place}?${query}` };
  const plainName = decodeURIComponent(name);
  query.set('fieldSelector', `metadata.name=${plainName.replaceAll(/[\\,=]/g, '\\$&')}`);
  return { kind: 'object', path: `${place.slice(0, place.lastIndexOf('/'))}?${query}`, name: plainName };
}
