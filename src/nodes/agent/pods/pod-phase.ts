import type { ContainerStatus } from '../../../objects/apis/core/v1/container-status.types.js';
import type { Pod, PodPhase, PodStatus } from '../../../objects/apis/core/v1/pod.types.js';
import { declaredContainers, isRestarted, restartingAllReason, roleOfInit } from './pod-form.js';

/** Statuses of the init containers and of the other containers, which determine the phase. */
export interface PhaseInput {
  readonly pod: Pod;
  readonly inits: readonly ContainerStatus[];
  readonly apps: readonly ContainerStatus[];
  /** No container of the pod runs, and none will be started. */
  readonly isOver: boolean;
}

/** The phase of a pod that the node has not ended. */
export function podPhase({ pod, inits, apps, isOver }: PhaseInput): PodPhase {
  const { restartPolicy, initContainers = [] } = pod.spec;
  const declared = new Map(declaredContainers(pod).map((each) => [each.container.name, each]));
  /** Whether the container will be restarted although it has ended now. */
  const isAgain = (status: ContainerStatus) => {
    const [known, exit] = [declared.get(status.name), exitOf(status)];
    return !isOver && known !== undefined && exit !== undefined && isRestarted(pod, known, exit);
  };
  const roles = new Map(initContainers.map((container) => [container.name, roleOfInit(container)]));
  const tasks = inits.filter(({ name }) => roles.get(name) === 'init');
  const failedInits = tasks.filter((status) => exitOf(status) !== undefined && exitOf(status) !== 0);
  const hasFailedInit = failedInits.length > 0;
  const isPending = tasks.some((status) => exitOf(status) !== 0);
  const sidecars = inits.filter(({ name }) => roles.get(name) === 'sidecar');
  const isSidecarPending = sidecars.some(({ started, state }) => started !== true && !state.terminated);
  const hasBegun = apps.some(({ state, lastState }) => state.running || state.terminated || lastState.terminated);
  if (hasFailedInit && !failedInits.every(isAgain)) return 'Failed';
  if ((isPending || isSidecarPending) && !hasBegun) return isOver && hasFailedInit ? 'Failed' : 'Pending';
  if (apps.some(({ state, lastState }) => isWaitingForFirst(state, lastState)) && !isOver) return 'Pending';
  const ended = apps.filter((status) => !status.state.running);
  if (ended.length < apps.length) return 'Running';
  if (!isOver && sidecars.some(({ state }) => state.running)) return 'Running';
  const all = [...tasks, ...apps];
  const hasSucceeded = all.every((status) => exitOf(status) === 0);
  if (!isOver) {
    const willRun = apps.some((status) => (status.state.waiting ?? undefined) !== undefined || isAgain(status));
    if (willRun || restartPolicy === 'Always') return 'Running';
    if (restartPolicy === 'OnFailure' && !hasSucceeded) return 'Running';
  }
  return hasSucceeded ? 'Succeeded' : 'Failed';
}

function isWaitingForFirst(state: ContainerStatus['state'], lastState: ContainerStatus['lastState']): boolean {
  return !state.running && !state.terminated && !lastState.terminated;
}

function exitOf({ state, lastState }: ContainerStatus): number | undefined {
  const ended = state.terminated ?? (state.waiting ? lastState.terminated : undefined);
  // A container that ended only because the whole pod restarts has no exit code of its own.
  return ended?.reason === restartingAllReason ? undefined : ended?.exitCode;
}

/** The phase of a pod that is over, according to its status; undefined: it goes on. */
export function finalPhase(status: Pick<PodStatus, 'phase'> | undefined): 'Succeeded' | 'Failed' | undefined {
  if (status?.phase === 'Succeeded') return 'Succeeded';
  return status?.phase === 'Failed' ? 'Failed' : undefined;
}
