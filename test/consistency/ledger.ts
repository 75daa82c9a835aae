import type { History, LogEntry, ObjectKey } from './history.js';
import type { Report } from './report.js';

/** The outcome of a write for its client. */
export type Outcome =
  | { readonly kind: 'acknowledged'; readonly version: number; readonly follows?: number | undefined }
  | { readonly kind: 'refused'; readonly status: number }
  /** No answer, or one that leaves the outcome open. */
  | { readonly kind: 'unknown'; readonly why: string };

/** One byte per write, for any length of the run. */
enum State {
  Open,
  Seen,
  Settled,
  Refused,
  Unknown,
  UnknownSeen,
}

/** Compares the answers that clients got for their writes with the log. Writes are numbered by `issue`. */
export class Ledger {
  private states = new Uint8Array(4096);
  private issued = 0;
  /** Entries of writes that are not settled yet. */
  private readonly seen = new Map<number, LogEntry>();

  constructor(private readonly report: Report) {}

  /** The number of a new write. */
  issue(): number {
    if (this.issued === this.states.length) {
      const larger = new Uint8Array(this.states.length * 2);
      larger.set(this.states);
      this.states = larger;
    }
    return this.issued++;
  }

  /** Receives every entry of the log. A delete has the number of the write before it and is ignored here. */
  observe(entry: LogEntry): void {
    const operation = entry.after.operation;
    if (operation === undefined || entry.type === 'delete') return;
    switch (this.states[operation] as State) {
      case State.Open:
        this.states[operation] = State.Seen;
        this.seen.set(operation, entry);
        return;
      case State.Unknown:
        this.states[operation] = State.UnknownSeen;
        this.report.pass('write-at-most-once');
        return;
      case State.Refused:
        this.report.fail('write-at-most-once', 'a refused write is in the log', { operation, entry });
        return;
      case State.UnknownSeen:
        this.report.fail('write-at-most-once', 'a write is in the log twice', { operation, entry });
        return;
      case State.Seen:
      case State.Settled:
        this.report.fail('write-once', 'a write is in the log twice', { operation, entry });
        return;
    }
  }

  /** Call once the log is applied beyond the end of the request. */
  settle(operation: number, outcome: Outcome, evidence: Readonly<Record<string, unknown>>): void {
    const entry = this.seen.get(operation);
    this.seen.delete(operation);
    const all = { operation, outcome, entry, ...evidence };
    switch (outcome.kind) {
      case 'unknown':
        this.states[operation] = entry === undefined ? State.Unknown : State.UnknownSeen;
        this.report.pass('write-at-most-once');
        return;
      case 'refused':
        this.states[operation] = State.Refused;
        if (entry === undefined) this.report.pass('write-at-most-once');
        else this.report.fail('write-at-most-once', 'a refused write is in the log', all);
        return;
      case 'acknowledged':
        this.states[operation] = State.Settled;
        if (entry === undefined) this.report.fail('write-once', 'an acknowledged write is not in the log', all);
        else if (entry.version !== outcome.version)
          this.report.fail('write-once', 'an acknowledged write has another version in the log', all);
        else this.report.pass('write-once');
        if (outcome.follows === undefined || entry === undefined) return;
        if (entry.previousVersion === outcome.follows) this.report.pass('write-condition');
        else this.report.fail('write-condition', 'a conditional write took the place of another version', all);
    }
  }

  /** The same for an acknowledged delete, identified by the uid it removed. */
  settleDelete(
    history: History,
    key: ObjectKey,
    uid: string,
    follows: number | undefined,
    evidence: Readonly<Record<string, unknown>>,
  ): void {
    const entry = history.deletionOf(key, uid);
    const all = { key, uid, follows, entry, ...evidence };
    if (entry === undefined) {
      this.report.fail('write-once', 'an acknowledged delete is not in the log', all);
      return;
    }
    this.report.pass('write-once');
    if (follows === undefined) return;
    if (entry.previousVersion === follows) this.report.pass('write-condition');
    else this.report.fail('write-condition', 'a conditional delete removed another version', all);
  }
}
