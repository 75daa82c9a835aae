import { promises as fs } from 'node:fs';
import { dirname } from 'node:path';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { EventType } from '../events.js';
import { isSameForPod, type PodResources, type Resources, resourcesOfPod, withResources } from './pod-resources.js';

/** Whether the node has room for a pod as it wants to be now, and what is missing; `unknown` before all pods are known. */
export type Room = 'enough' | 'unknown' | { readonly problem: string; readonly isForEver?: boolean };

export interface PendingResize {
  /** Whether it may begin later: `Deferred`, or never: `Infeasible`. */
  readonly reason: string;
  readonly message: string;
  readonly generation: number;
}

/** What a resize of a pod waits for, or what it is doing. */
export interface ResizeState {
  /** Why it has not begun: the node has no room now. */
  readonly pending: PendingResize | undefined;
  /** It is being done; with an error: it could not be done yet. */
  readonly inProgress: { readonly generation: number; readonly error?: string } | undefined;
}

interface Kept {
  allocated: PodResources;
  /** What the runtime was last told to give to containers. */
  actual: Record<string, Resources>;
  actualPod?: Resources;
  inProgress?: { readonly generation: number; readonly error?: string };
}

/**
 * The resources that the node has set aside for a pod, which may be others than the pod wants now, and those that its
 * containers have. Both are kept in a file, so that another process goes on with a resize.
 */
export class PodAllocation {
  private kept: Kept | undefined;
  private written = '';
  private pending: ResizeState['pending'];

  constructor(
    private readonly path: string,
    private readonly parts: {
      readonly room: (pod: Pod) => Room;
      /** Called when the pod gets other resources, which may be less than before. */
      readonly agreed: () => void;
      readonly event: (type: EventType, reason: string, message: string) => void;
    },
  ) {}

  /** The pod as far as the node has agreed to it. */
  apply(pod: Pod): Pod {
    return this.kept === undefined ? pod : withResources(pod, this.kept.allocated);
  }

  get state(): ResizeState {
    return { pending: this.pending, inProgress: this.kept?.inProgress };
  }

  /** What a container has; undefined: it was started by a process that did not write that down. */
  actual(container: string): Resources | undefined {
    return this.kept?.actual[container];
  }

  /** What the pod has as a whole. */
  get actualPod(): Resources | undefined {
    return this.kept?.actualPod;
  }

  /** Agrees to what the pod wants if the node has room, and returns the pod as far as it is agreed. */
  async consider(pod: Pod): Promise<Pod> {
    await this.load(pod);
    const kept = this.kept as Kept;
    const generation = Number(pod.metadata.generation ?? 0);
    const wanted = resourcesOfPod(pod);
    if (isSameForPod(wanted, kept.allocated)) {
      this.pending = undefined;
      return pod;
    }
    const room = this.parts.room(pod);
    if (room === 'unknown') {
      this.pending ??= reportedPending(pod);
      return withResources(pod, kept.allocated);
    }
    if (room === 'enough') {
      this.pending = undefined;
      kept.allocated = wanted;
      kept.inProgress = { generation };
      await this.save();
      this.parts.agreed();
      this.parts.event('Normal', 'ResizeStarted', `Pod resize started: ${summary(pod, generation)}`);
      return pod;
    }
    const message = room.problem;
    const reason = room.isForEver ? 'Infeasible' : 'Deferred';
    if ((this.pending ?? reportedPending(pod))?.generation !== generation) {
      const text = `Pod resize ${reason}: ${summary(pod, generation, message)}`;
      this.parts.event('Warning', `Resize${reason}`, text);
    }
    this.pending = { reason, message, generation };
    return withResources(pod, kept.allocated);
  }

  /** Containers have these resources now. */
  async gave(resources: Readonly<Record<string, Resources>>): Promise<void> {
    if (this.kept === undefined) return;
    Object.assign(this.kept.actual, resources);
    await this.save();
  }

  /** Everything is as agreed. */
  async finish(pod: Pod): Promise<void> {
    const { kept } = this;
    if (kept === undefined) return;
    kept.actualPod = pod.spec.resources ?? {};
    const generation = kept.inProgress?.generation;
    delete kept.inProgress;
    await this.save();
    if (generation === undefined) return;
    this.parts.event('Normal', 'ResizeCompleted', `Pod resize completed: ${summary(pod, generation)}`);
  }

  /** It could not be done now. */
  async fail(pod: Pod, error: string): Promise<void> {
    const { kept } = this;
    if (kept === undefined) return;
    const generation = kept.inProgress?.generation ?? Number(pod.metadata.generation ?? 0);
    const isNew = kept.inProgress?.error !== error;
    kept.inProgress = { generation, error };
    await this.save();
    if (isNew) this.parts.event('Warning', 'ResizeError', `Pod resize error: ${summary(pod, generation, error)}`);
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

/** Undefined for a file that is not there, or not whole. */
function readKept(text: string): Kept | undefined {
  try {
    const kept = JSON.parse(text) as Partial<Kept>;
    const { allocated, actual } = kept;
    return allocated?.containers && actual ? { ...kept, allocated, actual } : undefined;
  } catch {
    return undefined;
  }
}

/** The resources of a pod as events about a resize show them. */
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

/** What another process of the agent has reported of a resize that waits. */
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
