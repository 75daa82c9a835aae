import type { ServedGroup } from '../../registry/resource-registry.js';

/** Built-in groups in the order that clients see; the vendor's groups without their suffix. */
const order: readonly string[] = [
  '',
  'apiregistration',
  'apps',
  'events',
  'authentication',
  'authorization',
  'autoscaling',
  'batch',
  'certificates',
  'networking',
  'policy',
  'rbac.authorization',
  'storage',
  'admissionregistration',
  'apiextensions',
  'scheduling',
  'coordination',
  'node',
  'discovery',
  'flowcontrol.apiserver',
];

/**
 * Sorts groups for discovery: built-in ones first, then all others by name. When several groups have a name, clients
 * take the first, so a custom `deployments` must not come before the built-in one.
 *
 * @param suffix the vendor's domain, e.g. `example.dev` of `rbac.authorization.example.dev`
 */
export function orderGroups(groups: readonly ServedGroup[], suffix: string): ServedGroup[] {
  const rank = (group: string): number => {
    const short = group.endsWith(`.${suffix}`) ? group.slice(0, -suffix.length - 1) : group;
    const index = order.indexOf(short);
    return index < 0 ? order.length : index;
  };
  return [...groups].sort((a, b) => rank(a.group) - rank(b.group) || (a.group < b.group ? -1 : 1));
}
