import { type Filter, refusal } from '../filter.js';

const name = 'DynamicResources';

/** Final: no removal of other pods gives the pod a device. */
const notAllocated = refusal(name, 'cannot allocate all claims', true);

/**
 * Refuses pods with claims to devices. This scheduler allocates no devices, and a pod that is placed without them would run
 * without what it asked for, or be refused by its node.
 */
export const dynamicResources: Filter = {
  name,
  prepare: ({ pod }) => ((pod.spec.resourceClaims ?? []).length === 0 ? undefined : { refusal: notAllocated }),
};
