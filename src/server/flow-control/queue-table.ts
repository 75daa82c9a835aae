import type { FlowHash } from './flow-hash.js';
import { Queue, type Queuing } from './queue.js';
import { expectedSeconds } from './work.js';

/** A level may have millions of queues. Above this number, queues exist only while they have requests. */
const keptQueues = 1024;

/** The existing queues of a level. */
export class QueueTable<T> implements Iterable<Queue<T>> {
  /** By index. */
  private readonly queues = new Map<number, Queue<T>>();

  constructor(private queuing: Queuing | undefined) {
    this.makeKept();
  }

  [Symbol.iterator](): IterableIterator<Queue<T>> {
    return this.queues.values();
  }

  /** Changes which queues exist; those that have requests stay. */
  setQueuing(queuing: Queuing | undefined): void {
    this.queuing = queuing;
    this.makeKept();
    for (const queue of this.queues.values()) this.dropIfDone(queue);
  }

  /** The least loaded queue of a flow's hand, which is made if it does not exist. */
  choose(flow: FlowHash, { queues, handSize }: Queuing): Queue<T> {
    let best = 0;
    let least = Number.POSITIVE_INFINITY;
    for (const index of flow.dealt(queues, handSize)) {
      const queue = this.queues.get(index);
      const load = queue === undefined ? 0 : queue.waitingWork + queue.seatsInUse * expectedSeconds;
      if (load >= least) continue;
      best = index;
      least = load;
    }
    let queue = this.queues.get(best);
    if (queue === undefined) {
      queue = new Queue(best);
      this.queues.set(best, queue);
    }
    return queue;
  }

  /** Drops an extra queue once it is empty. */
  dropIfDone(queue: Queue<T>): void {
    const isKept = queue.index < this.kept;
    if (!isKept && !queue.isActive && queue.parked === 0) this.queues.delete(queue.index);
  }

  private get kept(): number {
    return Math.min(this.queuing?.queues ?? 0, keptQueues);
  }

  private makeKept(): void {
    for (let i = 0; i < this.kept; i++) if (!this.queues.has(i)) this.queues.set(i, new Queue(i));
  }
}
