import type { StorageKey } from '../../../storage/storage-key.js';

/** The object an allocation is made for. */
export interface AllocationOwner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** An allocation that this process made and may take back. */
export interface Allocation {
  readonly name: string;
  readonly token: string;
}

/**
 * The names that were allocated in a range at one time. Users of the survey add names that they have found taken since.
 */
export interface AllocationSurvey {
  readonly taken: Set<string>;
  /** Names that nobody seems to use: their allocations have settled, and their owners may be gone. */
  readonly settled: readonly string[];
}

/** An allocation as found in the store, for checks and repairs. */
export interface FoundAllocation {
  readonly name: string;
  /** Changes whenever another writer begins to rely on the allocation. */
  readonly resourceVersion: bigint;
  /** The storage key of the owner; undefined for an object that is not an allocation of this program. */
  readonly owner: StorageKey | undefined;
}
