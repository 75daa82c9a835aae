import { formatTime } from '../../../base/machinery/clock.js';
import type { Taint } from '../../../objects/apis/core/v1/affinity.types.js';
import { podsByNode, type StoredPod } from '../frame/indexes.js';
import { markDisrupted } from '../frame/mark-disrupted.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { keyOf, ReconcileLoop, type Source, source, splitKey } from '../frame/reconcile-loop.js';
import type { StoredNode } from '../node-lifecycle/node-silence.js';
import type { WorkOutcome } from '../work-queue.js';
import { evictionTime } from './eviction-time.js';

/** Deletes pods from nodes with taints that they do not tolerate, or do not tolerate for that long. */
export class TaintEvictionController extends ReconcileLoop {
  /** The controller acts as the service account of the node lifecycle controller, which sets most of these taints. */
  readonly name = 'node-controller';
  private readonly nodes = this.informer<StoredNode>('', 'nodes');
  private readonly pods = this.informer<StoredPod>('', 'pods');
  private readonly podsByNode = podsByNode(this.pods);
  /** Pods that have to leave at a later time, and since when this loop knows of the taints. */
  private readonly leaving = new Map<string, { readonly uid: string; readonly seenAt: number }>();

  protected override get component(): string {
    return 'taint-eviction-controller';
  }

  protected override get queueName(): string {
    return this.component;
  }

  protected sources(): readonly Source[] {
    return [
      source(this.pods, (pod, old) => {
        if (pod === undefined) return old === undefined ? [] : [keyOf(old)];
        return pod.spec.nodeName ? [keyOf(pod)] : [];
      }),
      source(this.nodes, (node, old) => {
        if (JSON.stringify(drivingTaints(node)) === JSON.stringify(drivingTaints(old))) return [];
        return [...this.podsByNode.get((node ?? old)?.metadata.name ?? '')].map(keyOf);
      }),
    ];
  }

  protected override started(): void {
    this.leaving.clear();
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const pod = this.pods.get(namespace, name);
    const { uid = '', deletionTimestamp } = pod?.metadata ?? {};
    const before = this.leaving.get(key);
    const known = before?.uid === uid ? before : undefined;
    this.leaving.delete(key);
    if (pod === undefined || deletionTimestamp !== undefined) return 'done';
    const now = this.dependencies.timers.now();
    const seenAt = known?.seenAt ?? now;
    const at = evictionTime(pod, drivingTaints(this.nodes.get('', pod.spec.nodeName ?? '')), seenAt);
    if (at === undefined) {
      if (known !== undefined) this.events.normal(pod, reason, `Cancelling deletion of Pod ${namespace}/${name}`);
      return 'done';
    }
    if (at > now) {
      this.leaving.set(key, { uid, seenAt });
      return at - now;
    }
    this.events.normal(pod, reason, `Marking for deletion Pod ${namespace}/${name}`);
    const pods = this.client<StoredPod>('', 'pods');
    const message = 'Taint manager: deleting due to NoExecute taint';
    await pods.updateStatus(work, pod, (live) =>
      markDisrupted(live, { reason: 'DeletionByTaintManager', message, time: formatTime(now), isObserved: true }),
    );
    if (!(await pods.delete(work, pod))) return 'done';
    const { timers, loopMetrics } = this.dependencies;
    loopMetrics?.taintEvictions.deleted((timers.now() - at) / 1000);
    return 'done';
  }
}

const reason = 'TaintManagerEviction';

function drivingTaints(node: Readonly<StoredNode> | undefined): Taint[] {
  return (node?.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
}
