import { type CallbackTimers, systemTimers } from '../../base/machinery/timers.js';
import type { BufferLimits } from '../feed/subscription.js';
import type { WindowLimits } from './event-window.js';
import { type OpenMemoryBudget, unlimitedBudget } from './memory-budget.js';

/** Receives events of caches. Calls are synchronous: count and return. */
export interface CacheObserver {
  /** A read was served from memory (true) or had to go to the database (false). */
  read(resource: string, fromCache: boolean): void;
  /** A list was answered from memory (true) or from the database (false), with this many objects. */
  listed(resource: string, fromCache: boolean, objects: number, durationMs: number): void;
  /** A read waited for the cache to become as new as it had to be. */
  waited(resource: string, durationMs: number): void;
  /** A list of the newest state found the cache new enough in time (true), or went to the database (false). */
  readNewest(resource: string, fromCache: boolean): void;
  /** Changes were handed on to the watches of the resource. */
  dispatched(resource: string, changes: number): void;
  filled(resource: string, objects: number, durationMs: number): void;
  dropped(resource: string, reason: DropReason): void;
  /** Changes of the database reached the cache of the resource, which is now complete up to `position`. */
  received(resource: string, changes: number, position: bigint): void;
  /** A watch was ended because it fell behind. */
  slowConsumer(resource: string): void;
  /** The resource is no longer served; no more calls about it will come. */
  gone(resource: string): void;
  backgroundError(where: string, error: unknown): void;
}

/**
 * Why a cache was dropped: nobody read it, it needed too much memory, the feed ended, versions went back, or its
 * resource is no longer served.
 */
export type DropReason = 'idle' | 'budget' | 'feed' | 'epoch' | 'gone';

export interface CacheOptions {
  /** Memory for all caches together, in bytes. Resources that do not fit are read from the database. */
  readonly maxBytes: number;
  /** The memory budget of the process: caches stay within both limits. */
  readonly budget: OpenMemoryBudget;
  /** A cache that has not been read or watched for this long, in milliseconds, is dropped. */
  readonly idleMs: number;
  /**
   * The longest wait in milliseconds. Watches and lists of a whole resource wait this long for a cache that is being
   * filled before they use the database. Watches wait this long for a database that does not answer before they
   * continue from memory.
   */
  readonly fillWaitMs: number;
  /**
   * Like {@link fillWaitMs}, for lists of a namespace or selection, and for first pages. They wait less, because filling
   * a cache reads everything. Pages that continue a list wait until the cache is {@link fillWaitMs} old.
   */
  readonly partFillWaitMs: number;
  /** How long to wait for a version that has not been reached yet, in milliseconds. */
  readonly futureWaitMs: number;
  /** Shortest time between two positions that a watch without changes receives, in milliseconds. */
  readonly quietMs: number;
  readonly window: WindowLimits;
  /** The minimum number of recent changes kept of a resource; 0: its objects are not cached. */
  readonly leastChanges: (resource: string) => number;
  /** Whether lists of the newest state may be served from memory. */
  readonly consistentLists: boolean;
  /** Whether lists of an exact version may be served from memory. */
  readonly pastLists: boolean;
  readonly buffer: BufferLimits;
  /** The largest backlog of all watchers together, in UTF-16 units of JSON; above it the slowest watches are ended. */
  readonly backlogCharacters: number;
  readonly observer: CacheObserver;
  readonly timers: CallbackTimers;
}

export const silentCacheObserver: CacheObserver = {
  read: () => {},
  listed: () => {},
  waited: () => {},
  readNewest: () => {},
  dispatched: () => {},
  filled: () => {},
  dropped: () => {},
  received: () => {},
  slowConsumer: () => {},
  gone: () => {},
  backgroundError: () => {},
};

export const defaultCacheOptions: CacheOptions = {
  maxBytes: 1024 * 1024 * 1024,
  budget: unlimitedBudget,
  idleMs: 10 * 60_000,
  fillWaitMs: 1_000,
  partFillWaitMs: 0,
  futureWaitMs: 3_000,
  quietMs: 500,
  window: { changes: 20_000, bytes: 48 * 1024 * 1024 },
  leastChanges: () => 1,
  consistentLists: true,
  pastLists: true,
  buffer: { changes: 50_000, characters: 64 * 1024 * 1024 },
  backlogCharacters: 128 * 1024 * 1024,
  observer: silentCacheObserver,
  timers: systemTimers,
};
