import { performance } from 'node:perf_hooks';

/** The most versions whose times are remembered; while there are more, later ones are not. */
const mostMarks = 1_000;
/** Versions within this many milliseconds share one mark. */
const markMs = 5;

/** Measures how long a replica lacks versions that the primary is known to have. */
export class ReplicaLag {
  private readonly marks: { readonly version: bigint; readonly at: number }[] = [];

  /** @param report is called with milliseconds after each answer of a replica */
  constructor(
    private readonly report: (lagMs: number) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The primary has this version now. */
  expect(version: bigint): void {
    const last = this.marks.at(-1);
    if (last !== undefined && (version <= last.version || this.now() - last.at < markMs)) return;
    if (this.marks.length < mostMarks) this.marks.push({ version, at: this.now() });
  }

  /** A replica answers with this newest version. */
  reached(head: bigint): void {
    while ((this.marks[0]?.version ?? head + 1n) <= head) this.marks.shift();
    const [oldest] = this.marks;
    this.report(oldest === undefined ? 0 : this.now() - oldest.at);
  }
}
