import type { Target } from './details.js';
import type { Kind, Kinds } from './kinds.js';
import { formatRoute } from './routes.js';

/** The kind for a group, without the vendor's suffix, and a resource. */
export function kindOfTarget({ all, suffix }: Kinds, group: string, resource: string): Kind | undefined {
  return all.find(
    (kind) => kind.resource === resource && (kind.group === group || kind.group === `${group}.${suffix}`),
  );
}

/** The address of an object; undefined for a kind that the server does not serve. */
export function hrefOf(kinds: Kinds | undefined, { group, resource, namespace, name }: Target): string | undefined {
  const kind = kinds === undefined ? undefined : kindOfTarget(kinds, group, resource);
  if (kind === undefined) return undefined;
  const scope = kind.namespaced ? namespace : '';
  return formatRoute({ page: 'object', ...kind, namespace: scope, name, tab: 'summary' });
}
