import type { Timers } from '../../../base/machinery/timers.js';
import { TokenBucket } from '../../../base/machinery/token-bucket.js';
import { ContendedTurns } from './contended-turns.js';

/** Limits on what controllers create in one namespace. */
export interface CreationLimits {
  /** Objects per second. */
  readonly objectsPerSecond: number;
  /** Bytes of their JSON per second. */
  readonly bytesPerSecond: number;
}

/** Which of the limits makes a creation wait longest. */
export type CreationLimit = 'objects' | 'bytes';

/** Receives the expected duration of a wait, and the limit that causes it. */
export type WaitBegins = (seconds: number, limit: CreationLimit) => void;

/** Receives reports of waiting creations. */
export interface CreationObserver {
  /** A creation begins to wait; the returned function is called at the end of the wait. */
  waits(limit: CreationLimit): (seconds: number) => void;
}

/** After a time without creations, this many seconds' worth of objects may be created at once. */
const burstSeconds = 10;
/** While a namespace would hold up others, it creates this part of the objects per second. */
const contendedPart = 1 / 4;
/** Namespaces whose budget is full again are forgotten when there are this many. */
const mostRemembered = 4096;

interface Account {
  readonly objects: TokenBucket;
  readonly bytes: TokenBucket;
}

/**
 * Slows down what loops create in each namespace: a tenant's templates must not fill the database, and the memory of
 * every watcher, as fast as the loops can write. While other namespaces have work and the thread is busy, a namespace
 * creates a quarter as many objects. Namespaces that stay below the limits never wait for their budget.
 */
export class CreationBudget {
  private readonly accounts = new Map<string, Account>();
  private readonly turns: ContendedTurns;

  /** @param isContended whether the thread is busy and namespaces other than this one have work */
  constructor(
    readonly limits: CreationLimits,
    private readonly timers: Timers,
    private readonly observer?: CreationObserver,
    isContended: (namespace: string) => boolean = () => false,
  ) {
    const free = limits.objectsPerSecond;
    this.turns = new ContendedTurns(timers, isContended, { contended: free * contendedPart, free });
  }

  /**
   * Resolves when an object of the given number of bytes may be created in the namespace, or after the abort.
   *
   * @param began called at once if the wait takes at least the given number of seconds
   */
  async spend(
    namespace: string,
    bytes: number,
    signal: AbortSignal,
    began: WaitBegins = () => undefined,
  ): Promise<void> {
    const { seconds, limit } = this.pay(namespace, bytes);
    const inTurn = this.turns.expectedSeconds(namespace);
    const turn = seconds <= 0 ? this.turns.take(namespace, signal) : this.timers.wait(seconds * 1000, signal);
    if (turn === undefined) return;
    await this.waiting(inTurn > seconds ? 'objects' : limit, Math.max(seconds, inTurn), began, async () => {
      await turn;
      if (seconds > 0) await this.turns.take(namespace, signal);
    });
  }

  /** The same for a change of a large object, which has a budget of its own and takes no turns. */
  async spendOnChange(namespace: string, bytes: number, signal: AbortSignal, began: WaitBegins): Promise<void> {
    const { seconds, limit } = this.pay(`changes in ${namespace}`, bytes);
    if (seconds > 0) await this.waiting(limit, seconds, began, () => this.timers.wait(seconds * 1000, signal));
  }

  /** Debts are paid in the order in which they were made: each creation waits until the budget would be back at zero. */
  private pay(name: string, bytes: number): { readonly seconds: number; readonly limit: CreationLimit } {
    const now = this.timers.elapsed();
    const account = this.account(name, now);
    const forObjects = account.objects.spend(now) / 1000;
    const forBytes = account.bytes.spend(now, bytes) / 1000;
    return { seconds: Math.max(forObjects, forBytes), limit: forBytes > forObjects ? 'bytes' : 'objects' };
  }

  private async waiting(
    limit: CreationLimit,
    seconds: number,
    began: WaitBegins,
    wait: () => Promise<void>,
  ): Promise<void> {
    const since = this.timers.elapsed();
    began(seconds, limit);
    const ended = this.observer?.waits(limit);
    await wait();
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
