import type { Change, ListScope } from '../storage.interface.js';

/** A part of the log, read in one snapshot. */
export interface LogStretch {
  readonly changes: readonly Change[];
  /** `changes` is complete up to this version; the head when nothing was cut off. */
  readonly position: bigint;
  /** Newest committed version in the same snapshot. */
  readonly head: bigint;
  /** Whether the next part can be read at once, because this one was cut off by its size. */
  readonly more: boolean;
}

/** Ordered access to the log of changes. Every method throws only `StorageError`. */
export interface ChangeLog {
  /** Changes of the resources after `after`; `Expired` when `after` lies below the compact revision. */
  readResources(after: bigint, resources: readonly string[]): Promise<LogStretch>;
  /** Changes of the scope in (after, upto]; `Expired` when `after` lies below the compact revision. */
  readScope(after: bigint, upto: bigint, scope: ListScope): Promise<LogStretch>;
  /** The newest committed version, read after the call. */
  head(): Promise<bigint>;
}
