import type { Timers } from '../../../base/machinery/timers.js';

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
  objects: number;
  bytes: number;
  at: number;
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
    const { objectsPerSecond, bytesPerSecond } = this.limits;
    const account = this.account(namespace);
    account.objects -= 1;
    account.bytes -= bytes;
    // Debts are paid in the order in which they were made: each creation waits until the budget would be back at zero.
    const forObjects = -account.objects / objectsPerSecond;
    const forBytes = -account.bytes / bytesPerSecond;
    const seconds = Math.max(forObjects, forBytes);
    if (seconds <= 0) return;
    const limit = forBytes > forObjects ? 'bytes' : 'objects';
    began(seconds, limit);
    const since = this.timers.elapsed();
    const ended = this.observer?.waits(limit);
    await this.timers.wait(seconds * 1000, signal);
    ended?.((this.timers.elapsed() - since) / 1000);
  }

  private account(namespace: string): Account {
    const { objectsPerSecond, bytesPerSecond } = this.limits;
    const now = this.timers.elapsed();
    let account = this.accounts.get(namespace);
    if (account === undefined) {
      this.forgetFull(now);
      account = { objects: objectsPerSecond * burstSeconds, bytes: bytesPerSecond * burstSeconds, at: now };
      this.accounts.set(namespace, account);
    }
    const seconds = (now - account.at) / 1000;
    account.objects = Math.min(objectsPerSecond * burstSeconds, account.objects + seconds * objectsPerSecond);
    account.bytes = Math.min(bytesPerSecond * burstSeconds, account.bytes + seconds * bytesPerSecond);
    account.at = now;
    return account;
  }

  private forgetFull(now: number): void {
    if (this.accounts.size < mostRemembered) return;
    for (const [namespace, { objects, bytes, at }] of this.accounts) {
      const isEven = objects >= 0 && bytes >= 0;
      if (isEven && now - at > burstSeconds * 1000) this.accounts.delete(namespace);
    }
  }
}
