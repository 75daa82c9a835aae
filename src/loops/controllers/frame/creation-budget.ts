import type { Timers } from '../../../base/machinery/timers.js';
import { TokenBucket } from '../../../base/machinery/token-bucket.js';

/** Limits on what controllers create in one namespace. */
export interface CreationLimits {
  /** Objects per second. */
  readonly objectsPerSecond: number;
  /** Bytes of their JSON per second. */
  readonly bytesPerSecond: number;
}

/** Which of the limits makes a creation wait longest. */
export type CreationLimit = 'objects' | 'bytes';

/** Receives reports of waiting creations. */
export interface CreationObserver {
  /** A creation begins to wait; the returned function is called at the end of the wait. */
  waits(limit: CreationLimit): (seconds: number) => void;
}

/** After a time without creations, this many seconds' worth of objects may be created at once. */
const burstSeconds = 10;
/** Namespaces whose budget is full again are forgotten when there are this many. */
const mostRemembered = 4096;

interface Account {
  readonly objects: TokenBucket;
  readonly bytes: TokenBucket;
}

/**
 * Slows down what loops create in each namespace: a tenant's templates must not fill the database, and the memory of
 * every watcher, as fast as the loops can write. Namespaces that stay below the limits never wait.
 */
export class CreationBudget {
  private readonly accounts = new Map<string, Account>();

  constructor(
    readonly limits: CreationLimits,
    private readonly timers: Timers,
    private readonly observer?: CreationObserver,
  ) {}

  /**
   * Resolves when an object of the given number of bytes may be created in the namespace, or after the abort.
   *
   * @param began called at once if the wait takes at least the given number of seconds
   */
  async spend(
    namespace: string,
    bytes: number,
    signal: AbortSignal,
    began: (seconds: number, limit: CreationLimit) => void = () => undefined,
  ): Promise<void> {
    const since = this.timers.elapsed();
    const account = this.account(namespace, since);
    // Debts are paid in the order in which they were made: each creation waits until the budget would be back at zero.
    const forObjects = account.objects.spend(since) / 1000;
    const forBytes = account.bytes.spend(since, bytes) / 1000;
    const seconds = Math.max(forObjects, forBytes);
    if (seconds <= 0) return;
    const limit = forBytes > forObjects ? 'bytes' : 'objects';
    began(seconds, limit);
    const ended = this.observer?.waits(limit);
    await this.timers.wait(seconds * 1000, signal);
    ended?.((this.timers.elapsed() - since) / 1000);
  }

  private account(namespace: string, now: number): Account {
    let account = this.accounts.get(namespace);
    if (account === undefined) {
      this.forgetFull(now);
      const { objectsPerSecond, bytesPerSecond } = this.limits;
      account = {
        objects: new TokenBucket(objectsPerSecond, objectsPerSecond * burstSeconds),
        bytes: new TokenBucket(bytesPerSecond, bytesPerSecond * burstSeconds),
      };
      this.accounts.set(namespace, account);
    }
    return account;
  }

  private forgetFull(now: number): void {
    if (this.accounts.size < mostRemembered) return;
    for (const [namespace, { objects, bytes }] of this.accounts) {
      if (objects.isFull(now) && bytes.isFull(now)) this.accounts.delete(namespace);
    }
  }
}
