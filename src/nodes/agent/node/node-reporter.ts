import { errorText } from '../../../base/machinery/startup-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { Taint } from '../../../objects/apis/core/v1/affinity.types.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { ApiUser } from '../../connection/api-connection.js';
import { ApiError } from '../../connection/api-error.js';
import { renewNodeLease } from '../../connection/node-lease.js';
import type { EventSink } from '../agent-events.js';
import { type NodeStatusCondition, type ReportedNodeState, reportedNodeStatus } from './node-status.js';

export interface ReporterDependencies {
  readonly api: ApiUser;
  readonly names: VendorNames;
  readonly nodeName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** Whether the agent creates the Node object; otherwise somebody else does. */
  readonly registers: boolean;
  readonly unschedulable: boolean;
  readonly leaseMs: number;
  /** The interval at which the status is computed. */
  readonly lookMs: number;
  /** The interval at which an unchanged status is reported. */
  readonly reportMs: number;
  readonly state: () => Promise<ReportedNodeState>;
  readonly events: EventSink;
  readonly onNode: (node: Node) => void;
  readonly timers: Timers;
  readonly logger: Logger;
}

const retryMs = 1000;
/** What changes all the time, such as devices of a plugin that has gone mad, is reported this often at most. */
const hurryMs = 1000;
/** A new node gets its addresses for pods and its network meanwhile: until it is ready, it looks this often, for this long. */
const firstLooks = { everyMs: 500, forMs: 120_000 };
/** How many renewals are due before a lease expires. */
const renewals = 4;

/** Creates the Node object, keeps its status up to date, and renews its lease. */
export class NodeReporter {
  private node: Node | undefined;
  private reported = '';
  private reportedAt = Number.NEGATIVE_INFINITY;
  private isReady = false;
  private startedAt = 0;
  private wake = new AbortController();

  constructor(private readonly dependencies: ReporterDependencies) {}

  get present(): Node | undefined {
    return this.node;
  }

  /** The status changed in a way that should be reported at once. */
  changed(): void {
    this.wake.abort();
  }

  /** @param registered called when the API has the Node */
  async run(signal: AbortSignal, registered: () => void): Promise<void> {
    const { timers, logger, leaseMs, lookMs } = this.dependencies;
    for (;;) {
      try {
        await this.register(signal);
        break;
      } catch (error) {
        if (signal.aborted) return;
        logger.warn('the node could not be registered yet', { error: errorText(error) });
        await timers.wait(retryMs, signal);
        if (signal.aborted) return;
      }
    }
    registered();
    this.startedAt = timers.elapsed();
    const leasePauseMs = () => leaseMs / renewals;
    await Promise.all([
      this.repeat('the lease of the node could not be renewed', leasePauseMs, signal, () => this.renew(signal)),
      this.repeat(
        'the status of the node could not be reported',
        () => this.lookPauseMs(lookMs),
        signal,
        (wake) => {
          this.wake = wake;
          return this.report(signal);
        },
      ),
    ]);
  }

  private lookPauseMs(lookMs: number): number {
    const { timers } = this.dependencies;
    const isNew = timers.elapsed() < this.startedAt + firstLooks.forMs;
    return isNew && !this.isReady ? Math.min(lookMs, firstLooks.everyMs) : lookMs;
  }

  /** Works again and again; whoever aborts what the work was given makes the next turn begin at once, or a second after the last such one. */
  private async repeat(
    failure: string,
    pauseAfterMs: () => number,
    signal: AbortSignal,
    work: (wake: AbortController) => Promise<void>,
  ): Promise<void> {
    const { timers, logger } = this.dependencies;
    let hurriedAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      const wake = new AbortController();
      let pauseMs: number;
      try {
        await work(wake);
        pauseMs = pauseAfterMs();
      } catch (error) {
        if (signal.aborted) return;
        pauseMs = Math.min(pauseAfterMs(), retryMs);
        logger.warn(failure, { error: errorText(error) });
      }
      await timers.wait(pauseMs, AbortSignal.any([signal, wake.signal]));
      if (!wake.signal.aborted) continue;
      const leftMs = hurriedAt + hurryMs - timers.elapsed();
      if (leftMs > 0) await timers.wait(leftMs, signal);
      hurriedAt = timers.elapsed();
    }
  }

  private renew(signal: AbortSignal): Promise<void> {
    const { api, names, nodeName, leaseMs, timers } = this.dependencies;
    const uid = this.node?.metadata.uid ?? '';
    return renewNodeLease({ api, names, node: nodeName, uid, leaseMs, now: timers.now(), signal });
  }

  private async register(signal: AbortSignal): Promise<void> {
    const { api, nodeName, labels, taints, registers, unschedulable, timers } = this.dependencies;
    if (registers) {
      const status = reportedNodeStatus(await this.dependencies.state(), [], timers.now());
      const metadata = {
        name: nodeName,
        labels,
        annotations: { [`volumes.${this.dependencies.names.labelPrefix}/controller-managed-attach-detach`]: 'true' },
      };
      const spec = { ...(taints.length === 0 ? {} : { taints }), ...(unschedulable ? { unschedulable } : {}) };
      try {
        this.take(
          await api.send<Node>('POST', '/api/v1/nodes', {
            body: { kind: 'Node', apiVersion: 'v1', metadata, spec, status },
            signal,
          }),
        );
        this.record('Normal', 'Starting', 'Starting kubelet.');
        return;
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 409)) throw error;
      }
      const contentType = 'application/strategic-merge-patch+json';
      await api.send('PATCH', `/api/v1/nodes/${nodeName}`, { body: { metadata: { labels } }, contentType, signal });
    }
    this.record('Normal', 'Starting', 'Starting kubelet.');
    await this.report(signal);
  }

  private take(node: Node): void {
    this.node = node;
    this.dependencies.onNode(node);
  }

  private record(type: 'Normal' | 'Warning', reason: string, message: string): void {
    const { nodeName } = this.dependencies;
    this.dependencies.events.record(
      { kind: 'Node', namespace: '', name: nodeName, uid: nodeName },
      type,
      reason,
      message,
    );
  }

  private async report(signal: AbortSignal): Promise<void> {
    const { api, nodeName, timers, reportMs } = this.dependencies;
    const path = `/api/v1/nodes/${nodeName}`;
    const live = await api.send<Node>('GET', `${path}?resourceVersion=0`, { rank: 'urgent', signal });
    this.take(live);
    const known = (live.status?.conditions ?? []) as unknown as readonly Partial<NodeStatusCondition>[];
    const status = reportedNodeStatus(await this.dependencies.state(), known, timers.now());
    const print = JSON.stringify({ ...status, conditions: status.conditions.map(withoutTimes) });
    const isAsReported = status.conditions.every(
      ({ type, status: value }) => known.find((each) => each.type === type)?.status === value,
    );
    this.isReady = status.conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True');
    const now = timers.elapsed();
    if (print === this.reported && isAsReported && now < this.reportedAt + reportMs) return;
    for (const { type, status: value, reason } of status.conditions) {
      if (known.find((each) => each.type === type)?.status !== value) {
        this.record(
          'Normal',
          eventReasons[type]?.[value] ?? reason,
          `Node ${nodeName} status is now: ${eventReasons[type]?.[value] ?? reason}`,
        );
      }
    }
    const contentType = 'application/strategic-merge-patch+json';
    const { addresses, ...others } = status;
    const body = { status: { ...others, addresses: [{ $patch: 'replace' }, ...addresses] } };
    await api.send('PATCH', `${path}/status`, { body, contentType, rank: 'urgent', signal });
    this.reported = print;
    this.reportedAt = now;
  }
}

function withoutTimes({ type, status, reason, message }: NodeStatusCondition): object {
  return { type, status, reason, message };
}

/** Events about changed conditions have reasons of their own. */
const eventReasons: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  MemoryPressure: { True: 'NodeHasInsufficientMemory', False: 'NodeHasSufficientMemory' },
  DiskPressure: { True: 'NodeHasDiskPressure', False: 'NodeHasNoDiskPressure' },
  PIDPressure: { True: 'NodeHasInsufficientPID', False: 'NodeHasSufficientPID' },
  Ready: { True: 'NodeReady', False: 'NodeNotReady' },
};
