import type { Logger } from '../../observability/logger.js';
import { StorageError } from '../../storage/storage.errors.js';
import type { ListPosition, Storage, StoredObject } from '../../storage/storage.interface.js';
import type { ControlLoop } from '../control-loop.js';
import type { Timers } from '../timers.js';

export interface EventTtlControllerOptions {
  readonly storage: Storage;
  readonly logger: Logger;
  readonly timers: Timers;
  /** From 0 to 1, spreads the rounds of clusters on one database server. */
  readonly random: () => number;
  /** How long an event is kept after its last write, in milliseconds. */
  readonly ttlMs: number;
  /** Most deletions of a round; the next one goes on from there. Default 10,000. */
  readonly mostPerRound?: number | undefined;
  /** Objects looked at with one call. Default 5,000. */
  readonly scan?: number | undefined;
}

/** Storage name of the events of both groups. */
const resource = 'events';
const shortestPauseMs = 1_000;
const longestPauseMs = 60_000;
/** Between pages, so that a large backlog leaves room for the writes of clients. */
const pagePauseMs = 50;
const deletesAtOnce = 32;

/**
 * Deletes events that nobody wrote for the time to live. Each write of an event begins its time anew. The deletions are
 * ordinary ones, so watches see them, and bound to the version that was found too old: an event that is written again
 * meanwhile stays.
 *
 * Nothing is kept of the objects. A round walks over the keys of all events without reading their data; storage tells
 * their age from the version they were last written with.
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
    const { timers, ttlMs, random, logger } = this.options;
    let position: ListPosition | undefined;
    while (!signal.aborted) {
      try {
        position = await this.round(position, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof StorageError)) throw error;
        logger.warn('events could not be looked through; the next round tries again', { error });
      }
      const pauseMs =
        position === undefined ? Math.max(shortestPauseMs, Math.min(longestPauseMs, ttlMs / 10)) : shortestPauseMs;
      await timers.wait(pauseMs * (0.75 + random() / 2), signal);
    }
  }

  /** Goes on behind `after`; where the next round has to go on, undefined when every event was looked at. */
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
    if (deleted > 0) logger.debug('deleted events that were too old', { deleted });
    return position;
  }

  private async expire(event: StoredObject): Promise<boolean> {
    const { uid, resourceVersion } = event;
    try {
      await this.options.storage.guaranteedUpdate(
        event.key,
        { preconditions: { uid, resourceVersion }, hint: event },
        (current) => ({ kind: 'delete', json: (current ?? event).json }),
      );
      return true;
    } catch (error) {
      // Written again or deleted by somebody else in the meantime.
      if (error instanceof StorageError && (error.code === 'PreconditionFailed' || error.code === 'KeyNotFound')) {
        return false;
      }
      throw error;
    }
  }
}
