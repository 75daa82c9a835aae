import { type PauseRange, pauseAfter } from '../../base/machinery/backoff.js';
import type { FilterName } from './filter.js';
import { Heap } from './heap.js';
import type { PodInfo } from './pod-info.js';
import { PriorityTurns } from './priority-turns.js';

/** Decisions that take at least this long, in milliseconds, hold up other pods: their namespace has to pause. */
const leastCounted = 25;
const pauseFactor = 10;

/** The place of a waiting pod. */
type Place = 'active' | 'backoff' | 'unschedulable' | 'gated' | 'taken';

/** A pod that waits for a node. */
export interface QueuedPod {
  info: PodInfo;
  /** The number of failed attempts. */
  attempts: number;
  /** When it could first be tried: new, or without gates; undefined before. By the clock of the queue. */
  triableSince?: number | undefined;
  /** What refused the pod in the last attempt. */
  refusedBy: ReadonlySet<FilterName>;
}

interface Entry extends QueuedPod {
  place: Place;
  /** When the pod came to its present place, for the order and for the pause. */
  since: number;
  readonly serial: number;
}

export interface QueueOptions {
  /** Milliseconds from a fixed point. */
  readonly now: () => number;
  /** Whether the pods of a namespace are held back at the moment. Default: none are. */
  readonly holds?: (namespace: string) => boolean;
  /** Whether a pod can't be tried before {@link SchedulingQueue.recheck} finds otherwise. Default: no pod. */
  readonly waits?: (info: PodInfo) => boolean;
  readonly firstBackoffMs?: number;
  readonly longestBackoffMs?: number;
  /** After this time a pod is tried again even if nothing happened that should help it. */
  readonly longestWaitMs?: number;
}

/**
 * The pods that wait for a node.
 *
 * - *active*: to be tried next, the most important first; among equal ones namespaces take turns, and in each of them the pods
 *   come in their order.
 * - *backoff*: to be tried after a pause, which doubles with every attempt.
 * - *unschedulable*: not to be tried before something happens that may help, or a long time has passed.
 * - *gated*: not to be tried before its gates are gone and what it needs is made.
 * - *taken*: given out by {@link take}, until it is put back or removed.
 */
export class SchedulingQueue {
  private readonly entries = new Map<string, Entry>();
  private readonly active = new PriorityTurns<Entry>(
    ({ info }) => ({ priority: info.priority, party: info.namespace }),
    (a, b) => a.since < b.since || (a.since === b.since && a.serial < b.serial),
  );
  /** Until when namespaces whose pods took long have to wait for their turn. */
  private readonly pauses = new Map<string, number>();
  private readonly backoff = new Heap<Entry>((a, b) => this.dueAt(a) < this.dueAt(b));
  /** The pods that each filter refused, to find those that an event concerns. */
  private readonly waiting = new Map<FilterName | '', Set<Entry>>();
  private readonly gated = new Set<Entry>();
  private serial = 0;
  private readonly backoffRange: PauseRange;
  private readonly longestWaitMs: number;

  constructor(private readonly options: QueueOptions) {
    this.backoffRange = { firstMs: options.firstBackoffMs ?? 1000, longestMs: options.longestBackoffMs ?? 10_000 };
    this.longestWaitMs = options.longestWaitMs ?? 300_000;
  }

  get size(): number {
    return this.entries.size;
  }

  /** The number of pods in each place, for metrics. */
  get depths(): Readonly<Record<'active' | 'backoff' | 'unschedulable' | 'gated', number>> {
    const depths = { active: this.active.size, backoff: this.backoff.size, unschedulable: 0, gated: 0 };
    for (const { place } of this.entries.values()) {
      if (place === 'unschedulable' || place === 'gated') depths[place] += 1;
    }
    return depths;
  }

  /** How many pods wait that each filter refused, for metrics. */
  get refusals(): ReadonlyMap<string, number> {
    return new Map(
      [...this.waiting].flatMap(([filter, { size }]) => (filter === '' || size === 0 ? [] : [[filter, size]])),
    );
  }

  has(uid: string): boolean {
    return this.entries.has(uid);
  }

  /**
   * Adds a pod, or its newer state. `isWorth` decides whether the change may help a pod that was refused; such a pod is
   * tried again.
   */
  set(info: PodInfo, isWorth = true): void {
    const isGated = this.isGated(info);
    const known = this.entries.get(info.uid);
    if (known === undefined) {
      const entry: Entry = {
        info,
        attempts: 0,
        refusedBy: new Set(),
        place: 'taken',
        since: this.options.now(),
        serial: this.serial++,
      };
      this.entries.set(info.uid, entry);
      this.enter(entry, isGated ? 'gated' : 'active');
      return;
    }
    if (known.place === 'taken') {
      known.info = info;
      return;
    }
    const { place, since } = known;
    // The order depends on the pod's state.
    this.leave(known);
    known.info = info;
    if (isGated) this.enter(known, 'gated');
    else if (place === 'gated') this.activate(known);
    else if (place === 'unschedulable' && isWorth) this.wake(known);
    else this.enter(known, place, since);
  }

  /**
   * Rechecks gated pods after an object was made that they may wait for; `concerns` decides whether it matters to a
   * pod.
   */
  recheck(concerns: (pod: QueuedPod) => boolean): void {
    for (const entry of [...this.gated]) {
      if (!concerns(entry) || this.isGated(entry.info)) continue;
      this.leave(entry);
      this.activate(entry);
    }
  }

  private isGated(info: PodInfo): boolean {
    return (info.pod.spec.schedulingGates ?? []).length > 0 || this.options.waits?.(info) === true;
  }

  /** Forgets a pod. */
  remove(uid: string): void {
    const entry = this.entries.get(uid);
    if (entry === undefined) return;
    this.leave(entry);
    this.entries.delete(uid);
  }

  /** Gives out the next pod to try; undefined when there is none now. Counts an attempt. */
  take(): QueuedPod | undefined {
    this.wakeDue();
    const entry = this.active.take(this.mustPause);
    if (entry === undefined) return undefined;
    entry.place = 'taken';
    entry.attempts += 1;
    return entry;
  }

  /**
   * Records how long a decision about a pod took. After a long one, pods of its namespace let others go first for a
   * multiple of that time.
   */
  took(milliseconds: number, { info }: QueuedPod): void {
    if (milliseconds < leastCounted) return;
    this.pauses.set(info.namespace, this.options.now() + milliseconds * pauseFactor);
  }

  /** Puts back a pod that was refused. */
  refused({ info }: QueuedPod, by: ReadonlySet<FilterName>): void {
    this.putBack(info.uid, (entry) => {
      entry.refusedBy = by;
      this.enter(entry, 'unschedulable');
    });
  }

  /** Puts back a pod after a failure unrelated to nodes: to be tried after a pause. */
  failed({ info }: QueuedPod): void {
    this.putBack(info.uid, (entry) => this.enter(entry, 'backoff'));
  }

  /**
   * Something happened that may help pods that one of the filters refused; `helps` decides about each pod. `null`
   * stands for all filters.
   */
  moveToActiveQueue(filters: readonly FilterName[] | null, helps: (pod: QueuedPod) => boolean = () => true): void {
    const woken = new Set<Entry>();
    for (const filter of filters ?? this.waiting.keys()) {
      for (const entry of this.waiting.get(filter) ?? []) if (helps(entry)) woken.add(entry);
    }
    for (const entry of woken) {
      this.leave(entry);
      this.wake(entry);
    }
  }

  /** Retries pods that have waited for too long. To be called from time to time. */
  flush(): void {
    const before = this.options.now() - this.longestWaitMs;
    for (const entry of [...this.entries.values()]) {
      if (entry.place !== 'unschedulable' || entry.since > before) continue;
      this.leave(entry);
      this.wake(entry);
    }
  }

  /** In how many milliseconds the next pause of a pod or of a namespace ends; undefined when there is none. */
  nextDueMs(): number | undefined {
    const { first } = this.backoff;
    const now = this.options.now();
    const ends = this.active.size === 0 ? [] : [...this.pauses.values()].filter((until) => until > now);
    if (first !== undefined) ends.push(this.dueAt(first));
    return ends.length === 0 ? undefined : Math.max(0, Math.min(...ends) - now);
  }

  private readonly mustPause = (namespace: string): boolean => {
    if (this.options.holds?.(namespace) === true) return true;
    const until = this.pauses.get(namespace);
    if (until === undefined) return false;
    if (until > this.options.now()) return true;
    this.pauses.delete(namespace);
    return false;
  };

  private putBack(uid: string, enter: (entry: Entry) => void): void {
    const entry = this.entries.get(uid);
    if (entry?.place !== 'taken') return;
    if (this.isGated(entry.info)) this.enter(entry, 'gated');
    else enter(entry);
  }

  /** Moves pods that may fit now to their place. */
  private wake(entry: Entry): void {
    if (this.dueAt(entry) > this.options.now()) this.enter(entry, 'backoff', entry.since);
    else this.activate(entry);
  }

  private activate(entry: Entry): void {
    this.enter(entry, 'active');
  }

  private wakeDue(): void {
    const now = this.options.now();
    for (let { first } = this.backoff; first !== undefined && this.dueAt(first) <= now; { first } = this.backoff) {
      this.leave(first);
      this.activate(first);
    }
  }

  private dueAt({ since, attempts }: Entry): number {
    if (attempts === 0) return since;
    return since + pauseAfter(attempts, this.backoffRange);
  }

  private enter(entry: Entry, place: Place, since = this.options.now()): void {
    entry.place = place;
    entry.since = since;
    if (place !== 'gated') entry.triableSince ??= since;
    if (place === 'active') this.active.add(entry);
    else if (place === 'backoff') this.backoff.add(entry);
    else if (place === 'gated') this.gated.add(entry);
    else if (place === 'unschedulable') {
      for (const filter of entry.refusedBy.size === 0 ? ([''] as const) : entry.refusedBy) {
        const entries = this.waiting.get(filter);
        if (entries === undefined) this.waiting.set(filter, new Set([entry]));
        else entries.add(entry);
      }
    }
  }

  private leave(entry: Entry): void {
    if (entry.place === 'active') this.active.remove(entry);
    else if (entry.place === 'backoff') this.backoff.remove(entry);
    else if (entry.place === 'gated') this.gated.delete(entry);
    else if (entry.place === 'unschedulable') {
      for (const entries of this.waiting.values()) entries.delete(entry);
    }
    entry.place = 'taken';
  }
}
