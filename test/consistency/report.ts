/** What is checked; the words in front of the counts of a report. */
export const checkTitles = {
  'log-order': 'the log only grows at its end, by rising versions',
  'log-links': 'each entry follows on the state before it',
  'write-once': 'acknowledged writes are in the log exactly once, at the version answered',
  'write-at-most-once': 'writes without an answer are in the log at most once, refused ones never',
  'write-condition': 'a conditional write follows on the version it named',
  'watch-events': 'each event of a watch is the next entry of the log that its selection shows',
  'watch-complete': 'no entry is missing from a watch, across all of its connections',
  'watch-bookmarks': 'a bookmark comes after everything up to its version',
  'watch-prompt': 'a single write reaches every open watch in time, without others behind it',
  'list-content': 'a list, all pages, is the state of the log at its version',
  'list-fresh': 'a list is not older than what was seen or asked for before',
  'read-fresh': 'a read shows a state between what was known at its start and its end',
  'rows-content': 'the rows behind the SQL views are the list at its version, however often who keeps them is killed',
  'past-content': 'cluster.as_of shows the list at its version, from the log and from the history',
  'no-op': 'a write that changes nothing is not in the log',
  answers: 'every request is answered, with a code that belongs there',
} as const;

/** One check by its short name. */
export type CheckName = keyof typeof checkTitles;

/** A violation, with the data needed to investigate it: which client saw it, at which versions, from which process. */
export interface Violation {
  readonly check: CheckName;
  readonly message: string;
  readonly evidence: Readonly<Record<string, unknown>>;
}

const mostKept = 50;

/** Counts what passed and keeps the first violations of a run. */
export class Report {
  readonly violations: Violation[] = [];
  readonly counters = new Map<string, number>();
  private readonly passed = new Map<CheckName, number>();
  private readonly failed = new Map<CheckName, number>();

  pass(check: CheckName, count = 1): void {
    this.passed.set(check, (this.passed.get(check) ?? 0) + count);
  }

  fail(check: CheckName, message: string, evidence: Readonly<Record<string, unknown>>): void {
    this.failed.set(check, (this.failed.get(check) ?? 0) + 1);
    if (this.violations.length < mostKept) this.violations.push({ check, message, evidence });
  }

  /** Counts a result that is neither right nor wrong, such as the answers by their codes. */
  count(what: string, by = 1): void {
    this.counters.set(what, (this.counters.get(what) ?? 0) + by);
  }

  passes(check: CheckName): number {
    return this.passed.get(check) ?? 0;
  }

  /** How many violations of one check, or of all of them. */
  failures(check?: CheckName): number {
    if (check !== undefined) return this.failed.get(check) ?? 0;
    let sum = 0;
    for (const count of this.failed.values()) sum += count;
    return sum;
  }

  /** For people: the events, counts per check, evidence. */
  format(): string {
    const lines = ['', 'what happened:'];
    for (const [what, count] of [...this.counters].sort()) lines.push(`  ${String(count).padStart(9)}  ${what}`);
    lines.push('', `checks:${'passed'.padStart(24)}${'failed'.padStart(9)}`);
    for (const check of Object.keys(checkTitles) as CheckName[]) {
      const counts = [this.passes(check), this.failures(check)].map((count) => String(count).padStart(9)).join('');
      lines.push(`  ${check.padEnd(20)}${counts}  ${checkTitles[check]}`);
    }
    for (const { check, message, evidence } of this.violations) {
      lines.push('', `VIOLATION ${check}: ${message}`, `  ${JSON.stringify(evidence)}`);
    }
    const left = this.failures() - this.violations.length;
    if (left > 0) lines.push('', `... and ${left} more`);
    return lines.join('\n');
  }
}
