import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { type ContainerStatus, containerStates } from '../cri/container-messages.js';
import { runtimeAnnotations, runtimeLabels } from '../cri/labels.js';
import { type SandboxStatus, sandboxReady } from '../cri/sandbox-messages.js';

/** The sandboxes and containers of a pod in the runtime. */
export interface RuntimePod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** Sandboxes, newest first. */
  readonly sandboxes: readonly SandboxStatus[];
  /** All containers of the pod, including those of earlier sandboxes, newest first. */
  readonly containers: readonly RuntimeContainer[];
}

/** A container and the id of its sandbox. */
export interface RuntimeContainer extends ContainerStatus {
  readonly sandboxId: string;
}

export function emptyRuntimePod(uid: string, namespace: string, name: string): RuntimePod {
  return { uid, name, namespace, sandboxes: [], containers: [] };
}

/** The sandbox in which containers may run: the newest, if it is ready and the only one that is. */
export function usableSandbox({ sandboxes }: RuntimePod): SandboxStatus | undefined {
  const ready = sandboxes.filter(({ state }) => state === sandboxReady);
  return ready.length === 1 && ready[0] === sandboxes[0] ? ready[0] : undefined;
}

export function nameOf({ labels, metadata }: Pick<ContainerStatus, 'labels' | 'metadata'>): string {
  return labels[runtimeLabels.containerName] ?? metadata?.name ?? '';
}

/** The runs of one container, newest first. */
export function runsOf({ containers }: RuntimePod, name: string): readonly RuntimeContainer[] {
  return containers.filter((container) => nameOf(container) === name);
}

/** Whether the container was created and never started. */
export function isCreated({ state }: Pick<ContainerStatus, 'state'>): boolean {
  return state === containerStates.created;
}

export function isRunning({ state }: Pick<ContainerStatus, 'state'>): boolean {
  return state === containerStates.running;
}

/** Whether the runtime has lost track of the container, such as after a crash: it may still run. */
export function isUnknown({ state }: Pick<ContainerStatus, 'state'>): boolean {
  return state === containerStates.unknown;
}

/** Whether the container must be stopped before its end is certain. */
export function mayRun(run: Pick<ContainerStatus, 'state'>): boolean {
  return isRunning(run) || isUnknown(run);
}

export function hasExited({ state }: Pick<ContainerStatus, 'state'>): boolean {
  return state === containerStates.exited;
}

/** How often the container had been restarted when this run was created. */
export function restartCountOf({ annotations, metadata }: Pick<ContainerStatus, 'annotations' | 'metadata'>): number {
  const count = Number(annotations[runtimeAnnotations.restartCount]);
  return Number.isInteger(count) ? count : (metadata?.attempt ?? 0);
}

/** Addresses of the pod's network, the main one first. */
export function runtimeAddressesOf(sandbox: SandboxStatus | undefined): readonly string[] {
  const { ip = '', additionalIps = [] } = sandbox?.network ?? {};
  return [ip, ...additionalIps.map((each) => each.ip)].filter((each) => each !== '');
}

/** Addresses of a pod, the main one first: those of its node if it has the network of the node. */
export function podAddressesOf(
  { spec }: Pick<Pod, 'spec'>,
  runtime: RuntimePod,
  hostIPs: () => readonly string[],
): readonly string[] {
  return spec.hostNetwork ? hostIPs() : runtimeAddressesOf(usableSandbox(runtime));
}

/** Converts a time of the runtime to milliseconds since the epoch. */
export function millisOf(nanoseconds: number): number {
  return Math.floor(nanoseconds / 1e6);
}
