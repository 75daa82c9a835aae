import type { Row, StatementValue } from '../postgres/session.js';
import { SharedReads } from '../postgres/shared-reads.js';
import { GET_OBJECTS, LOG_BOUNDS, READ_CHANGES } from '../postgres/statements.js';

/** A read statement, by its name, with its values. */
export interface Read {
  readonly name: string;
  readonly values: readonly StatementValue[];
  readonly timeoutMs: number;
}

type Run = (read: Read) => Promise<readonly Row[]>;

/** The most objects of one statement; larger statements are split. */
const mostKeys = 500;

/**
 * Combines the reads of several processes. Objects requested at the same time are read in one statement. Equal reads of
 * the head and of the log that arrive together are merged into one, and so are those that arrive while an equal read is
 * in progress. No result is older than its call.
 */
export class HubReads {
  private readonly objects: SharedReads<Read, readonly Row[]>;
  /** Reads in progress, by statement and parameters; {@link next} has those that start when they finish. */
  private readonly running = new Map<string, Promise<readonly Row[]>>();
  private readonly next = new Map<string, Promise<readonly Row[]>>();
  private serial = 0;

  /**
   * @param run runs one statement
   * @param mostRounds statements for objects that run at the same time
   */
  constructor(
    private readonly run: Run,
    mostRounds: number,
  ) {
    this.objects = new SharedReads(
      (reads) => this.objectsOf(reads),
      () => String(this.serial++),
      mostRounds,
    );
  }

  /** Rejects with the same error as `run`. */
  rows(read: Read): Promise<readonly Row[]> {
    switch (read.name) {
      case GET_OBJECTS.name:
        return this.objects.get(read);
      case LOG_BOUNDS.name:
      case READ_CHANGES.name:
        return this.shared(read);
      default:
        return this.run(read);
    }
  }

  private shared(read: Read): Promise<readonly Row[]> {
    const id = readId(read);
    const known = this.next.get(id);
    if (known !== undefined) return known;
    const begin = async () => {
      // Waits for the calls of all processes that are received in this turn of the event loop: they belong in this
      // read.
      await (this.running.get(id)?.catch(() => undefined) ?? new Promise<void>((resolve) => setImmediate(resolve)));
      this.next.delete(id);
      const rows = this.run(read);
      this.running.set(id, rows);
      try {
        return await rows;
      } finally {
        if (this.running.get(id) === rows) this.running.delete(id);
      }
    };
    const rows = begin();
    this.next.set(id, rows);
    return rows;
  }

  private async objectsOf(reads: readonly Read[]): Promise<readonly (readonly Row[])[]> {
    return (await Promise.all(statements(reads).map((together) => this.inOne(together)))).flat();
  }

  private async inOne(reads: readonly Read[]): Promise<readonly (readonly Row[])[]> {
    const [first] = reads;
    if (first === undefined) return [];
    if (reads.length === 1) return [await this.run(first)];
    const rows = await this.run({
      ...first,
      values: first.values.map((_, i) => reads.flatMap(({ values }) => values[i] as string[])),
    });
    // The first column counts the keys, from 1.
    const owners: { readonly rows: Row[]; readonly before: number }[] = [];
    const parts = reads.map((read) => {
      const part = { rows: [] as Row[], before: owners.length };
      for (let n = keysOf(read); n > 0; n--) owners.push(part);
      return part.rows;
    });
    for (const [index, ...object] of rows) {
      const owner = owners[Number(index) - 1];
      owner?.rows.push([String(Number(index) - owner.before), ...object]);
    }
    return parts;
  }
}

/** Groups the reads that share a statement, in their order. */
function statements(reads: readonly Read[]): Read[][] {
  const parts: Read[][] = [];
  let keys = mostKeys;
  for (const read of reads) {
    const count = keysOf(read);
    if (keys + count > mostKeys) {
      parts.push([]);
      keys = 0;
    }
    keys += count;
    parts.at(-1)?.push(read);
  }
  return parts;
}

function keysOf({ values }: Read): number {
  return (values[0] as readonly string[]).length;
}

function readId({ name, values }: Read): string {
  return JSON.stringify([name, ...values.map((value) => (typeof value === 'bigint' ? String(value) : value))]);
}
