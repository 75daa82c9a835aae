import { Backoff } from '../../base/machinery/backoff.js';
import type { Timers } from '../../base/machinery/timers.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import type { Node } from '../../objects/apis/core/v1/node.types.js';
import type { Pod } from '../../objects/apis/core/v1/pod.types.js';
import type { ApiUser } from '../connection/api-connection.js';
import { AttachedVolumes, hasClaims } from './attached-volumes.js';

export interface NodeVolumesDependencies {
  readonly api: ApiUser;
  readonly names: VendorNames;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly node: string;
  /** Whether the pod is still on the node. */
  readonly isThere: (uid: string) => boolean;
  /** Called each time the volumes of the pod were not attached in time. */
  readonly onMissing: (uid: string, volumes: readonly string[]) => void;
}

/** Pauses between checks for the volumes that a pod waits for. */
const firstLookMs = 250;
const longestLookMs = 5000;
/** Node agents wait this long for the volumes of a pod before they write an event and begin again. */
const mountMs = 123_000;

/** The volumes that the pods of one node have mounted or wait for, as the status of the node reports them. */
export class NodeVolumes {
  private readonly attached: AttachedVolumes;
  /** The names of the volumes that pods need attached, by the pod's uid. */
  private readonly inUse = new Map<string, readonly string[]>();
  private reported = '[]';

  constructor(private readonly dependencies: NodeVolumesDependencies) {
    this.attached = new AttachedVolumes(dependencies.api, dependencies.names);
  }

  /** The names of the volumes in use, sorted. */
  get mounted(): readonly string[] {
    return [...new Set([...this.inUse.values()].flat())].sort();
  }

  /**
   * Resolves when the attach-detach controller has attached what the pod needs. Undefined: the pod needs nothing.
   * Rejects only after the abort, or when the pod is gone from the node.
   */
  untilAttached(pod: Pod, signal: AbortSignal): Promise<void> | undefined {
    return hasClaims(pod) ? this.wait(pod, signal) : undefined;
  }

  private async wait(pod: Pod, signal: AbortSignal): Promise<void> {
    const { timers, logger, isThere, onMissing } = this.dependencies;
    const uid = pod.metadata.uid ?? '';
    const backoff = new Backoff({ firstMs: firstLookMs, longestMs: longestLookMs });
    let reportAt = timers.elapsed() + mountMs;
    // Wait a turn: the pod is among those of the node only after this call.
    await Promise.resolve();
    while (!signal.aborted && isThere(uid)) {
      try {
        if (await this.isAttached(pod, signal)) return;
      } catch (error) {
        if (signal.aborted) break;
        logger.debug('a simulated node could not look for the volumes of a pod', { pod: pod.metadata.name, error });
      }
      if (timers.elapsed() >= reportAt) {
        reportAt += mountMs;
        onMissing(
          uid,
          (pod.spec.volumes ?? []).map(({ name }) => name),
        );
      }
      await timers.wait(backoff.next(), signal);
    }
    throw new Error('the pod is gone');
  }

  private async isAttached(pod: Pod, signal: AbortSignal): Promise<boolean> {
    const { api, node, isThere } = this.dependencies;
    const uid = pod.metadata.uid ?? '';
    const needed = await this.attached.neededBy(pod, signal);
    if (needed?.length === 0) return true;
    if (needed === undefined || !isThere(uid)) return false;
    this.inUse.set(uid, needed);
    await this.report(signal);
    const { status } = await api.send<Node>('GET', `/api/v1/nodes/${node}`, { signal });
    const attached = new Set((status?.volumesAttached ?? []).map(({ name }) => name));
    return needed.every((name) => attached.has(name));
  }

  /** Unmounts the volumes of a pod whose containers have ended. */
  free(uid: string, signal: AbortSignal): void {
    // If this fails, the next report of the whole status contains it.
    if (this.inUse.delete(uid)) this.report(signal).catch(() => undefined);
  }

  /** Reports the volumes in use: the attach-detach controller detaches none of them. */
  private async report(signal: AbortSignal): Promise<void> {
    const { mounted } = this;
    const text = JSON.stringify(mounted);
    if (text === this.reported) return;
    const { api, node } = this.dependencies;
    const contentType = 'application/strategic-merge-patch+json';
    const body = { status: { volumesInUse: mounted.length === 0 ? null : mounted } };
    await api.send('PATCH', `/api/v1/nodes/${node}/status`, { body, contentType, rank: 'urgent', signal });
    this.reported = text;
  }
}
