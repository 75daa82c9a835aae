import type { Pod, PodStatus } from '../../../objects/apis/core/v1/pod.types.js';
import type { EventType } from '../agent-events.js';
import { PodAllocation } from './pod-allocation.js';
import type { PodEnd } from './pod-end.js';
import { graceSeconds, podUid } from './pod-form.js';
import { PodKiller } from './pod-killer.js';
import { finalPhase } from './pod-phase.js';
import { PodSync } from './pod-sync.js';
import type { RuntimePod } from './runtime-pod.js';
import { mayRun, usableSandbox } from './runtime-pod.js';
import { type StatusTarget, StatusWriter } from './status-writer.js';
import type { WorkerDependencies } from './worker-dependencies.js';

/** A pod is checked again after this time, even if no change is known. */
const resyncMs = 55_000;
const firstPauseMs = 500;
const longestPauseMs = 30_000;

/**
 * Runs one pod. Its states: `running` until the pod is deleted, has ended, or the node ends it; then `ending`, while
 * its containers end; then `over`. The worker takes over sandboxes and containers that an earlier process made. Only
 * one turn runs at a time.
 */
export class PodWorker {
  private phase: 'running' | 'ending' | 'over' = 'running';
  private end: PodEnd | undefined;
  private wake = new AbortController();
  /** Aborts the present turn's waits when the pod must end. */
  private turn = new AbortController();
  private hurry = new AbortController();
  private grace: number | undefined;
  private isForgotten = false;
  private areVolumesReleased = false;
  private readonly allocation: PodAllocation;
  private readonly sync: PodSync;
  private readonly killer: PodKiller;
  readonly writer: StatusWriter;
  /** The status as the worker computed it, whether or not the API has it. */
  status: PodStatus | undefined;

  constructor(
    private readonly dependencies: WorkerDependencies,
    private pod: Pod,
    /** Whether the API has only a mirror of the pod, or nothing. */
    readonly isStatic = false,
  ) {
    this.status = pod.status;
    const { api, timers, logger, signal } = dependencies;
    this.writer = new StatusWriter({ api, timers, logger, signal, onGone: () => this.onGone() });
    const shared = { ...dependencies, event: this.event, changed: () => this.changed() };
    this.allocation = new PodAllocation(dependencies.folders.allocation(podUid(pod)), {
      check: (wanted) => dependencies.checkAllocation(wanted),
      agreed: () => dependencies.onResized(),
      event: this.event,
    });
    this.sync = new PodSync(shared, pod, this.allocation);
    this.killer = new PodKiller(shared);
    this.takeFinalPhase();
    this.takeDeletion();
    if (!isStatic) this.writer.aim(targetOf(pod));
  }

  /** The API no longer has the object of the status. That ends the pod, unless the pod came from another source. */
  private onGone(): void {
    if (this.isStatic) this.dependencies.onMirrorGone(podUid(this.pod));
    else this.forget();
  }

  get declaration(): Pod {
    return this.pod;
  }

  /** The declaration with the allocated resources: a pod may declare more than the node can give it. */
  get allocated(): Pod {
    return this.allocation.apply(this.pod);
  }

  /** Whether the pod waits until the node has the resources for its resize. */
  get awaitsResize(): boolean {
    return this.allocation.state.pending !== undefined;
  }

  /** Whether no container of the pod runs, and none will run again. */
  get isOver(): boolean {
    return this.phase === 'over';
  }

  get isEnding(): boolean {
    return this.phase !== 'running';
  }

  /** The declaration, or the status in the API, has changed. */
  update(pod: Pod): void {
    this.pod = pod;
    // What the pod is from now on is written when its containers begin to end.
    const ends = this.takeFinalPhase();
    if (!ends && this.status !== undefined && contradicts(pod.status, this.status)) this.writer.contradict();
    this.takeDeletion();
    this.changed();
  }

  /** A pod that has failed or succeeded in the API ends, whoever has written that. Returns whether it begins to. */
  private takeFinalPhase(): boolean {
    const { status } = this.pod;
    if (this.phase !== 'running' || this.isStatic || finalPhase(status) === undefined) return false;
    const { reason, message = '', containerStatuses } = status ?? {};
    this.end = reason ? { reason, message, isRefused: (containerStatuses ?? []).length === 0 } : undefined;
    this.beginEnding();
    return true;
  }

  private takeDeletion(): void {
    if (!this.pod.metadata.deletionTimestamp) return;
    const grace = graceSeconds(this.pod);
    if (this.grace !== undefined && grace < this.grace) {
      // The grace period of the second deletion is shorter.
      this.grace = grace;
      this.hurry.abort();
    }
    this.grace ??= grace;
    this.beginEnding();
  }

  /** The node ends the pod, which counts as failed. */
  fail(end: PodEnd, grace?: number): void {
    if (this.phase !== 'running') return;
    this.end = end;
    this.grace ??= grace;
    this.beginEnding();
    this.changed();
  }

  /** Shortens the remaining grace period of a pod that is ending already. */
  hurryUp(graceSeconds: number): void {
    if (this.phase !== 'ending' || (this.grace !== undefined && this.grace <= graceSeconds)) return;
    this.grace = graceSeconds;
    this.hurry.abort();
    this.changed();
  }

  /** The API or the source no longer has the pod: its containers end, and its remains are removed. */
  forget(): void {
    this.isForgotten = true;
    this.grace ??= graceSeconds(this.pod);
    this.beginEnding();
    this.changed();
  }

  private beginEnding(): void {
    if (this.phase === 'running') this.phase = 'ending';
    this.turn.abort();
  }

  /** The worker should look at the pod again. */
  changed(): void {
    this.wake.abort();
  }

  private readonly event = (type: EventType, reason: string, message: string, container?: string): void => {
    const { metadata } = this.pod;
    const target = {
      kind: 'Pod',
      namespace: metadata.namespace ?? '',
      name: metadata.name ?? '',
      uid: metadata.uid ?? '',
      resourceVersion: metadata.resourceVersion,
      fieldPath: container,
    };
    this.dependencies.events.record(target, type, reason, message);
  };

  /** Works until the pod is no longer wanted and its remains are removed. */
  async run(): Promise<void> {
    const { timers, logger, signal } = this.dependencies;
    let pauseMs = firstPauseMs;
    while (!signal.aborted) {
      this.wake = new AbortController();
      let nextAt: number | undefined;
      const wasRunning = this.phase === 'running';
      try {
        if (await this.step()) return;
        nextAt = this.phase === 'running' ? this.sync.nextAt : undefined;
        pauseMs = firstPauseMs;
      } catch (error) {
        if (signal.aborted) return;
        nextAt = timers.now();
        // A turn that the end of the pod has interrupted is no failure: the end begins at once.
        if (!wasRunning || !this.turn.signal.aborted) {
          const { namespace, name } = this.pod.metadata;
          logger.debug('a pod could not be brought up to date yet', { namespace, name, error });
          nextAt += pauseMs;
          pauseMs = Math.min(2 * pauseMs, longestPauseMs);
        }
      }
      const woken = AbortSignal.any([this.wake.signal, signal]);
      const waitMs = nextAt === undefined ? resyncMs : Math.min(resyncMs, nextAt - timers.now());
      await timers.wait(Math.max(0, waitMs), woken);
    }
  }

  /** Returns whether the worker is done for good. */
  private async step(): Promise<boolean> {
    if (this.phase === 'running') {
      this.turn = new AbortController();
      const pod = await this.allocation.consider(this.pod);
      const outcome = await this.sync.turn(pod, this.status, this.turn.signal, (runtime) => this.publish(runtime));
      if (this.phase !== 'running') return this.step();
      if (outcome === 'going-on') return false;
      if (outcome !== 'ended') this.end = outcome;
      this.beginEnding();
    }
    if (this.phase === 'ending') await this.stopEverything();
    // A failing driver of a volume is asked again before the API learns that the pod is gone.
    if (!this.areVolumesReleased) await this.killer.releaseVolumes(this.pod);
    this.areVolumesReleased = true;
    const { metadata } = this.pod;
    if (this.isForgotten) {
      await this.killer.removeEverything(this.pod);
      this.dependencies.onDone(podUid(this.pod));
      return true;
    }
    if (metadata.deletionTimestamp && !this.isStatic) this.writer.remove();
    return false;
  }

  private async stopEverything(): Promise<void> {
    const { view } = this.dependencies;
    const uid = podUid(this.pod);
    let runtime = await view.read(uid, this.pod.metadata.namespace, this.pod.metadata.name);
    if (!this.isForgotten) await this.publish(runtime);
    while (runtime.containers.some(mayRun)) {
      this.hurry = new AbortController();
      const grace = this.grace ?? Number(this.pod.spec.terminationGracePeriodSeconds ?? 30);
      await this.killer.stopContainers(this.pod, runtime, grace, this.hurry.signal);
      runtime = await view.read(uid, this.pod.metadata.namespace, this.pod.metadata.name);
    }
    this.sync.stopProbes();
    if (usableSandbox(runtime) !== undefined || runtime.sandboxes.length > 0) await this.killer.stopSandboxes(runtime);
    this.phase = 'over';
    runtime = await view.read(uid, this.pod.metadata.namespace, this.pod.metadata.name);
    if (!this.isForgotten) await this.publish(runtime);
  }

  private async publish(runtime: RuntimePod): Promise<PodStatus> {
    this.status = await this.sync.status(this.allocated, runtime, this.status, {
      isOver: this.phase === 'over',
      isEnding: this.phase !== 'running',
      end: this.end,
    });
    this.writer.set(this.status);
    return this.status;
  }
}

function targetOf({ metadata }: Pod): StatusTarget {
  return { namespace: metadata.namespace ?? '', name: metadata.name ?? '', uid: metadata.uid ?? '' };
}

/**
 * Whether the status in the API differs from what the agent wrote, because a controller took the node for dead or an
 * old state was restored.
 */
function contradicts(seen: PodStatus | undefined, own: PodStatus): boolean {
  const of = (status: PodStatus | undefined) =>
    `${status?.phase} ${status?.conditions?.find(({ type }) => type === 'Ready')?.status} ${status?.podIP}`;
  return seen !== undefined && of(seen) !== of(own);
}
