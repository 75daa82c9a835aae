import { formatTime } from '../../base/machinery/clock.js';
import type { ContainerStatus } from '../../objects/apis/core/v1/container-status.types.js';
import type { PodCondition, PodStatus } from '../../objects/apis/core/v1/pod.types.js';
import type { ContainerEvent } from './container-run.js';
import type { PodPlan } from './pod-plan.js';
import { areSameSizes, type PodSizes, type Requests, reportedSizes, requestsOf, restartedBy } from './pod-sizes.js';

/** Why the node can't give more resources to a pod now; undefined: it can. */
export type CapacityCheck = (requests: Requests) => string | undefined;

/** A condition about a resize, and since when it holds. */
interface Note {
  readonly generation: number | undefined;
  readonly since: number;
  readonly message?: string;
}

/**
 * The resources that a pod has on its node, which may differ from its spec. A resize waits until the node has the
 * resources (`PodResizePending`, reason `Deferred`); then they are allocated to the pod, which gets them after a while
 * (`PodResizeInProgress`).
 */
export class PodResizing {
  private allocated: PodSizes;
  private actual: PodSizes;
  private deferred: Note | undefined;
  private progress: (Note & { readonly until: number }) | undefined;

  /** @param known the status in the API: allocations of an earlier process stay */
  constructor(
    { sizes }: PodPlan,
    known: PodStatus | undefined,
    private readonly record: (happening: ContainerEvent) => void,
  ) {
    const reported = reportedSizes(sizes, known);
    this.allocated = areSameSizes(sizes, reported) ? sizes : reported;
    this.actual = this.allocated;
    const pending = known?.conditions?.find(({ type }) => type === 'PodResizePending');
    if (pending === undefined) return;
    const { observedGeneration, lastTransitionTime, message } = pending;
    this.deferred = {
      generation: observedGeneration,
      since: lastTransitionTime ? Date.parse(lastTransitionTime) : 0,
      ...(message === undefined ? {} : { message }),
    };
  }

  /** The resources of the node that are reserved for the pod, whether the pod has them already or not. */
  get requests(): Requests {
    return requestsOf(this.allocated);
  }

  /** Whether the pod's spec differs from its allocation. */
  isOpen({ sizes }: PodPlan): boolean {
    return !areSameSizes(sizes, this.allocated);
  }

  /** Allocates the resources in the pod's spec if the node has them. */
  consider({ sizes, generation, resizeMs }: PodPlan, now: number, check: CapacityCheck): void {
    if (!this.isOpen({ sizes } as PodPlan)) {
      this.deferred = undefined;
      // Fields such as resize policies follow the pod's spec.
      this.allocated = sizes;
      if (this.progress === undefined) this.actual = sizes;
      return;
    }
    const message = check(requestsOf(sizes));
    if (message === undefined) {
      this.allocated = sizes;
      this.deferred = undefined;
      this.progress = { generation, since: now, until: now + resizeMs };
      this.record({
        type: 'Normal',
        reason: 'ResizeStarted',
        message: `Pod resize started: ${this.summary(generation)}`,
      });
      return;
    }
    if (this.deferred?.generation !== generation || this.deferred?.message !== message) {
      this.deferred = { generation, since: this.deferred?.since ?? now, message };
      const text = `Pod resize Deferred: ${this.summary(generation, message, sizes)}`;
      this.record({ type: 'Warning', reason: 'ResizeDeferred', message: text });
    }
  }

  get nextAt(): number | undefined {
    return this.progress?.until;
  }

  /**
   * Gives the pod its allocated resources when they are due. Returns the names of the containers that must restart for
   * them.
   */
  advance(now: number): readonly string[] {
    if (this.progress === undefined || this.progress.until > now) return [];
    const restarted = restartedBy(this.actual, this.allocated);
    this.actual = this.allocated;
    const text = `Pod resize completed: ${this.summary(this.progress.generation)}`;
    this.progress = undefined;
    this.record({ type: 'Normal', reason: 'ResizeCompleted', message: text });
    return restarted;
  }

  get conditions(): readonly PodCondition[] {
    const { deferred, progress } = this;
    const found: PodCondition[] = [];
    if (deferred !== undefined) found.push(condition('PodResizePending', deferred, 'Deferred'));
    if (progress !== undefined) found.push(condition('PodResizeInProgress', progress));
    return found;
  }

  /** The part of a container's status about its resources. */
  containerStatus(name: string): Pick<ContainerStatus, 'allocatedResources' | 'resources'> {
    const of = ({ containers, initContainers }: PodSizes) =>
      [...containers, ...initContainers].find((container) => container.name === name)?.resources;
    const requests = of(this.allocated)?.requests;
    const { requests: has, limits } = of(this.actual) ?? {};
    return {
      ...(requests === undefined ? {} : { allocatedResources: requests }),
      resources: { ...(limits === undefined ? {} : { limits }), ...(has === undefined ? {} : { requests: has }) },
    };
  }

  /** The part of the pod's status about resources of all its containers together. */
  get podStatus(): Pick<PodStatus, 'allocatedResources' | 'resources'> {
    const { resources } = this.actual;
    const requests = this.allocated.resources?.requests;
    return {
      ...(requests === undefined ? {} : { allocatedResources: requests }),
      ...(resources === undefined ? {} : { resources }),
    };
  }

  private summary(generation: number | undefined, error?: string, sizes = this.allocated): string {
    const shown = (all: PodSizes['containers']) => all.map(({ name, resources }) => ({ name, resources }));
    const { initContainers, containers } = sizes;
    return JSON.stringify({
      ...(initContainers.length === 0 ? {} : { initContainers: shown(initContainers) }),
      containers: shown(containers),
      generation: generation ?? 0,
      ...(error === undefined ? {} : { error }),
    });
  }
}

function condition(type: 'PodResizePending' | 'PodResizeInProgress', note: Note, reason?: string): PodCondition {
  const { generation, since, message } = note;
  const time = formatTime(since);
  return {
    type,
    status: 'True',
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    lastProbeTime: time,
    lastTransitionTime: time,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}
