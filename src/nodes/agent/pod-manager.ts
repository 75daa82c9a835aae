import type { Timers } from '../../base/machinery/timers.js';
import type { Logger } from '../../base/observability/logger.js';
import type { Pod } from '../../objects/apis/core/v1/pod.types.js';
import { podQosClass } from '../../objects/apis/core/v1/pod-qos.js';
import { runtimeAnnotations } from './cri/labels.js';
import { isFolderName } from './pod-folders.js';
import { type AdmissionNode, admissionProblem, resourceProblem } from './pods/pod-admission.js';
import type { CapacityVerdict } from './pods/pod-allocation.js';
import type { PodEnd } from './pods/pod-end.js';
import { podKey, podUid } from './pods/pod-form.js';
import { PodWorker } from './pods/pod-worker.js';
import { RemovedPods } from './pods/removed-pods.js';
import type { RuntimeView } from './pods/runtime-view.js';
import type { WorkerDependencies } from './pods/worker-dependencies.js';

const relistMs = 1_000;
const orphansMs = 10_000;

export interface ManagerDependencies {
  readonly view: RuntimeView;
  readonly timers: Timers;
  readonly logger: Logger;
  /** The workers' shared dependencies, except those that the manager itself provides. */
  readonly shared: Omit<WorkerDependencies, 'onDone' | 'onMirrorGone' | 'checkAllocation' | 'onResized'>;
  /** The node, as admission of pods sees it. */
  readonly node: () => AdmissionNode | undefined;
  /** Why the node refuses the pod now; undefined if it accepts it. */
  readonly refusal: (pod: Pod) => PodEnd | undefined;
  /** Reserves processors for a pod that asks for whole ones. Returns the reason if that is not possible. */
  readonly allocateCpus: (pod: Pod) => PodEnd | undefined;
  /** Called when the mirror of a static pod was deleted. */
  readonly onMirrorGone: (uid: string) => void;
  /** Called when the last trace of a pod is removed. */
  readonly onDone: (uid: string) => void;
  /** Whether the runtime responds. */
  readonly onRuntime: (error: unknown) => void;
}

/**
 * The pods of the node, each with its worker. Once all sources have been read, sandboxes and containers of pods that no
 * source names are ended and removed.
 */
export class PodManager {
  private readonly workers = new Map<string, PodWorker>();
  /** Static pods that wait until an older pod of the same name has ended. */
  private readonly waiting = new Map<string, Pod>();
  private isComplete = false;
  private readonly removed: RemovedPods;
  private lookedAt: number;
  /** When to look for remains of unwanted pods if the runtime does not change; that makes none of them. */
  private orphansDueAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly dependencies: ManagerDependencies) {
    const { timers, shared } = dependencies;
    this.lookedAt = timers.elapsed();
    this.removed = new RemovedPods(shared.cgroups, shared.settings.podsCgroup, shared.folders, timers);
  }

  pods(): readonly Pod[] {
    return [...this.workers.values()].map(({ declaration, status }) => ({ ...declaration, status: status ?? {} }));
  }

  workersOf(): Iterable<PodWorker> {
    return this.workers.values();
  }

  worker(uid: string): PodWorker | undefined {
    return this.workers.get(uid);
  }

  find(namespace: string, name: string): PodWorker | undefined {
    const found = [...this.workers.values()].filter(
      ({ declaration: { metadata } }) => metadata.name === name && metadata.namespace === namespace,
    );
    return found.find((worker) => !worker.isOver) ?? found[0];
  }

  uids(): readonly string[] {
    return [...this.workers.keys()];
  }

  /** A source names the pod, or names it with changes. */
  want(pod: Pod, isStatic = false): void {
    const uid = podUid(pod);
    const known = this.workers.get(uid);
    if (known !== undefined) {
      known.update(pod);
      return;
    }
    if (isStatic && this.find(pod.metadata.namespace ?? '', pod.metadata.name ?? '') !== undefined) {
      this.waiting.set(podKey(pod), pod);
      return;
    }
    const worker = this.make(pod, isStatic);
    // A pod that does not fit must not start.
    this.admit(worker);
    this.begin(worker);
  }

  /** A source no longer names the pod. */
  drop(uid: string): void {
    for (const [key, pod] of this.waiting) if (podUid(pod) === uid) this.waiting.delete(key);
    this.workers.get(uid)?.forget();
  }

  private make(pod: Pod, isStatic: boolean): PodWorker {
    const { shared } = this.dependencies;
    const dependencies: WorkerDependencies = {
      ...shared,
      onDone: (uid) => this.done(uid),
      onMirrorGone: this.dependencies.onMirrorGone,
      checkAllocation: (wanted) => this.capacityFor(wanted),
      onResized: () => this.retryResizes(),
    };
    const worker = new PodWorker(dependencies, pod, isStatic);
    this.workers.set(podUid(pod), worker);
    return worker;
  }

  private begin(worker: PodWorker): void {
    const { logger } = this.dependencies;
    const pod = podKey(worker.declaration);
    worker.run().catch((error: unknown) => logger.error('the work on a pod ended with an error', { pod, error }));
  }

  private done(uid: string): void {
    this.workers.delete(uid);
    this.removed.add(uid);
    this.dependencies.onDone(uid);
    this.retryResizes();
    for (const [key, pod] of this.waiting) {
      if (this.find(pod.metadata.namespace ?? '', pod.metadata.name ?? '') !== undefined) continue;
      this.waiting.delete(key);
      this.want(pod, true);
    }
  }

  /** A pod that has not run on this node yet must fit beside the others. */
  private admit(worker: PodWorker): void {
    const { status, metadata } = worker.declaration;
    if (metadata.deletionTimestamp || worker.isEnding) return;
    const pod = worker.declaration;
    // Whole processors come first, as with upstream's agent: a user who asks for some learns from the message that they
    // are missing.
    const problem = this.dependencies.allocateCpus(pod) ?? (status?.startTime ? undefined : this.problemOf(pod));
    if (problem === undefined) return;
    this.dependencies.shared.events.record(
      {
        kind: 'Pod',
        namespace: metadata.namespace ?? '',
        name: metadata.name ?? '',
        uid: metadata.uid ?? '',
        resourceVersion: metadata.resourceVersion,
      },
      'Warning',
      problem.reason,
      problem.message,
    );
    worker.fail({ reason: problem.reason, message: `Pod was rejected: ${problem.message}`, isRefused: true });
  }

  private problemOf(pod: Pod): PodEnd | undefined {
    const node = this.dependencies.node();
    if (node === undefined) return undefined;
    return this.dependencies.refusal(pod) ?? admissionProblem(pod, this.othersThan(podUid(pod)), node);
  }

  /** The other pods of the node, as admission counts them. */
  private othersThan(uid: string): Pod[] {
    return [...this.workers]
      .filter(([each, { isEnding }]) => each !== uid && !isEnding)
      .map(([, { allocated }]) => allocated);
  }

  private capacityFor(pod: Pod): CapacityVerdict {
    const node = this.dependencies.node();
    if (node === undefined || !this.isComplete) return 'unknown';
    const { cpus } = this.dependencies.shared.settings;
    if (cpus !== undefined && podQosClass(pod.spec) === 'Guaranteed') {
      const problem = 'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"';
      return { problem, isForEver: true };
    }
    const problem = resourceProblem(pod, this.othersThan(podUid(pod)), node);
    return problem === undefined ? 'enough' : { problem: problem.message };
  }

  /** Looks again at pods that wait for a resize, the most important ones first. */
  private retryResizes(): void {
    const waiting = [...this.workers.values()].filter(({ awaitsResize }) => awaitsResize);
    const priority = ({ declaration: { spec } }: PodWorker) => spec.priority ?? 0;
    for (const worker of waiting.sort((a, b) => priority(b) - priority(a))) worker.changed();
  }

  /** All sources have been read once: pods that they did not name are no longer wanted. */
  complete(): void {
    if (this.isComplete) return;
    this.isComplete = true;
    // Only now is it known whether the node has the resources that waiting resizes need.
    for (const worker of this.workers.values()) worker.changed();
  }

  /** Whether a pod may have a running container; undefined before all sources have been read. */
  get activePods(): ((uid: string) => boolean) | undefined {
    return this.isComplete ? (uid) => this.workers.get(uid)?.isOver === false : undefined;
  }

  /** How long ago the runtime was last listed, in milliseconds. */
  get lookedAtMs(): number {
    return this.dependencies.timers.elapsed() - this.lookedAt;
  }

  /** Lists the runtime again and again. */
  async run(signal: AbortSignal): Promise<void> {
    const { view, timers } = this.dependencies;
    while (!signal.aborted) {
      try {
        const changed = await view.relist();
        for (const uid of changed) this.workers.get(uid)?.changed();
        this.lookedAt = timers.elapsed();
        this.dependencies.onRuntime(undefined);
        if (this.isComplete && (changed.length > 0 || this.lookedAt >= this.orphansDueAt)) {
          this.orphansDueAt = this.lookedAt;
          await this.endOrphans();
          this.orphansDueAt += orphansMs;
        }
      } catch (error) {
        this.dependencies.onRuntime(error);
      }
      await timers.wait(relistMs, signal);
    }
  }

  private async endOrphans(): Promise<void> {
    const { view, shared } = this.dependencies;
    const known = new Map(view.pods().map((pod) => [pod.uid, pod]));
    for (const uid of [...(await shared.folders.uids()), ...(await this.removed.comeBack())]) {
      if (!known.has(uid)) known.set(uid, { uid, namespace: '', name: '' });
    }
    for (const { uid, namespace, name } of known.values()) {
      if (this.workers.has(uid) || !isFolderName(uid)) continue;
      // One whose containers the runtime can't describe must not keep the others.
      await this.endOrphan(uid, namespace, name).catch((error: unknown) =>
        this.dependencies.logger.debug('an unwanted pod could not be ended yet', { namespace, name, uid, error }),
      );
    }
  }

  private async endOrphan(uid: string, namespace: string, name: string): Promise<void> {
    const { containers } = await this.dependencies.view.read(uid, namespace, name);
    const seconds = Number(containers[0]?.annotations[runtimeAnnotations.podGracePeriod] ?? 30);
    const worker = this.make(orphan(uid, namespace, name, seconds), false);
    worker.forget();
    this.begin(worker);
  }
}

/** Removes the remains of a pod whose declaration is gone. */
function orphan(uid: string, namespace: string, name: string, graceSeconds: number): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { uid, namespace, name },
    spec: { containers: [], terminationGracePeriodSeconds: graceSeconds },
    status: {},
  } as unknown as Pod;
}
