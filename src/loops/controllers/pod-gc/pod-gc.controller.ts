import { formatTime } from '../../../base/machinery/clock.js';
import { podsByNode, type StoredPod } from '../frame/indexes.js';
import { isPodFinished, observed } from '../frame/pod-state.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import {
  keyOf,
  type ReconcileDependencies,
  ReconcileLoop,
  type Source,
  source,
  splitKey,
} from '../frame/reconcile-loop.js';
import type { WorkOutcome } from '../work-queue.js';
import { isOutOfService, type StoredNode, surplusPods } from './doomed-pods.js';
import { MissingNodes } from './missing-nodes.js';

export interface PodGcDependencies extends ReconcileDependencies {
  /** How many finished pods are kept. 0: all. */
  readonly threshold: number;
}

/** How long the pods of a missing node are spared, in milliseconds: the node may come back under the same name. */
const quarantineMs = 40_000;
/**
 * Each process waits at least this long itself, whatever others recorded: after an outage nodes need a moment to come
 * back.
 */
const ownQuarantineMs = 5000;
/** How long deleted pods without a node count as terminating while something holds them, in milliseconds. */
const unscheduledMs = 20_000;
/** The key that stands for the finished pods; no pod has a key without a slash. */
const finishedKey = 'finished';
/** The key that stands for the records of missing nodes. */
const notesKey = 'notes';

/**
 * Removes pods that nobody else will remove: pods of nodes that are gone or out of service, pods that were deleted
 * before they had a node, and the oldest when too many have finished.
 */
export class PodGcController extends ReconcileLoop {
  readonly name = 'pod-garbage-collector';
  private readonly pods = this.informer<StoredPod>('', 'pods');
  private readonly nodes = this.informer<StoredNode>('', 'nodes');
  private readonly ofNode = podsByNode(this.pods);
  private readonly finished = this.pods.index('finished', (pod) => (isPodFinished(pod) ? [finishedKey] : []));
  private readonly missing = new MissingNodes(this.dependencies.storage);
  /** When this process first missed each node that pods name. */
  private readonly seenMissing = new Map<string, number>();
  private readonly threshold: number;

  constructor(dependencies: PodGcDependencies) {
    super(dependencies);
    this.threshold = dependencies.threshold;
  }

  protected sources(): readonly Source[] {
    this.seenMissing.clear();
    this.missing.reset();
    return [
      source(this.pods, (pod, old) => this.keysOfPod(pod, old)),
      source(this.nodes, (node, old) => {
        const name = (node ?? old)?.metadata.name ?? '';
        if (node !== undefined) this.seenMissing.delete(name);
        const pods = [...this.ofNode.get(name)].map(keyOf);
        return node !== undefined && this.missing.has(name) ? [...pods, notesKey] : pods;
      }),
    ];
  }

  protected override started(): void {
    this.enqueue(notesKey);
  }

  private *keysOfPod(pod: StoredPod | undefined, old: StoredPod | undefined): Generator<string> {
    if (pod === undefined) {
      const { nodeName = '' } = old?.spec ?? {};
      if (this.missing.has(nodeName) && this.ofNode.get(nodeName).size === 0) yield notesKey;
      return;
    }
    if (isPodFinished(pod) && (old === undefined || !isPodFinished(old)) && this.threshold > 0) yield finishedKey;
    const { nodeName = '' } = pod.spec;
    const isDeleted = pod.metadata.deletionTimestamp !== undefined;
    if (isDeleted || (nodeName !== '' && this.nodes.get('', nodeName) === undefined)) yield keyOf(pod);
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    if (key === finishedKey) return this.removeSurplus(work);
    if (key === notesKey) return this.tidyNotes();
    const { namespace, name } = splitKey(key);
    const pod = this.pods.get(namespace, name);
    if (pod === undefined) return 'done';
    const { nodeName = '' } = pod.spec;
    const isDeleted = pod.metadata.deletionTimestamp !== undefined;
    if (nodeName === '') {
      return isDeleted ? this.endUnscheduled(pod, work) : 'done';
    }
    const node = this.nodes.get('', nodeName);
    if (node !== undefined) {
      if (isDeleted && isOutOfService(node, this.dependencies.names)) await this.end(pod, work);
      return 'done';
    }
    const rest = await this.quarantineLeft(nodeName);
    if (rest > 0) return rest;
    if ((await this.client('', 'nodes').get('', nodeName)) !== undefined) return 'later';
    await this.end(pod, work, 'PodGC: node no longer exists');
    return 'done';
  }

  /** Ends a deleted pod that was never scheduled, if something still holds it after a while. */
  private async endUnscheduled(pod: StoredPod, work: ReconcileContext): Promise<WorkOutcome> {
    const { deletionTimestamp } = pod.metadata;
    const left = Date.parse(deletionTimestamp as string) + unscheduledMs - work.now;
    // The clocks of other processes may be wrong.
    if (left > 0) return Math.min(left, unscheduledMs);
    await this.end(pod, work);
    return 'done';
  }

  /** How long the pods of a missing node are still spared. */
  private async quarantineLeft(nodeName: string): Promise<number> {
    const { timers } = this.dependencies;
    const seen = this.seenMissing.get(nodeName) ?? timers.elapsed();
    this.seenMissing.set(nodeName, seen);
    const ownMs = timers.elapsed() - seen;
    const noted = await this.missing.since(nodeName, timers.now());
    const left = Math.max(noted + quarantineMs - timers.now(), ownQuarantineMs - ownMs);
    // The clocks of other processes may be wrong.
    return Math.min(left, quarantineMs - ownMs);
  }

  /** Removes the records of nodes that are back, or that no pod names any more. */
  private async tidyNotes(): Promise<WorkOutcome> {
    for (const name of await this.missing.load()) {
      const isMissed = this.nodes.get('', name) === undefined && this.ofNode.get(name).size > 0;
      if (!isMissed) await this.missing.forget(name);
    }
    return 'done';
  }

  /** Removes a pod at once. It counts as failed unless its real outcome is known. */
  private async end(pod: StoredPod, work: ReconcileContext, disruption?: string): Promise<void> {
    const pods = this.client<StoredPod>('', 'pods');
    if (!isPodFinished(pod)) {
      const now = formatTime(work.now);
      await pods.updateStatus(work, pod, (live) => {
        if (isPodFinished(live)) return undefined;
        live.status.phase = 'Failed';
        if (disruption !== undefined) {
          const conditions = (live.status.conditions ?? []).filter(({ type }) => type !== 'DisruptionTarget');
          const reason = 'DeletionByPodGC';
          const fields = {
            status: 'True' as const,
            reason,
            message: disruption,
            lastTransitionTime: now,
            ...observed(live),
          };
          live.status.conditions = [...conditions, { type: 'DisruptionTarget', lastProbeTime: null, ...fields }];
        }
        return live;
      });
    }
    if (await pods.delete(work, pod, { gracePeriodSeconds: 0 })) {
      this.dependencies.logger.info('a pod whose node does not remove it was deleted', {
        pod: keyOf(pod),
        node: pod.spec.nodeName ?? '',
      });
    }
  }

  private async removeSurplus(work: ReconcileContext): Promise<WorkOutcome> {
    const pods = this.client<StoredPod>('', 'pods');
    for (const pod of surplusPods(this.finished.get(finishedKey), this.threshold)) {
      if (work.signal.aborted) break;
      if (pod.metadata.deletionTimestamp !== undefined) continue;
      await pods.delete(work, pod, { gracePeriodSeconds: 0 });
    }
    return 'done';
  }
}
