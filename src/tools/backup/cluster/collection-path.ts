import type { ServedKind } from './served-kind.js';

/** The path of all objects of a kind, or of those in a namespace. */
export function collectionPath(
  { apiVersion, resource }: Pick<ServedKind, 'apiVersion' | 'resource'>,
  namespace?: string,
) {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return namespace === undefined
    ? `${root}/${resource}`
    : `${root}/namespaces/${encodeURIComponent(namespace)}/${resource}`;
}
