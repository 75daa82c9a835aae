import { formatTime } from '../../../base/machinery/clock.js';
import type {
  ContainerState,
  ContainerStateTerminated,
  ContainerStatus,
} from '../../../objects/apis/core/v1/container-status.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import {
  type ContainerRole,
  type DeclaredContainer,
  declaredContainers,
  isRestarted,
  restartingAllReason,
} from './pod-form.js';
import type { Resources } from './pod-resources.js';
import {
  hasExited,
  isRunning,
  millisOf,
  type RuntimeContainer,
  type RuntimePod,
  restartCountOf,
  runsOf,
} from './runtime-pod.js';

/** Why the last start of a container failed. */
export interface StartProblem {
  readonly reason: string;
  readonly message: string;
}

export interface StatusInput {
  readonly pod: Pod;
  readonly runtime: RuntimePod;
  /** The runtime's name and version; container ids begin with the name: `containerd://…`. */
  readonly runtimeName: string;
  readonly problemOf: (container: string) => StartProblem | undefined;
  /** Whether the run has passed its startup probe and its hook. */
  readonly isStarted: (run: RuntimeContainer) => boolean;
  readonly isReady: (run: RuntimeContainer) => boolean;
  /** The container's termination message. */
  readonly terminationMessageOf: (run: RuntimeContainer) => string | undefined;
  /** The statuses that were reported last. */
  readonly before: readonly ContainerStatus[];
  /** No container of the pod runs, and none will run again. */
  readonly isOver: boolean;
  /** All containers were removed because the whole pod restarts. */
  readonly isRestartingAll: boolean;
  /** The resources that the container has; undefined: those in its declaration. */
  readonly actualOf: (container: string) => Resources | undefined;
}

/** Exit code of a container that ended without a trace. */
const unknownExitCode = 137;

/** The statuses of the containers with one of the roles, in the order of their declaration. */
export function containerStatuses(given: StatusInput, roles: readonly ContainerRole[]): ContainerStatus[] {
  const problemOf = (container: string) => {
    const found = given.problemOf(container);
    return found && { ...found, message: cut(found.message, mostProblemBytes) };
  };
  const input = { ...given, problemOf };
  const hasInits = (input.pod.spec.initContainers?.length ?? 0) > 0;
  return declaredContainers(input.pod)
    .filter(({ role }) => roles.includes(role))
    .map((declared) => statusOf(input, declared, hasInits));
}

function statusOf(input: StatusInput, declared: DeclaredContainer, hasInits: boolean): ContainerStatus {
  const { name, image = '' } = declared.container;
  const runs = runsOf(input.runtime, name);
  const [run, earlier] = runs;
  const before = input.before.find((status) => status.name === name);
  if (run === undefined) return withoutRun(input, declared, before, hasInits);
  const problem = input.problemOf(name);
  const isUp = isRunning(run);
  const willRestart =
    hasExited(run) && !input.isOver && isRestarted(input.pod, declared, run.exitCode) && problem !== undefined;
  const last = willRestart ? run : earlier;
  return {
    name,
    state: willRestart ? { waiting: { ...problem } } : stateOf(input, run, problem),
    lastState: last === undefined || !hasExited(last) ? (before?.lastState ?? {}) : endedState(input, last),
    ready: declared.role === 'init' ? hasExited(run) && run.exitCode === 0 : isUp && input.isReady(run),
    restartCount: restartCountOf(run),
    image: run.image?.image || image,
    imageID: run.imageRef,
    containerID: `${input.runtimeName}://${run.id}`,
    started: isUp && (declared.role === 'init' || declared.role === 'ephemeral' || input.isStarted(run)),
    ...resourcesOf(declared, isUp ? input.actualOf(name) : undefined),
    ...mountsOf(declared),
    ...userOf(run),
  } as ContainerStatus;
}

function stateOf(input: StatusInput, run: RuntimeContainer, problem: StartProblem | undefined): ContainerState {
  if (isRunning(run)) return { running: { startedAt: formatTime(millisOf(run.startedAt)) } };
  if (hasExited(run)) return endedState(input, run);
  return { waiting: problem === undefined ? { reason: 'ContainerCreating' } : { ...problem } };
}

function endedState(input: StatusInput, run: RuntimeContainer): ContainerState {
  const message = [run.message, input.terminationMessageOf(run) ?? ''].filter((text) => text !== '').join(': ');
  const reason = run.reason || (run.exitCode === 0 ? 'Completed' : 'Error');
  const most = mostBytesOf(input.pod);
  const terminated: ContainerStateTerminated = {
    // The API takes no status with a number that is none of 32 bits.
    exitCode: (run.exitCode | 0) === run.exitCode ? run.exitCode : unknownExitCode,
    reason: cut(reason, most),
    ...(message === '' ? {} : { message: cut(message, most) }),
    startedAt: formatTime(millisOf(run.startedAt)),
    finishedAt: formatTime(millisOf(run.finishedAt)),
    containerID: `${input.runtimeName}://${run.id}`,
  };
  return { terminated };
}

/** Names of images, which problems repeat, have any length. The API does not take a status that is larger than a pod may be. */
const mostProblemBytes = 4096;
/** The messages of a pod's containers share this size. */
const mostMessageBytes = 12 * 1024;

function mostBytesOf({ spec }: Pod): number {
  const count = (spec.containers?.length ?? 0) + (spec.initContainers?.length ?? 0);
  return Math.floor(mostMessageBytes / Math.max(1, count));
}

function cut(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= mostBytes ? text : bytes.subarray(0, mostBytes).toString('utf8');
}

/** The runtime does not know the container: it was never made, or it is gone. */
function withoutRun(
  input: StatusInput,
  declared: DeclaredContainer,
  before: ContainerStatus | undefined,
  hasInits: boolean,
): ContainerStatus {
  const { role, container } = declared;
  const { name, image = '' } = container;
  if (input.isRestartingAll && before !== undefined && !before.state.waiting && role !== 'ephemeral') {
    const words = {
      reason: restartingAllReason,
      message: 'The container is removed because RestartAllContainers in place',
    };
    return {
      ...{ name, image, imageID: '', ready: false, started: false, ...mountsOf(declared) },
      state: { waiting: words },
      lastState: { terminated: { ...words, exitCode: unknownExitCode, startedAt: null, finishedAt: null } },
      restartCount: before.restartCount + 1,
    } as ContainerStatus;
  }
  if (before !== undefined && (before.state.terminated || (input.isOver && before.state.waiting))) {
    return { ...before, ready: role === 'init' && before.state.terminated?.exitCode === 0, started: false };
  }
  const waiting = input.problemOf(name) ?? {
    reason: hasInits && role !== 'ephemeral' ? 'PodInitializing' : 'ContainerCreating',
  };
  const status = {
    name,
    state: { waiting },
    lastState: before?.lastState ?? {},
    ready: false,
    restartCount: before?.restartCount ?? 0,
    image,
    imageID: '',
    started: false,
    ...mountsOf(declared),
  };
  if (!before?.state.running) return status as ContainerStatus;
  // The container ran when it was last seen and left no trace: the machine or the runtime has lost it.
  const lost: ContainerStateTerminated = {
    exitCode: unknownExitCode,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
    startedAt: null,
    finishedAt: null,
    ...(before.containerID === undefined ? {} : { containerID: before.containerID }),
  };
  if (input.isOver) return { ...status, state: { terminated: lost } } as ContainerStatus;
  return { ...status, lastState: { terminated: lost }, restartCount: before.restartCount + 1 } as ContainerStatus;
}

/** @param actual the resources that it has, which may be those of an earlier declaration */
function resourcesOf(
  { role, container: { resources } }: DeclaredContainer,
  actual: Resources | undefined,
): Partial<ContainerStatus> {
  if (role === 'ephemeral') return {};
  const { limits, requests } = actual ?? resources ?? {};
  const allocated = resources?.requests;
  return {
    ...(allocated === undefined ? {} : { allocatedResources: allocated }),
    resources: { ...(limits === undefined ? {} : { limits }), ...(requests === undefined ? {} : { requests }) },
  };
}

function mountsOf({ container }: DeclaredContainer): Partial<ContainerStatus> {
  const mounts = container.volumeMounts ?? [];
  if (mounts.length === 0) return {};
  return {
    volumeMounts: mounts.map(({ name, mountPath, readOnly }) => ({
      name,
      mountPath,
      ...(readOnly ? { readOnly, recursiveReadOnly: 'Disabled' as const } : {}),
    })),
  } as Partial<ContainerStatus>;
}

function userOf({ user }: RuntimeContainer): Partial<ContainerStatus> {
  const linux = user?.linux;
  if (linux === undefined) return {};
  const { uid, gid, supplementalGroups } = linux;
  const groups = supplementalGroups.length === 0 ? {} : { supplementalGroups: [...supplementalGroups] };
  return { user: { linux: { uid, gid, ...groups } } };
}
