import type { ContainerStatus } from '../../../objects/apis/core/v1/container-status.types.js';
import type { Pod, PodPhase } from '../../../objects/apis/core/v1/pod.types.js';
import { roleOfInit } from './pod-form.js';

/** Statuses of the init containers and of the others, of which the phase follows. */
export interface PhaseInput {
  readonly pod: Pod;
  readonly inits: readonly ContainerStatus[];
  readonly apps: readonly ContainerStatus[];
  /** Nothing of the pod runs, and nothing will be started. */
  readonly isOver: boolean;
}

/** The phase of a pod that nobody has ended for another reason. */
export function podPhase({ pod, inits, apps, isOver }: PhaseInput): PodPhase {
  const { restartPolicy, initContainers = [] } = pod.spec;
  const roles = new Map(initContainers.map((container) => [container.name, roleOfInit(container)]));
  const tasks = inits.filter(({ name }) => roles.get(name) === 'init');
  const hasFailedInit = tasks.some((status) => exitOf(status) !== undefined && exitOf(status) !== 0);
  const isPending = tasks.some((status) => exitOf(status) !== 0);
  const sidecars = inits.filter(({ name }) => roles.get(name) === 'sidecar');
  const isSidecarPending = sidecars.some(({ started, state }) => started !== true && !state.terminated);
  const hasBegun = apps.some(({ state, lastState }) => state.running || state.terminated || lastState.terminated);
  const mayRestart = !isOver && restartPolicy !== 'Never';
  if (hasFailedInit && !mayRestart) return 'Failed';
  if ((isPending || isSidecarPending) && !hasBegun) return isOver && hasFailedInit ? 'Failed' : 'Pending';
  if (apps.some(({ state, lastState }) => isWaitingForFirst(state, lastState)) && !isOver) return 'Pending';
  const ended = apps.filter((status) => !status.state.running);
  if (ended.length < apps.length) return 'Running';
  if (!isOver && sidecars.some(({ state }) => state.running)) return 'Running';
  const all = [...tasks, ...apps];
  const hasSucceeded = all.every((status) => exitOf(status) === 0);
  if (!isOver) {
    const willRun = apps.some(({ state }) => state.waiting !== undefined && state.waiting !== null);
    if (willRun || restartPolicy === 'Always') return 'Running';
    if (restartPolicy === 'OnFailure' && !hasSucceeded) return 'Running';
  }
  return hasSucceeded ? 'Succeeded' : 'Failed';
}

function isWaitingForFirst(state: ContainerStatus['state'], lastState: ContainerStatus['lastState']): boolean {
  return !state.running && !state.terminated && !lastState.terminated;
}

function exitOf({ state, lastState }: ContainerStatus): number | undefined {
  return (state.terminated ?? (state.waiting ? lastState.terminated : undefined))?.exitCode;
}
