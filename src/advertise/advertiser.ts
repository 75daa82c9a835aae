import { OutageLog, type OutageLogger } from '../observability/outage-log.js';
import type { ApiEndpoints } from './api-endpoints.js';
import type { ServingAddress, ServingLeases } from './serving-leases.js';

/** Time as the advertiser sees it. */
export interface Waits {
  /** Resolves after `milliseconds`, or as soon as `signal` is aborted. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export interface AdvertiserParts {
  readonly leases: ServingLeases;
  readonly endpoints: Pick<ApiEndpoints, 'publish'>;
  /** Where this process serves; undefined when it has no address for others. */
  readonly own: ServingAddress | undefined;
  readonly logger: OutageLogger;
  readonly timers: Waits;
}

/** Time between two rounds: two of them fit into a lease, so that one that fails does no harm. */
const roundMs = 10_000;

/** How long the end of a process may wait for its address to go. */
const withdrawLimitMs = 5_000;

/**
 * Tells the cluster where the API is served: every serving process contributes its own address, and all of them see to it
 * that the address of one that died goes away.
 */
export class Advertiser {
  private readonly stop = new AbortController();
  private readonly outage: OutageLog;
  private running: Promise<void> | undefined;

  constructor(private readonly parts: AdvertiserParts) {
    this.outage = new OutageLog(parts.logger, {
      failed: 'cannot say in the cluster where the API is served',
      recovered: 'the cluster is told again where the API is served',
    });
  }

  /** Begins, in the background. */
  start(): void {
    this.running ??= this.run();
  }

  /**
   * Takes the address of this process away and ends. Never throws, and does not wait long for a database that is away: the
   * lease ends by itself as well.
   */
  async withdraw(): Promise<void> {
    this.stop.abort();
    if (this.running === undefined) return;
    const done = new AbortController();
    const work = this.takeAway(this.running).finally(() => done.abort());
    await Promise.race([work, this.parts.timers.wait(withdrawLimitMs, done.signal)]);
  }

  private async takeAway(running: Promise<void>): Promise<void> {
    const { leases, endpoints, own } = this.parts;
    await running;
    if (own === undefined) return;
    try {
      await leases.giveUp();
      await endpoints.publish((await leases.survey()).addresses);
    } catch (error) {
      this.outage.failed({ error });
    }
  }

  /** Does everything once. */
  async round(): Promise<void> {
    const { leases, endpoints, own } = this.parts;
    try {
      if (own !== undefined) await leases.renew(own);
      const { addresses, expired } = await leases.survey();
      // Where no process has an address for others, the objects are somebody else's.
      if (addresses.length + expired > 0) await endpoints.publish(addresses);
      this.outage.worked();
    } catch (error) {
      leases.startOver();
      this.outage.failed({ error });
    }
  }

  private async run(): Promise<void> {
    const { signal } = this.stop;
    while (!signal.aborted) {
      await this.round();
      await this.parts.timers.wait(roundMs, signal);
    }
  }
}
