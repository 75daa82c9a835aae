import type { StoredPod } from '../frame/indexes.js';

/**
 * The users of a volume on another node, as the event of a waiting pod reports them. Pods of other namespaces are only
 * counted: readers of this event must not see their names.
 */
export function otherUsersText({ metadata }: Readonly<StoredPod>, users: readonly StoredPod[]): string {
  if (users.length === 0) {
    return 'Volume is already exclusively attached to one node, waiting on detach before it can be attached to another node';
  }
  const near = users.filter((user) => user.metadata.namespace === metadata.namespace);
  const others = users.length - near.length;
  if (near.length === 0) return `Volume is already used by ${others} pod(s) in different namespaces`;
  const names = near.map((user) => user.metadata.name).join(', ');
  const rest = others === 0 ? '' : ` and ${others} pod(s) in different namespaces`;
  return `Volume is already used by pod(s) ${names}${rest}`;
}
