import { type History, inRange, type LogEntry, type Range } from './history.js';
import type { ObjectInfo } from './object-digest.js';
import type { Report } from './report.js';

/** The events of a watch, in the order in which they came. */
export type Received =
  | {
      readonly kind: 'event';
      readonly type: string;
      readonly name: string;
      readonly namespace: string;
      readonly version: number;
      readonly info: ObjectInfo;
      readonly server: number;
    }
  | { readonly kind: 'bookmark'; readonly version: number; readonly server: number }
  /** The client started over with a list at this version; earlier entries of the log are not expected any more. */
  | { readonly kind: 'relist'; readonly version: number; readonly server: number };

/**
 * Compares everything that one watcher received, over all of its connections, with the log as its selection shows it.
 * It is one sequence: where a client continues from its last version, nothing may be missing and nothing may come
 * twice.
 */
export class WatchCheck {
  /** Number of the first entry not yet compared. */
  next: number;
  private readonly pending: Received[] = [];
  private compared: number;
  /** Newest version received. */
  newest = 0;

  constructor(
    readonly title: string,
    readonly range: Range,
    private readonly history: History,
    private readonly report: Report,
  ) {
    this.next = history.end;
    this.compared = 0;
  }

  receive(received: Received): void {
    if (received.version > this.newest) this.newest = received.version;
    this.pending.push(received);
  }

  /** How many were received and not compared yet. */
  get backlog(): number {
    return this.pending.length;
  }

  /**
   * Compares as far as the log is applied. `due`: how many had been received before the log was read; they must be in
   * it. (Events are only ever of committed versions.)
   */
  advance(due: number): void {
    let taken = 0;
    for (; taken < this.pending.length; taken++) {
      const received = this.pending[taken] as Received;
      if (received.version > this.history.applied) {
        if (taken >= due) break;
        this.report.fail('watch-events', 'a version that the log does not have', this.evidence(received));
        continue;
      }
      this.compare(received);
    }
    this.pending.splice(0, taken);
    if (this.pending.length === 0) this.skipOthers();
  }

  /** The first entry the watcher should have by now and has not. */
  outstanding(): LogEntry | undefined {
    this.skipOthers();
    return this.next < this.history.end ? this.history.entryAt(this.next) : undefined;
  }

  private compare(received: Received): void {
    const { version } = received;
    const check = received.kind === 'bookmark' ? 'watch-bookmarks' : 'watch-events';
    if (version < this.compared || (received.kind === 'event' && version === this.compared)) {
      this.report.fail(check, `version ${version} after ${this.compared}`, this.evidence(received));
      return;
    }
    this.compared = version;
    while (this.next < this.history.end) {
      const entry = this.history.entryAt(this.next);
      if (entry.version > version) break;
      this.next++;
      const expected = this.expectedOf(entry);
      if (expected === undefined || received.kind === 'relist') continue;
      if (entry.version === version && received.kind === 'event') {
        this.compareEvent(received, entry, expected);
        return;
      }
      const what = received.kind === 'bookmark' ? 'watch-bookmarks' : 'watch-complete';
      this.report.fail(what, 'an entry of the log was not sent', { ...this.evidence(received), missing: entry });
    }
    if (received.kind === 'event') {
      this.report.fail('watch-events', 'an event that the log does not have', this.evidence(received));
    } else if (received.kind === 'bookmark') this.report.pass('watch-bookmarks');
  }

  private compareEvent(
    received: Received & { readonly kind: 'event' },
    entry: LogEntry,
    expected: { readonly type: string; readonly info: ObjectInfo },
  ): void {
    const same =
      received.type === expected.type &&
      received.name === entry.name &&
      received.namespace === entry.namespace &&
      received.info.digest === expected.info.digest;
    if (same) {
      this.report.pass('watch-events');
      this.report.pass('watch-complete');
    } else {
      const evidence = { ...this.evidence(received), entry, expected };
      this.report.fail('watch-events', 'an event differs from the log', evidence);
    }
  }

  /** The event that an entry is for this selection; an object that leaves it is shown as it was inside. */
  private expectedOf(entry: LogEntry): { readonly type: string; readonly info: ObjectInfo } | undefined {
    if (!inRange(this.range, entry)) return undefined;
    const selects = (info: ObjectInfo | undefined) =>
      info !== undefined && (this.range.tier === undefined || info.tier === this.range.tier);
    const was = selects(entry.before);
    const is = entry.type !== 'delete' && selects(entry.after);
    if (is) return { type: was ? 'MODIFIED' : 'ADDED', info: entry.after };
    if (!was) return undefined;
    const left = entry.type === 'delete' ? entry.after : entry.before;
    return { type: 'DELETED', info: left as ObjectInfo };
  }

  private skipOthers(): void {
    while (this.next < this.history.end && this.expectedOf(this.history.entryAt(this.next)) === undefined) this.next++;
  }

  private evidence(received: Received): Readonly<Record<string, unknown>> {
    return { watcher: this.title, range: this.range, received };
  }
}
