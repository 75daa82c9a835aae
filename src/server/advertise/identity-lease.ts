import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ApiObject } from '../../base/machinery/api-object.js';
import type { Clock } from '../../base/machinery/clock.js';
import { serverContext } from '../../base/machinery/internal-context.js';
import { cloneJson } from '../../base/machinery/json/exact-numbers.js';
import { decode } from '../../base/machinery/schema/index.js';
import { StatusError } from '../../base/machinery/status-error.js';
import { formatMicroTime } from '../../base/machinery/values/time.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import { OutageLog, type OutageLogger } from '../../base/observability/outage-log.js';
import type { Lease } from '../../objects/apis/coordination/v1/lease.types.js';
import { parseStored } from '../../objects/registry/store/object-codec.js';
import type { Store } from '../../objects/registry/store/store.js';
import type { Waits } from './advertiser.js';

/** The longest interval between two checks of other processes' leases. */
const longestSurveyMs = 600_000;
/** The longest time that shutdown may wait for a renewal in progress. */
const endLimitMs = 5_000;
const admitted = async () => {};

/** Dependencies of an {@link IdentityLease}. */
export interface IdentityLeaseDependencies {
  readonly names: VendorNames;
  readonly clock: Clock;
  /** The store of leases. */
  readonly leases: Store;
  /** The name of this process, which is that of its lease. */
  readonly identity: string;
  readonly durationSeconds: number;
  readonly renewSeconds: number;
  readonly logger: OutageLogger;
  readonly timers: Waits;
}

/**
 * The lease by which this serving process is known in the cluster: in the system's namespace, with the label
 * `apiserver.<prefix>/identity`, under a name that stays the same after a restart. All processes remove expired leases
 * of processes that are gone.
 */
export class IdentityLease {
  private readonly holder: string;
  private readonly stop = new AbortController();
  private readonly outage: OutageLog;
  private running: Promise<void> | undefined;

  constructor(private readonly dependencies: IdentityLeaseDependencies) {
    this.holder = `${dependencies.identity}_${randomUUID()}`;
    this.outage = new OutageLog(dependencies.logger, {
      failed: 'cannot keep the identity lease',
      recovered: 'keeps the identity lease again',
    });
  }

  /** Starts renewing in the background. */
  start(): void {
    this.running ??= this.run();
  }

  /**
   * Stops renewing, and does not wait long for an unreachable database. The lease stays until it expires, as the
   * process may restart.
   */
  async end(): Promise<void> {
    this.stop.abort();
    if (this.running === undefined) return;
    const done = new AbortController();
    const ended = this.running.finally(() => done.abort());
    await Promise.race([ended, this.dependencies.timers.wait(endLimitMs, done.signal)]);
  }

  /** Creates or renews the lease of this process. Throws a StatusError. */
  async renew(): Promise<void> {
    const { leases, names, identity, clock } = this.dependencies;
    const { systemNamespace: namespace } = names;
    const metadata = { name: identity, namespace };
    const fresh = () => decode(leases.resource.served.type, { metadata }).value as unknown as ApiObject & Lease;
    await leases.update(this.context(), namespace, identity, {
      dryRun: false,
      validate: admitted,
      forceAllowCreate: true,
      transform: (live) =>
        this.renewed(live === undefined ? fresh() : (cloneJson(live) as ApiObject & Lease), clock.now()),
    });
  }

  /** Removes expired leases of processes that are gone. Throws a StatusError. */
  async collect(): Promise<void> {
    const { leases, names, identity, clock } = this.dependencies;
    const { items } = await leases.list({ namespace: names.systemNamespace });
    for (const item of items) {
      const lease = parseStored(leases.resource, item) as ApiObject & Lease;
      if (lease.metadata.name === identity || lease.metadata.labels?.[this.labelKey] === undefined) continue;
      if (!isOver(lease, clock.now())) continue;
      const { name = '', uid, resourceVersion } = lease.metadata;
      const preconditions = { uid, resourceVersion };
      await leases
        .delete(this.context(), names.systemNamespace, name, { dryRun: false, preconditions, validate: admitted })
        .catch((error: unknown) => {
          // Another process removed the lease first, or its owner is back.
          if (!(error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason))) throw error;
        });
    }
  }

  private get labelKey(): string {
    return `apiserver.${this.dependencies.names.labelPrefix}/identity`;
  }

  private labels(): Record<string, string> {
    return {
      [this.labelKey]: 'kube-apiserver',
      [`${this.dependencies.names.labelPrefix}/hostname`]: hostname().toLowerCase().slice(0, 63),
    };
  }

  private context() {
    const context = serverContext(this.dependencies.clock.now());
    return {
      ...context,
      requestInfo: { ...context.requestInfo, apiVersion: this.dependencies.leases.resource.apiVersion },
    };
  }

  private renewed(lease: ApiObject & Lease, at: number): ApiObject & Lease {
    lease.metadata.labels = { ...lease.metadata.labels, ...this.labels() };
    lease.spec = {
      ...lease.spec,
      holderIdentity: this.holder,
      leaseDurationSeconds: this.dependencies.durationSeconds,
      renewTime: formatMicroTime(at),
    } as Lease['spec'];
    return lease;
  }

  private async run(): Promise<void> {
    const { durationSeconds, renewSeconds, timers } = this.dependencies;
    const { signal } = this.stop;
    const surveyRounds = Math.max(
      1,
      Math.round(Math.min(longestSurveyMs, durationSeconds * 1000) / (renewSeconds * 1000)),
    );
    for (let round = 0; !signal.aborted; round++) {
      try {
        await this.renew();
        if (round % surveyRounds === 0) await this.collect();
        this.outage.worked();
      } catch (error) {
        if (!signal.aborted) this.outage.failed({ error });
      }
      await timers.wait(renewSeconds * 1000, signal);
    }
  }
}

function isOver({ spec }: Lease, now: number): boolean {
  const renewed = Date.parse(spec?.renewTime ?? '');
  // A lease without a renewal time was not written by a working server.
  return Number.isNaN(renewed) || renewed + (spec?.leaseDurationSeconds ?? 0) * 1000 < now;
}
