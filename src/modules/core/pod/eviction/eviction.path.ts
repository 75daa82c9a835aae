import { eviction } from '../../../../apis/policy/v1/eviction.types.js';
import { eviction as evictionV1beta1 } from '../../../../apis/policy/v1beta1/eviction.types.js';
import { groupName } from '../../../../machinery/vendor.js';
import type { GroupContext } from '../../../../registry/group-context.js';
import type { SubresourceDefinition } from '../../../../registry/resource-definition.js';
import { PodEviction } from './eviction.js';

/** The path that asks for a pod to be taken away, as far as budgets allow. */
export function evictionPath(context: GroupContext): SubresourceDefinition {
  const group = groupName('policy', context.names);
  const pods = new PodEviction(context);
  return {
    name: 'eviction',
    kind: { group, version: 'v1', kind: 'Eviction' },
    type: eviction,
    otherBodies: [{ kind: { group, version: 'v1beta1', kind: 'Eviction' }, type: evictionV1beta1 }],
    verbs: ['create'],
    perform: (request, action) => pods.evict(request, action),
  };
}
