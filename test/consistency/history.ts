import type { ObjectInfo } from './object-digest.js';
import type { Report } from './report.js';

/** Where an object lives; `resource` has its name in the log. */
export interface ObjectKey {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** One entry of the log. `after` of a delete is the last state. */
export interface LogEntry extends ObjectKey {
  readonly version: number;
  readonly type: 'create' | 'update' | 'delete';
  readonly after: ObjectInfo;
  readonly before: ObjectInfo | undefined;
  readonly previousVersion: number | undefined;
}

/** A key from `version` on: an object, or nothing after a delete. */
interface State {
  readonly version: number;
  readonly info: ObjectInfo | undefined;
  readonly entry: LogEntry;
}

/** An object at a version. */
export interface Placed {
  readonly key: ObjectKey;
  readonly version: number;
  readonly info: ObjectInfo;
}

/** The range of objects of one resource. */
export interface Range {
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly tier?: string | undefined;
}

/** Whether a key is in the range, without regard to the tier. */
export function inRange(range: Range, key: ObjectKey): boolean {
  if (range.resource !== key.resource) return false;
  if (range.namespace !== undefined && range.namespace !== key.namespace) return false;
  return range.name === undefined || range.name === key.name;
}

/**
 * The states that the log describes, in memory for a recent period: the newest state of every key, and older states
 * down to `horizon`. Entries are kept for as long as a client still has to compare them (`prune`).
 */
export class History {
  /** Entries from number `base` on, in version order. */
  readonly entries: LogEntry[] = [];
  base = 0;
  /** Every version up to here is applied. */
  applied = 0;
  /** The oldest version whose states are available. */
  horizon = 0;
  private readonly keys = new Map<string, State[]>();

  constructor(private readonly report: Report) {}

  /** Number of the entry that comes next. */
  get end(): number {
    return this.base + this.entries.length;
  }

  entryAt(index: number): LogEntry {
    return this.entries[index - this.base] as LogEntry;
  }

  /** Adds an entry and checks that it follows the entries so far. */
  apply(entry: LogEntry): void {
    const evidence = { entry, applied: this.applied };
    if (entry.version <= this.applied) {
      this.report.fail('log-order', `version ${entry.version} came after ${this.applied}`, evidence);
      return;
    }
    this.report.pass('log-order');
    const id = idOf(entry);
    const states = this.keys.get(id) ?? [];
    const last = states.at(-1);
    const live = last?.info === undefined ? undefined : last;
    const problem = linkProblem(entry, live);
    if (problem === undefined) this.report.pass('log-links');
    else this.report.fail('log-links', problem, { ...evidence, state: last });
    states.push({ version: entry.version, info: entry.type === 'delete' ? undefined : entry.after, entry });
    this.keys.set(id, states);
    this.entries.push(entry);
    this.applied = entry.version;
  }

  /** Records that no entry lies between the last one and `head`. */
  reach(head: number): void {
    if (head > this.applied) this.applied = head;
  }

  /** The object under the key at a version, undefined when it did not exist. */
  at(key: ObjectKey, version: number): Placed | undefined {
    const states = this.keys.get(idOf(key)) ?? [];
    for (let i = states.length - 1; i >= 0; i--) {
      const state = states[i] as State;
      if (state.version > version) continue;
      return state.info === undefined ? undefined : { key, version: state.version, info: state.info };
    }
    return undefined;
  }

  /** Everything in the range at a version, in list order. */
  list(range: Range, version: number): Placed[] {
    const found: Placed[] = [];
    for (const states of this.keys.values()) {
      const { resource, namespace, name } = (states[0] as State).entry;
      const key = { resource, namespace, name };
      if (!inRange(range, key)) continue;
      const placed = this.at(key, version);
      if (placed === undefined || (range.tier !== undefined && placed.info.tier !== range.tier)) continue;
      found.push(placed);
    }
    return found.sort((a, b) => compareKeys(a.key, b.key));
  }

  /** Whether the key had this version, or (undefined) no object, at some time between two versions, both included. */
  wasBetween(key: ObjectKey, version: number | undefined, from: number, to: number): boolean {
    if ((this.at(key, from)?.version ?? undefined) === version) return true;
    return (this.keys.get(idOf(key)) ?? []).some(
      (state) =>
        state.version > from &&
        state.version <= to &&
        (state.info === undefined ? version === undefined : state.version === version),
    );
  }

  /** The entry that removed the object with this uid, if it is still remembered. */
  deletionOf(key: ObjectKey, uid: string): LogEntry | undefined {
    return (this.keys.get(idOf(key)) ?? []).find(({ entry }) => entry.type === 'delete' && entry.after.uid === uid)
      ?.entry;
  }

  /** Forgets entries before number `index`, and states that ended before `version`. */
  prune(index: number, version: number): void {
    const drop = Math.min(index, this.end) - this.base;
    // Removing a few at a time would copy the rest each time.
    if (drop > 1000) {
      this.entries.splice(0, drop);
      this.base += drop;
    }
    if (version <= this.horizon) return;
    this.horizon = version;
    for (const states of this.keys.values()) {
      let keepFrom = 0;
      while (keepFrom + 1 < states.length && (states[keepFrom + 1] as State).version <= version) keepFrom++;
      if (keepFrom > 0) states.splice(0, keepFrom);
    }
  }
}

function idOf(key: ObjectKey): string {
  return `${key.resource}/${key.namespace}/${key.name}`;
}

/** (namespace, name) in byte order; names are ASCII. */
export function compareKeys(a: ObjectKey, b: ObjectKey): number {
  if (a.namespace !== b.namespace) return a.namespace < b.namespace ? -1 : 1;
  return a.name === b.name ? 0 : a.name < b.name ? -1 : 1;
}

function linkProblem(entry: LogEntry, live: State | undefined): string | undefined {
  if (entry.type === 'create') return live === undefined ? undefined : 'created over a live object';
  if (live === undefined) return `${entry.type} of an object that is not there`;
  if (entry.previousVersion !== live.version) return `follows on ${entry.previousVersion}, not on ${live.version}`;
  if (entry.before?.digest !== live.info?.digest) return 'the state before it is not the state that was there';
  if (entry.after.uid !== live.info?.uid) return 'another uid';
  return undefined;
}
