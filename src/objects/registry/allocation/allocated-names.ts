import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { AllocationOwner, FoundAllocation } from './allocation.js';

/** The allocations of names in the database, for the controller that repairs them. */
export interface AllocationRecords {
  /** Every allocation as of one version, page by page. */
  all(): AsyncIterable<FoundAllocation>;
  find(name: string): Promise<FoundAllocation | undefined>;
  /** Allocates a name for an object that already holds it. Returns false if the name has been allocated meanwhile. */
  restore(name: string, owner: AllocationOwner): Promise<boolean>;
  /** Frees a name whose allocation has not changed and whose owner does not hold it. Returns whether it was freed. */
  free(allocation: FoundAllocation): Promise<boolean>;
}

/** Names of one kind that the objects of a resource hold. Each name belongs to one object only. */
export interface AllocatedNames {
  /** The word for names of this kind in messages: `cluster IP`. */
  readonly what: string;
  /** First word of the reasons of events: `ClusterIP`. */
  readonly reasonPrefix: string;
  readonly allocations: AllocationRecords;
  /** The names that an object holds. */
  namesOf(owner: ApiObject): Iterable<string>;
}
