import type { CallbackTimers } from '../../base/machinery/timers.js';
import type { StoredObject } from '../storage.interface.js';
import type { StorageKey } from '../storage-key.js';

/** How long an update waits while none of those before it ends, in milliseconds. */
const patienceMs = 250;

/**
 * Lets the updates of one object in this process follow one another, each beginning with what the one before it wrote.
 * Of several updates that begin with the same state, only one is written, and the work of all others is lost.
 *
 * This only saves work. The order of writes is decided in the database, and an update that takes long, for example
 * because a webhook is slow, holds up the others for a moment only: then all of them begin.
 */
export class UpdateLanes {
  /** By key, the updates under way; undefined as long as there is only one, which is the usual case. */
  private readonly lanes = new Map<string, Lane | undefined>();

  constructor(private readonly timers: CallbackTimers) {}

  /**
   * Joins the updates of an object; each call needs one of {@link leave} after it. Returns undefined if the update can
   * begin at once. Otherwise resolves when it can, with the state that the one before it left, if that is known.
   */
  enter(key: StorageKey): Promise<StoredObject | undefined> | undefined {
    const id = idOf(key);
    let lane = this.lanes.get(id);
    if (lane === undefined) {
      const isFree = !this.lanes.has(id);
      lane = isFree ? undefined : new Lane(this.timers);
      this.lanes.set(id, lane);
      if (isFree) return undefined;
    }
    return (lane as Lane).wait();
  }

  /** Ends an update that has entered. `left` is the object as it was left, if it exists and the update knows it. */
  leave(key: StorageKey, left: StoredObject | undefined): void {
    const id = idOf(key);
    const lane = this.lanes.get(id);
    if (lane === undefined || lane.leave(left)) this.lanes.delete(id);
  }
}

class Lane {
  private readonly waiting: ((left: StoredObject | undefined) => void)[] = [];
  private running = 1;
  private newest: StoredObject | undefined;
  private movedAt = 0;
  private cancelTimer: (() => void) | undefined;

  constructor(private readonly timers: CallbackTimers) {}

  wait(): Promise<StoredObject | undefined> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (this.waiting.length > 1) return;
      this.movedAt = this.timers.elapsed();
      this.expectMove(patienceMs);
    });
  }

  /** Returns whether nobody is left. */
  leave(left: StoredObject | undefined): boolean {
    this.running -= 1;
    this.newest = left;
    this.movedAt = this.timers.elapsed();
    if (this.running === 0) this.beginNext();
    if (this.waiting.length === 0) this.stopTimer();
    return this.running === 0;
  }

  private beginNext(): void {
    const begin = this.waiting.shift();
    if (begin === undefined) return;
    this.running += 1;
    begin(this.newest);
  }

  private expectMove(inMs: number): void {
    this.cancelTimer ??= this.timers.after(inMs, () => {
      this.cancelTimer = undefined;
      const left = this.movedAt + patienceMs - this.timers.elapsed();
      if (left > 0) this.expectMove(left);
      else while (this.waiting.length > 0) this.beginNext();
    });
  }

  private stopTimer(): void {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
  }
}

function idOf({ resource, namespace, name }: StorageKey): string {
  return `${resource}/${namespace}/${name}`;
}
