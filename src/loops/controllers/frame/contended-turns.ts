import type { Timers } from '../../../base/machinery/timers.js';
import { TokenBucket } from '../../../base/machinery/token-bucket.js';

/** How many creations of one namespace pass per second. */
export interface TurnRates {
  /** While other namespaces have work and the thread is busy. A second's worth passes at once after a pause. */
  readonly contended: number;
  /** When that is over and creations still wait. */
  readonly free: number;
}

/** Namespaces that have not created anything for long are forgotten when there are this many. */
const mostRemembered = 4096;

interface Waiting {
  readonly signal: AbortSignal;
  readonly begin: () => void;
}

/**
 * Lets creations of a namespace pass one after the other, slowly, while they would hold up others. Each created object
 * makes work beyond its own creation: it is placed, started, counted by its owner and recorded, by loops that share a
 * thread with the loops of all other namespaces. Creations pass at once while nobody else has work, while the thread has
 * time for all, and in namespaces that create few.
 */
export class ContendedTurns {
  private readonly queues = new Map<string, Waiting[]>();
  private readonly allowances = new Map<string, TokenBucket>();

  constructor(
    private readonly timers: Timers,
    private readonly isContended: (namespace: string) => boolean,
    private readonly rates: TurnRates,
  ) {}

  /** For how many seconds creations of the namespace wait that come now, if others keep having work. */
  expectedSeconds(namespace: string): number {
    return (this.queues.get(namespace)?.length ?? 0) / this.rates.contended;
  }

  /** Resolves when it is the turn of this creation, or after the abort; undefined: it is its turn. */
  take(namespace: string, signal: AbortSignal): Promise<void> | undefined {
    const queue = this.queues.get(namespace);
    const isAllowed = this.allowance(namespace).tryTake(this.timers.elapsed());
    if (queue === undefined && (isAllowed || !this.isContended(namespace))) return undefined;
    if (signal.aborted) return undefined;
    return new Promise((resolve) => {
      const begin = () => {
        signal.removeEventListener('abort', begin);
        resolve();
      };
      signal.addEventListener('abort', begin);
      const waiting = { signal, begin };
      if (queue === undefined) this.start(namespace, waiting);
      else queue.push(waiting);
    });
  }

  private allowance(namespace: string): TokenBucket {
    let allowance = this.allowances.get(namespace);
    if (allowance === undefined) {
      this.forgetFull();
      const { contended } = this.rates;
      allowance = new TokenBucket(contended, contended);
      this.allowances.set(namespace, allowance);
    }
    return allowance;
  }

  private forgetFull(): void {
    if (this.allowances.size < mostRemembered) return;
    const now = this.timers.elapsed();
    for (const [namespace, allowance] of this.allowances) if (allowance.isFull(now)) this.allowances.delete(namespace);
  }

  private start(namespace: string, first: Waiting): void {
    const queue = [first];
    this.queues.set(namespace, queue);
    void this.run(namespace, queue);
  }

  private async run(namespace: string, queue: Waiting[]): Promise<void> {
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      if (!next.signal.aborted) {
        const rate = this.isContended(namespace) ? this.rates.contended : this.rates.free;
        await this.timers.wait(1000 / rate, next.signal);
      }
      queue.shift();
      next.begin();
    }
    this.queues.delete(namespace);
  }
}
