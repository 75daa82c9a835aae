import { formatTime } from '../../base/machinery/clock.js';
import type { Timers } from '../../base/machinery/timers.js';
import { TokenBucket } from '../../base/machinery/token-bucket.js';
import type { ApiUser } from '../connection/api-connection.js';
import type { ContainerEvent } from './container-run.js';
import type { PodPlan } from './pod-plan.js';

/** A node may write this many events at once, and then this many each second. */
const burst = 10;
const perSecond = 5;

/** Writes the events of one node's pods concurrently. Events above the limit of a node agent are left out. */
export class PodEvents {
  private readonly bucket = new TokenBucket(perSecond, burst);
  private count = 0;

  constructor(
    private readonly api: ApiUser,
    private readonly node: string,
    private readonly timers: Timers,
    private readonly signal: AbortSignal,
  ) {}

  record({ namespace, name, uid, resourceVersion }: PodPlan, { type, reason, message }: ContainerEvent): void {
    if (!this.bucket.tryTake(this.timers.elapsed())) return;
    this.count += 1;
    const now = this.timers.now();
    const time = formatTime(now);
    const body = {
      metadata: { name: `${name}.${now.toString(16)}${this.count.toString(16)}`, namespace },
      involvedObject: { kind: 'Pod', apiVersion: 'v1', namespace, name, uid, resourceVersion },
      type,
      reason,
      message,
      source: { component: 'kubelet', host: this.node },
      reportingComponent: 'kubelet',
      reportingInstance: this.node,
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    };
    // No work depends on events.
    this.api
      .send('POST', `/api/v1/namespaces/${namespace}/events`, { body, rank: 'minor', signal: this.signal })
      .catch(() => undefined);
  }
}
