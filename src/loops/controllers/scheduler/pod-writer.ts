import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import { FairGate } from '../../../base/machinery/fair-gate.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import { volumeAnnotations } from '../../../base/machinery/volume-annotations.js';
import type { Pod, PodCondition } from '../../../objects/apis/core/v1/pod.types.js';
import type { ClaimPlan } from '../../scheduler/filters/volume-binding.js';
import type { StoredClaim, StoredVolume } from '../../scheduler/volumes.js';
import { FaultBudget } from '../fault-budget.js';
import { LoopEvents } from '../frame/loop-events.js';
import { observed } from '../frame/pod-state.js';
import { ReconcileContext } from '../frame/reconcile-context.js';
import type { ReconcileDependencies } from '../frame/reconcile-loop.js';
import type { PreparedClaims } from './claim-waits.js';

type StoredPod = Pod & ApiObject;

/** The most reports about pods written at one time; those of a namespace wait for each other. */
const mostReports = 16;
/**
 * When a namespace has used this part of its waiting events, its pods are not placed until half as many wait: the
 * events about them would be dropped.
 */
const behindFrom = 0.5;

/** Writes decisions about pods. Its methods don't throw: a decision that was not written is made again. */
export class PodWriter {
  private readonly events = new Map<string, LoopEvents>();
  /** Namespaces whose pods wait for events to be written. */
  private readonly behind = new Set<string>();
  private readonly running = new Set<Promise<unknown>>();
  private readonly reports = new FairGate(mostReports);
  bindings = 0;
  private readonly budget: FaultBudget;

  constructor(
    private readonly dependencies: ReconcileDependencies,
    private readonly loop: string,
    private readonly user: UserInfo,
    /** Called when pods may be placed that {@link isBehind} held back. */
    private readonly caughtUp: () => void,
  ) {
    this.budget = new FaultBudget(dependencies.timers);
  }

  /** Whether so many events of the namespace wait that further ones might be dropped. */
  isBehind(namespace: string): boolean {
    const isBehind = this.usedShare(namespace) >= (this.behind.has(namespace) ? behindFrom / 2 : behindFrom);
    if (isBehind) this.behind.add(namespace);
    else this.behind.delete(namespace);
    return isBehind;
  }

  private usedShare(namespace: string): number {
    let used = 0;
    for (const events of this.events.values()) used += events.usedShare(namespace);
    return used;
  }

  /** Resolves when everything that was begun is written. */
  async settled(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
    await Promise.all([...this.events.values()].map((events) => events.flushed()));
  }

  /** Binds a pod to a node; false when it was not bound, or is gone. */
  bind(pod: StoredPod, node: string, signal: AbortSignal): Promise<boolean> {
    const bind = async (): Promise<boolean> => {
      this.bindings += 1;
      try {
        const target = { kind: 'Node', name: node };
        const isBound = await this.client.post(this.work(signal), pod, 'binding', { target });
        const { namespace = '', name = '' } = pod.metadata;
        if (isBound) {
          const message = `Successfully assigned ${namespace}/${name} to ${node}`;
          this.eventsOf(pod).normal(pod, 'Scheduled', message);
        }
        return isBound;
      } catch (error) {
        this.logFailure('a pod could not be bound', pod, error, signal);
        return false;
      } finally {
        this.bindings -= 1;
      }
    };
    return this.follow(bind());
  }

  /**
   * Reports in an event and in the pod's conditions why it has no node, and on which node preemption makes space for it
   * ('' for none). Returns at once.
   */
  unschedulable(pod: StoredPod, message: string, nominated: string, signal: AbortSignal): void {
    this.eventsOf(pod).warning(pod, 'FailedScheduling', message);
    const wanted = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message } as const;
    const isSaid = (live: StoredPod) =>
      hasCondition(live, wanted) && (live.status.nominatedNodeName ?? '') === nominated;
    if (isSaid(pod)) return;
    this.report(pod, signal, (live) => {
      if (live.spec.nodeName || isSaid(live)) return undefined;
      setCondition(live, wanted, formatTime(this.dependencies.timers.now()));
      nominate(live, nominated);
      return live;
    });
  }

  /** Reports in an event that a pod gets no node because it is about to be deleted. */
  skipped(pod: StoredPod): void {
    const { namespace = '', name = '' } = pod.metadata;
    this.eventsOf(pod).warning(pod, 'FailedScheduling', `skip schedule deleting pod: ${namespace}/${name}`);
  }

  /** Whether a pod has a node by now. */
  async isPlaced({ metadata }: StoredPod): Promise<boolean> {
    const live = await this.client.get(metadata.namespace ?? '', metadata.name ?? '');
    return live?.metadata.uid === metadata.uid && Boolean(live?.spec.nodeName);
  }

  /** Reports in an event that a pod is bound when its devices are prepared. */
  waitsForDevices(pod: StoredPod, node: string): void {
    const message = `waiting for binding conditions for device on node ${node}`;
    this.eventsOf(pod).normal(pod, 'BindingConditionsPending', message);
  }

  /** Reports why a pod did not get its devices; it is tried again. */
  devicesFailed(pod: StoredPod, error: unknown, signal: AbortSignal): void {
    this.logFailure('the devices of a pod could not be prepared', pod, error, signal);
  }

  /** Reports that no preemption is under way for a pod any more. Returns at once. */
  withdraw(pod: StoredPod, signal: AbortSignal): void {
    this.report(pod, signal, (live) => {
      if (live.spec.nodeName || !live.status.nominatedNodeName) return undefined;
      nominate(live, '');
      return live;
    });
  }

  /** Evicts a pod, with its own grace period, in favour of another one. Returns at once. */
  preempt(victim: StoredPod, preemptor: StoredPod, node: string, signal: AbortSignal): void {
    const scheduler = preemptor.spec.schedulerName ?? this.loop;
    const wanted = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'PreemptionByScheduler',
      message: `${scheduler}: preempting to accommodate a higher priority pod`,
    } as const;
    const write = async () => {
      try {
        const work = this.work(signal);
        await this.client.updateStatus(work, victim, (live) => {
          if (hasCondition(live, wanted)) return undefined;
          setCondition(live, wanted, formatTime(this.dependencies.timers.now()));
          return live;
        });
        if (!(await this.client.delete(work, victim))) return;
        const message = `Preempted by pod ${preemptor.metadata.uid} on node ${node}`;
        this.eventsOf(preemptor).normal(victim, 'Preempted', message);
      } catch (error) {
        this.logFailure('a pod could not be preempted', victim, error, signal);
      }
    };
    void this.follow(this.reports.run(victim.metadata.namespace ?? '', 1, write));
  }

  /**
   * Prepares the claims of a pod for its chosen node: names the node for those that get a new volume, and reserves
   * volumes for the others. Undefined when another writer was faster or a write failed.
   */
  prepareClaims(
    pod: StoredPod,
    plans: readonly ClaimPlan[],
    node: string,
    signal: AbortSignal,
  ): Promise<PreparedClaims | undefined> {
    const { client, names } = this.dependencies;
    const { selectedNode, boundByController } = volumeAnnotations(names);
    const claims = client.of<StoredClaim>({ group: '', resource: 'persistentvolumeclaims' });
    const volumes = client.of<StoredVolume>({ group: '', resource: 'persistentvolumes' });
    const write = async () => {
      const prepared = new Map<string, bigint>();
      try {
        for (const plan of plans) {
          const { claim } = plan;
          if (plan.kind === 'provision') {
            const written = await claims.update(this.work(signal), claim, (live) => {
              // Another pod may have brought the claim to its own node meanwhile.
              if ((live.metadata.annotations?.[selectedNode] ?? node) !== node || live.spec.volumeName)
                return undefined;
              live.metadata.annotations = { ...live.metadata.annotations, [selectedNode]: node };
              return live;
            });
            if (written === undefined) return undefined;
            prepared.set(written.metadata.uid ?? '', BigInt(written.metadata.resourceVersion ?? 0));
          } else {
            const reserved = await volumes.update(this.work(signal), plan.volume, (live) =>
              reservedFor(claim, live, boundByController),
            );
            if (reserved === undefined) return undefined;
          }
        }
        return prepared;
      } catch (error) {
        this.logFailure('the claims of a pod could not be prepared', pod, error, signal);
        return undefined;
      }
    };
    return this.follow(this.reports.run(pod.metadata.namespace ?? '', 1, write));
  }

  private report(pod: StoredPod, signal: AbortSignal, change: (live: StoredPod) => StoredPod | undefined): void {
    const write = async () => {
      try {
        await this.client.updateStatus(this.work(signal), pod, change);
      } catch (error) {
        this.logFailure('the state of a pod could not be written', pod, error, signal);
      }
    };
    void this.follow(this.reports.run(pod.metadata.namespace ?? '', 1, write));
  }

  private get client() {
    return this.dependencies.client.of<StoredPod>({ group: '', resource: 'pods' });
  }

  private work(signal: AbortSignal): ReconcileContext {
    return new ReconcileContext(this.user, this.loop, this.dependencies.timers.now(), signal);
  }

  private eventsOf({ spec }: StoredPod): LoopEvents {
    const component = spec.schedulerName ?? this.loop;
    let events = this.events.get(component);
    if (events === undefined) {
      const written = (namespace: string) => {
        if (this.behind.has(namespace) && !this.isBehind(namespace)) this.caughtUp();
      };
      events = new LoopEvents(this.dependencies, this.loop, component, this.user, written);
      this.events.set(component, events);
    }
    return events;
  }

  private logFailure(text: string, { metadata }: StoredPod, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    const pod = `${metadata.namespace}/${metadata.name}`;
    // A conflict is not a failure: another writer changed the pod, and the decision is made again.
    if (error instanceof StatusError && error.reason === 'Conflict') return;
    const suppressed = this.budget.take();
    if (suppressed !== undefined)
      this.dependencies.logger.warn(text, { pod, error, ...(suppressed === 0 ? {} : { suppressed }) });
  }

  /** Waits for a promise before the writer is {@link settled}. */
  async follow<T>(promise: Promise<T>): Promise<T> {
    this.running.add(promise);
    try {
      return await promise;
    } finally {
      this.running.delete(promise);
    }
  }
}

/** Returns the volume with a reference to the claim; undefined when the claim can't have it. Changes `live`. */
function reservedFor({ metadata }: StoredClaim, live: StoredVolume, boundByController: string) {
  const { name, namespace, uid } = metadata;
  const { claimRef } = live.spec;
  if (live.metadata.deletionTimestamp !== undefined) return undefined;
  const isMeant = claimRef?.name === name && claimRef?.namespace === namespace;
  if (claimRef !== undefined && !(isMeant && (!claimRef.uid || claimRef.uid === uid))) return undefined;
  if (claimRef === undefined) live.metadata.annotations = { ...live.metadata.annotations, [boundByController]: 'yes' };
  live.spec.claimRef = { ...claimRef, kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid };
  return live;
}

function nominate(pod: Pod, node: string): void {
  if (node === '') delete pod.status.nominatedNodeName;
  else pod.status.nominatedNodeName = node;
}

type WantedCondition = Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>;

function hasCondition({ status }: Pod, wanted: WantedCondition): boolean {
  const found = status?.conditions?.find(({ type }) => type === wanted.type);
  return found?.status === wanted.status && found.reason === wanted.reason && found.message === wanted.message;
}

/** Sets a condition in place; the time of its last transition stays as long as its status does. */
function setCondition(pod: StoredPod, wanted: WantedCondition, now: string): void {
  const conditions = pod.status.conditions ?? [];
  const i = conditions.findIndex(({ type }) => type === wanted.type);
  const before = conditions[i];
  const lastTransitionTime = before?.status === wanted.status ? before.lastTransitionTime : now;
  const condition: PodCondition = { ...wanted, ...observed(pod), lastProbeTime: null, lastTransitionTime };
  if (i < 0) conditions.push(condition);
  else conditions[i] = condition;
  pod.status.conditions = conditions;
}
