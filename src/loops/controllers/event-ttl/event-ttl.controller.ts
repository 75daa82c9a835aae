import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { ListPosition, Storage, StoredObject } from '../../../storage/storage.interface.js';
import { StorageError } from '../../../storage/storage-error.js';
import type { ControlLoop } from '../control-loop.js';

export interface EventTtlControllerOptions {
  readonly storage: Storage;
  readonly logger: Logger;
  readonly timers: Timers;
  /** Returns a random number from 0 to 1, which spreads the rounds of several clusters on one database server. */
  readonly random: () => number;
  /** How long an event is kept after its last write, in milliseconds. */
  readonly ttlMs: number;
  /** How long an expired event may stay, in milliseconds. Default a minute. */
  readonly longestPauseMs?: number | undefined;
  /** The most deletions per round; the next round continues from there. Default 10,000. */
  readonly mostPerRound?: number | undefined;
  /** Objects checked per call. Default 5,000. */
  readonly scan?: number | undefined;
}

/** Storage name of the events of both groups. */
const resource = 'events';
const shortestPauseMs = 1_000;
const usualPauseMs = 60_000;
/** Pause between pages, so that a large backlog leaves capacity for clients' writes. */
const pagePauseMs = 50;
const deletesAtOnce = 32;

/**
 * Deletes events that have not been written for the time to live. Each write of an event restarts its time. The
 * deletions are ordinary ones, so watches see them. They are conditional on the version that was found too old: an
 * event that was written again meanwhile stays.
 *
 * No objects are kept in memory. A round walks over the keys of all events without reading their data; storage derives
 * their age from the version of their last write.
 */
export class EventTtlController implements ControlLoop {
  readonly name = 'event-ttl-controller';
  private readonly mostPerRound: number;
  private readonly scan: number;

  constructor(private readonly options: EventTtlControllerOptions) {
    this.mostPerRound = options.mostPerRound ?? 10_000;
    this.scan = options.scan ?? 5_000;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { timers, ttlMs, random, logger, longestPauseMs = usualPauseMs } = this.options;
    let position: ListPosition | undefined;
    while (!signal.aborted) {
      try {
        position = await this.round(position, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof StorageError)) throw error;
        logger.warn('events could not be checked for age; the next round tries again', { error });
      }
      const pauseMs =
        position === undefined ? Math.max(shortestPauseMs, Math.min(longestPauseMs, ttlMs / 10)) : shortestPauseMs;
      // The random part only shortens the pause: an event must not outlive its time by more.
      await timers.wait(pauseMs * (1 - random() / 2), signal);
    }
  }

  /** Continues after `after`. Returns where the next round has to continue; undefined when every event was checked. */
  private async round(after: ListPosition | undefined, signal: AbortSignal): Promise<ListPosition | undefined> {
    const { storage, timers, ttlMs, logger } = this.options;
    let position = after;
    let deleted = 0;
    do {
      const page = await storage.aged({ resource, ageMs: ttlMs, after: position, scan: this.scan });
      for (let first = 0; first < page.items.length && !signal.aborted; first += deletesAtOnce) {
        const together = page.items.slice(first, first + deletesAtOnce);
        const outcomes = await Promise.all(together.map((event) => this.expire(event)));
        deleted += outcomes.filter(Boolean).length;
      }
      position = page.next;
      if (position !== undefined) await timers.wait(pagePauseMs, signal);
    } while (position !== undefined && deleted < this.mostPerRound && !signal.aborted);
    if (deleted > 0) logger.debug('old events were deleted', { deleted });
    return position;
  }

  private async expire(event: StoredObject): Promise<boolean> {
    const { uid, resourceVersion } = event;
    try {
      await this.options.storage.guaranteedUpdate(
        event.key,
        { preconditions: { uid, resourceVersion }, cachedCopy: event },
        (current) => ({ kind: 'delete', json: (current ?? event).json }),
      );
      return true;
    } catch (error) {
      // The event was written again or deleted by somebody else meanwhile.
      if (error instanceof StorageError && (error.code === 'PreconditionFailed' || error.code === 'KeyNotFound')) {
        return false;
      }
      throw error;
    }
  }
}
