import { OutageLog, type OutageLogger } from '../../base/observability/outage-log.js';
import type { ApiEndpoints } from './api-endpoints.js';
import type { ServingAddress, ServingLeases } from './serving-leases.js';

/** The waiting functions of the advertiser, replaceable in tests. */
export interface Waits {
  /** Resolves after `milliseconds`, or as soon as `signal` is aborted. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export interface AdvertiserDependencies {
  readonly leases: ServingLeases;
  readonly endpoints: Pick<ApiEndpoints, 'publish'>;
  /** The address of this process; undefined when others can't reach it. */
  readonly own: ServingAddress | undefined;
  readonly logger: OutageLogger;
  readonly timers: Waits;
}

/**
 * Time between two rounds. Every process reads the leases this often, so a single missed renewal does not make one
 * expire.
 */
const roundMs = 10_000;

/** The longest time that shutdown may wait for the address to be removed. */
const withdrawLimitMs = 5_000;

/**
 * Publishes in the cluster at which addresses the API is served. Every serving process adds its own address, and all of
 * them remove the addresses of processes that died.
 */
export class Advertiser {
  private readonly stop = new AbortController();
  private readonly outage: OutageLog;
  private running: Promise<void> | undefined;

  constructor(private readonly dependencies: AdvertiserDependencies) {
    this.outage = new OutageLog(dependencies.logger, {
      failed: 'cannot publish where the API is served',
      recovered: 'publishes again where the API is served',
    });
  }

  /** Starts the rounds in the background. */
  start(): void {
    this.running ??= this.run();
  }

  /**
   * Removes the address of this process and stops. Never throws, and does not wait long for an unreachable database:
   * the lease expires anyway.
   */
  async withdraw(): Promise<void> {
    this.stop.abort();
    if (this.running === undefined) return;
    const done = new AbortController();
    const work = this.takeAway(this.running).finally(() => done.abort());
    await Promise.race([work, this.dependencies.timers.wait(withdrawLimitMs, done.signal)]);
  }

  private async takeAway(running: Promise<void>): Promise<void> {
    const { leases, endpoints, own } = this.dependencies;
    await running;
    if (own === undefined) return;
    try {
      await leases.giveUp();
      await endpoints.publish((await leases.survey()).addresses);
    } catch (error) {
      this.outage.failed({ error });
    }
  }

  /** One round: renews the lease, surveys all leases and publishes the addresses. */
  async round(): Promise<void> {
    const { leases, endpoints, own } = this.dependencies;
    try {
      if (own !== undefined) await leases.renew(own);
      const { addresses, expired } = await leases.survey();
      // If no process has an address that others can reach, somebody else manages the objects.
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
      await this.dependencies.timers.wait(roundMs, signal);
    }
  }
}
