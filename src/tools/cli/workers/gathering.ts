/**
 * How long to wait for a worker, in milliseconds: one that does not respond in time, because its event loop is busy, is
 * left out.
 */
const answerMs = 2000;

interface Collection<Answer> {
  readonly waiting: Set<number>;
  readonly answers: Map<number, Answer>;
  readonly finish: () => void;
}

/** Requests of the parent that each worker answers for itself. */
export class Gathering<Query, Answer> {
  private readonly collections = new Map<number, Collection<Answer>>();
  private nextId = 1;

  /** @param ask asks a worker to answer under an id; false when the worker can't be reached */
  constructor(private readonly ask: (worker: number, id: number, query: Query) => boolean) {}

  /** The responses by worker, of those workers that respond in time. */
  async from(workers: readonly number[], query: Query): Promise<ReadonlyMap<number, Answer>> {
    const id = this.nextId++;
    const answers = new Map<number, Answer>();
    const waiting = new Set<number>();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.collections.get(id)?.finish(), answerMs);
      const finish = () => {
        clearTimeout(timer);
        this.collections.delete(id);
        resolve();
      };
      this.collections.set(id, { waiting, answers, finish });
      for (const worker of workers) if (this.ask(worker, id, query)) waiting.add(worker);
      if (waiting.size === 0) finish();
    });
    return answers;
  }

  receive(worker: number, id: number, answer: Answer): void {
    const collection = this.collections.get(id);
    if (collection?.waiting.delete(worker) !== true) return;
    collection.answers.set(worker, answer);
    if (collection.waiting.size === 0) collection.finish();
  }

  /** Stops waiting for a worker that has ended. */
  lost(worker: number): void {
    for (const collection of [...this.collections.values()]) {
      if (collection.waiting.delete(worker) && collection.waiting.size === 0) collection.finish();
    }
  }
}
