import type { Change, Scope } from '../storage.interface.js';

/** A stretch of the log, read in one snapshot. */
export interface LogStretch {
  readonly changes: readonly Change[];
  /** Everything up to here that was asked for is in `changes`; the head when nothing was cut off. */
  readonly position: bigint;
  /** Newest committed version in the same snapshot. */
  readonly head: bigint;
  /** Whether more may follow at once: the stretch was cut off by size. */
  readonly more: boolean;
}

/** Ordered access to the log of changes. Every method throws `StorageError` only. */
export interface ChangeLog {
  /** Changes of the resources behind `after`; `Expired` when `after` lies below the compact revision. */
  readResources(after: bigint, resources: readonly string[]): Promise<LogStretch>;
  /** Changes of the scope in (after, upto]; `Expired` when `after` lies below the compact revision. */
  readScope(after: bigint, upto: bigint, scope: Scope): Promise<LogStretch>;
  /** Newest committed version, read after the call. */
  head(): Promise<bigint>;
}
