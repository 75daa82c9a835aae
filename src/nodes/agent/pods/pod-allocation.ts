import { promises as fs } from 'node:fs';
import { dirname } from 'node:path';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { EventType } from '../agent-events.js';
import { isSameForPod, type PodResources, type Resources, resourcesOfPod, withResources } from './pod-resources.js';

/** Whether the resized pod fits the node, and which resource is missing; `unknown` before all pods are known. */
export type CapacityVerdict = 'enough' | 'unknown' | { readonly problem: string; readonly isForEver?: boolean };

export interface PendingResize {
  /** `Deferred` if the resize may begin later, `Infeasible` if it never can. */
  readonly reason: string;
  readonly message: string;
  readonly generation: number;
}

/** What a resize of a pod waits for, or its progress. */
export interface ResizeState {
  /** Why the resize has not begun. */
  readonly pending: PendingResize | undefined;
  /** The resize is in progress; with an error: the last attempt failed. */
  readonly inProgress: { readonly generation: number; readonly error?: string } | undefined;
}

interface Kept {
  allocated: PodResources;
  /** The resources that containers were last given through the runtime. */
  actual: Record<string, Resources>;
  actualPod?: Resources;
  inProgress?: { readonly generation: number; readonly error?: string };
}

/**
 * The resources that the node has allocated to a pod, which may differ from the declared ones during a resize, and the
 * resources that its containers have. Both are stored in a file, so that another process continues a resize.
 */
export class PodAllocation {
  private kept: Kept | undefined;
  private written = '';
  private pending: ResizeState['pending'];

  constructor(
    private readonly path: string,
    private readonly dependencies: {
      readonly check: (pod: Pod) => CapacityVerdict;
      /** Called when the allocation of the pod changes, possibly to less than before. */
      readonly agreed: () => void;
      readonly event: (type: EventType, reason: string, message: string) => void;
    },
  ) {}

  /** The pod with its allocated resources. */
  apply(pod: Pod): Pod {
    return this.kept === undefined ? pod : withResources(pod, this.kept.allocated);
  }

  get state(): ResizeState {
    return { pending: this.pending, inProgress: this.kept?.inProgress };
  }

  /** The resources that a container has; undefined: it was started by a process that did not record them. */
  actual(container: string): Resources | undefined {
    return this.kept?.actual[container];
  }

  /** The resources that the pod has as a whole. */
  get actualPod(): Resources | undefined {
    return this.kept?.actualPod;
  }

  /** Allocates the declared resources if the node has them, and returns the pod with its allocated resources. */
  async consider(pod: Pod): Promise<Pod> {
    await this.load(pod);
    const kept = this.kept as Kept;
    const generation = Number(pod.metadata.generation ?? 0);
    const wanted = resourcesOfPod(pod);
    if (isSameForPod(wanted, kept.allocated)) {
      this.pending = undefined;
      return pod;
    }
    const check = this.dependencies.check(pod);
    if (check === 'unknown') {
      this.pending ??= reportedPending(pod);
      return withResources(pod, kept.allocated);
    }
    if (check === 'enough') {
      this.pending = undefined;
      kept.allocated = wanted;
      kept.inProgress = { generation };
      await this.save();
      this.dependencies.agreed();
      this.dependencies.event('Normal', 'ResizeStarted', `Pod resize started: ${summary(pod, generation)}`);
      return pod;
    }
    const message = check.problem;
    const reason = check.isForEver ? 'Infeasible' : 'Deferred';
    if ((this.pending ?? reportedPending(pod))?.generation !== generation) {
      const text = `Pod resize ${reason}: ${summary(pod, generation, message)}`;
      this.dependencies.event('Warning', `Resize${reason}`, text);
    }
    this.pending = { reason, message, generation };
    return withResources(pod, kept.allocated);
  }

  /** Records the resources that containers have now. */
  async gave(resources: Readonly<Record<string, Resources>>): Promise<void> {
    if (this.kept === undefined) return;
    Object.assign(this.kept.actual, resources);
    await this.save();
  }

  /** The resize is complete. */
  async finish(pod: Pod): Promise<void> {
    const { kept } = this;
    if (kept === undefined) return;
    kept.actualPod = pod.spec.resources ?? {};
    const generation = kept.inProgress?.generation;
    delete kept.inProgress;
    await this.save();
    if (generation === undefined) return;
    this.dependencies.event('Normal', 'ResizeCompleted', `Pod resize completed: ${summary(pod, generation)}`);
  }

  /** The last attempt of the resize failed. */
  async fail(pod: Pod, error: string): Promise<void> {
    const { kept } = this;
    if (kept === undefined) return;
    const generation = kept.inProgress?.generation ?? Number(pod.metadata.generation ?? 0);
    const isNew = kept.inProgress?.error !== error;
    kept.inProgress = { generation, error };
    await this.save();
    if (isNew)
      this.dependencies.event('Warning', 'ResizeError', `Pod resize error: ${summary(pod, generation, error)}`);
  }

  private async load(pod: Pod): Promise<void> {
    if (this.kept !== undefined) return;
    const text = await fs.readFile(this.path, 'utf8').catch(() => '');
    this.written = text;
    this.kept = readKept(text) ?? { allocated: resourcesOfPod(pod), actual: {} };
  }

  private async save(): Promise<void> {
    const text = JSON.stringify(this.kept);
    if (text === this.written) return;
    await fs.mkdir(dirname(this.path), { recursive: true, mode: 0o750 });
    await fs.writeFile(`${this.path}.new`, text, { mode: 0o600 });
    await fs.rename(`${this.path}.new`, this.path);
    this.written = text;
  }
}

/** Undefined for a missing or incomplete file. */
function readKept(text: string): Kept | undefined {
  try {
    const kept = JSON.parse(text) as Partial<Kept>;
    const { allocated, actual } = kept;
    return allocated?.containers && actual ? { ...kept, allocated, actual } : undefined;
  } catch {
    return undefined;
  }
}

/** The resources of a pod in the form of events about a resize. */
function summary({ spec }: Pod, generation: number, error?: string): string {
  const of = (containers: Pod['spec']['containers'] | null | undefined) =>
    (containers ?? []).map(({ name, resources }) => ({ name, resources: resources ?? {} }));
  const [initContainers, containers] = [of(spec.initContainers), of(spec.containers)];
  return JSON.stringify({
    ...(initContainers.length === 0 ? {} : { initContainers }),
    ...(containers.length === 0 ? {} : { containers }),
    generation,
    ...(error === undefined ? {} : { error }),
  });
}

/** The condition that another process of the agent reported for a waiting resize. */
function reportedPending({ status }: Pod): ResizeState['pending'] {
  const found = status?.conditions?.find(({ type }) => type === 'PodResizePending');
  return (
    found && {
      reason: found.reason ?? 'Deferred',
      message: found.message ?? '',
      generation: Number(found.observedGeneration ?? 0),
    }
  );
}
