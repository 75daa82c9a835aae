import type { NotTaken } from '../format/lines.js';
import { printable } from '../format/printable.js';

/** The outcome for an object. `leftOut`: by a rule. `failed`: the server refused it. */
export type ImportOutcome = 'created' | 'updated' | 'existed' | 'leftOut' | 'failed';

/** How many objects of a kind had each outcome. */
export type Outcomes = Readonly<Record<ImportOutcome, number>>;

/** Objects of one kind that share a reason. */
export interface Note {
  readonly resource: string;
  readonly why: string;
  /** Whether the reason means that something is missing now. Otherwise the state is as desired. */
  readonly isFault: boolean;
  readonly objects: number;
  /** The names of the first objects. */
  readonly names: readonly string[];
}

/** How many objects are named for each reason. */
const mostNames = 1000;
/** Reasons may differ for each object; at most this many are counted separately. */
const mostNotes = 10_000;

interface OpenNote extends Note {
  objects: number;
  readonly names: string[];
}

/** Counts the outcomes for the objects of an import, with reasons. */
export class Tally {
  private readonly counts = new Map<string, Record<ImportOutcome, number>>();
  private readonly notes = new Map<string, OpenNote>();
  readonly notTaken: NotTaken[] = [];

  /** @param resource name of the kind, as `deployments.apps` */
  count(resource: string, outcome: ImportOutcome): void {
    let counts = this.counts.get(resource);
    if (counts === undefined) {
      counts = { created: 0, updated: 0, existed: 0, leftOut: 0, failed: 0 };
      this.counts.set(resource, counts);
    }
    counts[outcome] += 1;
  }

  /** Adds a remark about an object. */
  note(resource: string, name: string, why: string, isFault: boolean): void {
    const text = printable(why).slice(0, 1000);
    const key = JSON.stringify([resource, isFault, text.replaceAll(`"${name.replace(/.*\//, '')}"`, '…')]);
    const known = this.notes.get(key);
    if (known !== undefined) {
      known.objects += 1;
      if (known.names.length < mostNames) known.names.push(name);
    } else if (this.notes.size < mostNotes) {
      this.notes.set(key, { resource, why: text, isFault, objects: 1, names: [name] });
    }
  }

  get rows(): readonly (readonly [resource: string, counts: Outcomes])[] {
    return [...this.counts];
  }

  /** All reasons, faults first. */
  get reasons(): readonly Note[] {
    return [...this.notes.values()].sort((a, b) => Number(b.isFault) - Number(a.isFault));
  }

  /** Whether something is missing that the user did not exclude. */
  get hasFaults(): boolean {
    const failed = this.rows.some(([, { failed }]) => failed > 0);
    return failed || this.notTaken.some(({ asked }) => !asked) || this.reasons.some(({ isFault }) => isFault);
  }
}
