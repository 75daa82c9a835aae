import type { BufferLimits } from '../feed/subscription.js';
import type { WindowLimits } from './event-window.js';

/** Time as caches see it; injected so that tests decide how it passes. */
export interface CacheTimers {
  /** Milliseconds from some fixed point, never going back. */
  now(): number;
  /** Calls back once after `ms` milliseconds; the answer takes it back. */
  after(ms: number, callback: () => void): () => void;
  /** Calls back when everything that is due now has run. */
  soon(callback: () => void): void;
}

/** Hears what caches do. Calls are synchronous: count and return. */
export interface CacheObserver {
  /** A read was answered from memory, or (false) had to go to the database. */
  read(resource: string, fromCache: boolean): void;
  filled(resource: string, objects: number, durationMs: number): void;
  dropped(resource: string, reason: DropReason): void;
  /** A watch was ended because it fell behind. */
  slowConsumer(resource: string): void;
  backgroundError(where: string, error: unknown): void;
}

/** Why a cache was given up: nobody read it, memory, the feed ended, or versions went back. */
export type DropReason = 'idle' | 'budget' | 'feed' | 'epoch';

export interface CacheOptions {
  /** Memory of all caches together, in bytes; what does not fit is read from the database. */
  readonly maxBytes: number;
  /** A cache that nobody read or watched for this long is dropped, in milliseconds. */
  readonly idleMs: number;
  /**
   * Watches, and lists of everything, wait this long at most for a cache that is being filled before they go to the
   * database, and watches for a database that does not answer before they go on from memory, in milliseconds.
   */
  readonly fillWaitMs: number;
  /** The same for lists of a part: filling reads everything, they need not wait for that. */
  readonly partFillWaitMs: number;
  /** How long a version that is not there yet is waited for, in milliseconds. */
  readonly futureWaitMs: number;
  /** Positions without changes are told to watches this often at most, in milliseconds. */
  readonly quietMs: number;
  readonly window: WindowLimits;
  readonly buffer: BufferLimits;
  readonly observer: CacheObserver;
  readonly timers: CacheTimers;
}

/** Real time; a pending callback does not keep the process alive. */
export const systemTimers: CacheTimers = {
  now: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
  soon: (callback) => {
    setImmediate(callback);
  },
};

export const silentCacheObserver: CacheObserver = {
  read: () => {},
  filled: () => {},
  dropped: () => {},
  slowConsumer: () => {},
  backgroundError: () => {},
};

export const defaultCacheOptions: CacheOptions = {
  maxBytes: 1024 * 1024 * 1024,
  idleMs: 10 * 60_000,
  fillWaitMs: 1_000,
  partFillWaitMs: 0,
  futureWaitMs: 3_000,
  quietMs: 500,
  window: { changes: 20_000, bytes: 48 * 1024 * 1024 },
  buffer: { changes: 50_000, characters: 64 * 1024 * 1024 },
  observer: silentCacheObserver,
  timers: systemTimers,
};
