import type { ApiObject } from '../../src/base/machinery/api-object.js';
import type { GroupResource } from '../../src/base/machinery/group-version.js';
import type { QueueCounter } from '../../src/base/observability/queue-metrics.js';
import type { Informer } from '../../src/objects/registry/informers/informer.js';
import { SharedInformers } from '../../src/objects/registry/informers/shared-informers.js';

/** Waits for the informers that have been requested. */
class KnownInformers extends SharedInformers {
  private readonly known = new Set<Pick<Informer, 'reached'>>();

  override of<T extends ApiObject>(resource: GroupResource): Informer<T> {
    const informer = super.of<T>(resource);
    this.known.add(informer);
    return informer;
  }

  async reached(version: bigint): Promise<void> {
    await Promise.all([...this.known].map((informer) => informer.reached(version)));
  }
}

/** Tracks whether there is work in a queue. */
class WatchedQueue implements QueueCounter {
  private isStarted = false;
  private waiting = 0;
  private active = 0;
  retries = 0;

  get isIdle(): boolean {
    return this.isStarted && this.waiting === 0 && this.active === 0;
  }

  added(): void {}

  depth(entries: number): void {
    this.isStarted = true;
    this.waiting = entries;
  }

  retried(): void {
    this.retries++;
  }

  began(): () => void {
    this.active++;
    return () => {
      this.active--;
    };
  }

  run<T>(_key: string, work: () => Promise<T>): Promise<T> {
    return work();
  }
}

/** The informers and queues of the loops of one process, so that a test can wait until no work is left. */
export class RestingLoops {
  readonly informers: KnownInformers;
  private readonly known: WatchedQueue[] = [];
  private retries = 0;
  /** The queue metrics of the loops. */
  readonly queues = {
    of: (): QueueCounter => {
      const queue = new WatchedQueue();
      this.known.push(queue);
      return queue;
    },
  };

  constructor(...parts: ConstructorParameters<typeof SharedInformers>) {
    this.informers = new KnownInformers(...parts);
  }

  /** Whether all queues of the loops are idle. */
  get isIdle(): boolean {
    return this.known.every((queue) => queue.isIdle);
  }

  /** Whether work has failed since the last call, and is therefore waiting for a retry. */
  hasFailed(): boolean {
    const { retries } = this;
    this.retries = this.known.reduce((sum, queue) => sum + queue.retries, 0);
    return retries !== this.retries;
  }
}
