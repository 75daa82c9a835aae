import { StartupError } from '../../../base/machinery/startup-error.js';
import { quantityMilliValue } from '../../../base/machinery/values/quantity.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { podQosClass } from '../../../objects/apis/core/v1/pod-qos.js';
import type { PodEnd } from '../pods/pod-end.js';
import { podUid } from '../pods/pod-form.js';
import { chooseCpus } from './choose-cpus.js';
import { type CpuSet, formatCpuSet, parseCpuSet, unionOfCpus, withoutCpus } from './cpu-set.js';
import type { CpuState, CpuStateFile } from './cpu-state-file.js';
import { type CpuTopology, cpusOf } from './cpu-topology.js';

/** The processors of a container. */
export interface ContainerCpus {
  /** The processors on which the container may run, in the kernel's notation. */
  readonly cpus: string;
  /** Whether no other container of a pod runs there; such a container needs no quota. */
  readonly isExclusive: boolean;
}

/** Assigns processors to containers. */
export interface CpuAssigner {
  cpusOf(podUid: string, container: string): ContainerCpus;
  /** Whether a container of the pod has exclusive processors. */
  hasExclusive(podUid: string): boolean;
}

/**
 * The policy `static`: a container of a guaranteed pod that asks for whole processors has them for itself, from before its
 * pod begins until the pod has ended. All other containers share the rest, with the reserved ones among them.
 *
 * A processor is either shared or assigned to one container; only init containers of a pod leave theirs to containers of
 * the same pod that start after them.
 */
export class CpuManager implements CpuAssigner {
  private readonly assigned = new Map<string, Map<string, CpuSet>>();
  private lastWrite: Promise<void> = Promise.resolve();

  private constructor(
    private readonly topology: CpuTopology,
    private readonly reserved: CpuSet,
    private readonly file: Pick<CpuStateFile, 'write'>,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  /**
   * Continues with the assignments of an earlier process.
   *
   * @param reserved processors that are never exclusive
   * @throws StartupError when there are none, or when the file does not fit the machine
   */
  static async open(
    topology: CpuTopology,
    reserved: CpuSet,
    file: CpuStateFile,
    onFailure: (error: unknown) => void,
  ): Promise<CpuManager> {
    const all = cpusOf(topology);
    if (reserved.length === 0) {
      const how = '--reserved-cpus, or cpu in --kube-reserved or --system-reserved';
      throw new StartupError(`--cpu-manager-policy=static needs a processor for the machine itself: ${how}`);
    }
    if (withoutCpus(reserved, all).length > 0)
      throw new StartupError(`--reserved-cpus names processors that are not online: ${formatCpuSet(all)} are`);
    const manager = new CpuManager(topology, reserved, file, onFailure);
    const before = await file.read();
    if (before !== undefined) manager.take(before, all);
    await manager.save();
    return manager;
  }

  private take({ shared, assigned }: CpuState, all: CpuSet): void {
    const sets = [...assigned.values()].flatMap((containers) => [...containers.values()]);
    const isWhole = formatCpuSet(unionOfCpus(shared, ...sets)) === formatCpuSet(all);
    if (!isWhole || withoutCpus(this.reserved, shared).length > 0) {
      throw new StartupError(
        'the processors or the reserved ones are others than in cpu_manager_state: drain the node, and remove the file',
      );
    }
    for (const [uid, containers] of assigned) this.assigned.set(uid, new Map(containers));
  }

  /** Processors that are not exclusive to any container. */
  get shared(): CpuSet {
    const taken = [...this.assigned.values()].flatMap((containers) => [...containers.values()].flat());
    return withoutCpus(cpusOf(this.topology), taken);
  }

  cpusOf(uid: string, container: string): ContainerCpus {
    const own = this.assigned.get(uid)?.get(container);
    return { cpus: formatCpuSet(own ?? this.shared), isExclusive: own !== undefined };
  }

  hasExclusive(uid: string): boolean {
    return this.assigned.has(uid);
  }

  /**
   * Assigns the exclusive processors of a pod's containers; earlier assignments stay.
   *
   * @returns why the node has too few; then nothing is assigned
   */
  allocate(pod: Pod): PodEnd | undefined {
    const uid = podUid(pod);
    /** Processors of init containers that will have ended, which later containers can use. */
    let reusable: CpuSet = [];
    for (const [container, isTask] of inOrder(pod)) {
      const count = exclusiveCount(pod, container);
      if (count === 0) continue;
      const known = this.assigned.get(uid)?.get(container.name);
      const own = known ?? this.choose(reusable, count);
      if (own === undefined) {
        const available = this.assignable.length + reusable.length;
        this.release(uid);
        const message = `not enough cpus available to satisfy request: requested=${count}, available=${available}`;
        return {
          reason: 'UnexpectedAdmissionError',
          message: `Allocate failed due to ${message}, which is unexpected`,
        };
      }
      const containers = this.assigned.get(uid) ?? new Map<string, CpuSet>();
      this.assigned.set(uid, containers.set(container.name, own));
      reusable = isTask ? unionOfCpus(reusable, own) : withoutCpus(reusable, own);
    }
    this.saveLater();
    return undefined;
  }

  /** Processors that may become exclusive. */
  private get assignable(): CpuSet {
    return withoutCpus(this.shared, this.reserved);
  }

  private choose(reusable: CpuSet, count: number): CpuSet | undefined {
    const first = chooseCpus(this.topology, reusable, Math.min(count, reusable.length)) ?? [];
    const more = chooseCpus(this.topology, this.assignable, count - first.length);
    return more && unionOfCpus(first, more);
  }

  /**
   * Releases the processors of pods that have ended. @param isActive whether a pod may still have a running container
   */
  retain(isActive: (uid: string) => boolean): void {
    for (const uid of [...this.assigned.keys()]) if (!isActive(uid)) this.release(uid);
    this.saveLater();
  }

  private release(uid: string): void {
    this.assigned.delete(uid);
  }

  private saveLater(): void {
    this.save().catch(this.onFailure);
  }

  /** Resolves when the present state has been written to the disk. */
  private save(): Promise<void> {
    const state = {
      shared: this.shared,
      assigned: new Map([...this.assigned].map(([uid, own]) => [uid, new Map(own)])),
    };
    this.lastWrite = this.lastWrite.catch(() => undefined).then(() => this.file.write(state));
    return this.lastWrite;
  }
}

/** The containers of a pod in the order of their start, each with whether it ends before the next one starts. */
function inOrder({ spec }: Pod): (readonly [Container, boolean])[] {
  return [
    ...(spec.initContainers ?? []).map((each) => [each, each.restartPolicy !== 'Always'] as const),
    ...(spec.containers ?? []).map((each) => [each, false] as const),
  ];
}

/** The number of exclusive processors of a container; 0: none. */
function exclusiveCount(pod: Pod, { resources }: Container): number {
  if (podQosClass(pod.spec) !== 'Guaranteed' || pod.spec.resources?.limits?.cpu !== undefined) return 0;
  const milli = quantityMilliValue(resources?.requests?.cpu ?? resources?.limits?.cpu ?? '0');
  return milli % 1000 === 0 ? milli / 1000 : 0;
}

/**
 * The processors reserved for the machine: the configured ones, or else the first ones, as many as the reserved CPU
 * time rounded up.
 */
export function reservedCpus(topology: CpuTopology, named: string, reservedMilli: number): CpuSet {
  if (named !== '') return parseCpuSet(named);
  const count = Math.ceil(reservedMilli / 1000);
  return chooseCpus(topology, cpusOf(topology), Math.min(count, topology.length)) ?? [];
}
