import { formatTime } from '../../base/machinery/clock.js';
import type { ContainerStatus } from '../../objects/apis/core/v1/container-status.types.js';
import type { PodCondition, PodPhase, PodStatus } from '../../objects/apis/core/v1/pod.types.js';
import type { ContainerRun } from './container-run.js';
import type { PodState } from './pod-state.js';

/** The conditions as last reported, with the times of their changes. */
export type Conditions = Map<string, { readonly status: string; readonly since: number }>;

interface PodDetails {
  readonly hostIP: string;
  readonly hostIPs: { ip: string }[];
  readonly podIP: string;
  readonly podIPs: { ip: string }[];
  readonly startTime: number;
  readonly initContainerStatuses: ContainerStatus[] | undefined;
  readonly containerStatuses: ContainerStatus[];
  readonly ephemeralContainerStatuses: ContainerStatus[] | undefined;
  /** The part of the status about the resources of the pod. */
  readonly resize: Pick<PodStatus, 'allocatedResources' | 'resources'> & {
    readonly conditions: readonly PodCondition[];
  };
}

/** The status of a pod. Remembers in `known` when conditions changed. */
export function describePod(state: PodState, known: Conditions, now: number, details: PodDetails): PodStatus {
  const phase = phaseOf(state);
  const { generation } = state.plan;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const condition = (type: string, verdict: Verdict): PodCondition => {
    const status = verdict.status ?? 'True';
    const before = known.get(type);
    const since = before?.status === status ? before.since : now;
    known.set(type, { status, since });
    const { reason, message } = verdict;
    return {
      type,
      status,
      ...observed,
      lastTransitionTime: formatTime(since),
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
    } as PodCondition;
  };
  const containers = containersVerdict(state, phase, now);
  const { scheduledAt } = state.plan;
  if (scheduledAt !== undefined) known.set('PodScheduled', { status: 'True', since: scheduledAt });
  const { startTime, initContainerStatuses, ephemeralContainerStatuses, resize, ...others } = details;
  const { conditions: ofResize, ...resources } = resize;
  return {
    ...observed,
    phase,
    conditions: [
      condition('PodReadyToStartContainers', phase === 'Failed' || phase === 'Succeeded' ? no() : yes),
      condition('Initialized', initializedVerdict(state, phase)),
      condition('Ready', readyVerdict(state, containers)),
      condition('ContainersReady', containers),
      condition('PodScheduled', yes),
      ...ofResize,
    ],
    ...(state.end === undefined ? {} : { reason: state.end.reason, message: state.end.message }),
    ...others,
    ...resources,
    startTime: formatTime(startTime),
    ...(initContainerStatuses === undefined ? {} : { initContainerStatuses }),
    ...(ephemeralContainerStatuses === undefined ? {} : { ephemeralContainerStatuses }),
  };
}

/** The phase, from the states of the containers. */
export function phaseOf(state: PodState): PodPhase {
  const { inits, apps, end, hasFailedInit, isInitialized, isStopping, plan } = state;
  if (end !== undefined) return 'Failed';
  if (hasFailedInit) return 'Failed';
  if (!isInitialized && !isStopping) return 'Pending';
  const tasks = inits.filter((run) => run.plan.role === 'init');
  if (apps.every((run) => run.isEnded)) {
    // Sidecars that still stop keep the pod running.
    if (inits.some((run) => run.isRunning)) return 'Running';
    if (plan.restartPolicy === 'Always' && !isStopping) return 'Running';
    return [...tasks, ...apps].every((run) => run.exited === 0) ? 'Succeeded' : 'Failed';
  }
  const isWaiting = (run: ContainerRun) => !run.isRunning && !run.isEnded && !run.isBetweenRuns;
  return apps.some(isWaiting) && !isStopping ? 'Pending' : 'Running';
}

interface Verdict {
  readonly status?: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
}

const yes: Verdict = {};

function no(reason?: string, message?: string): Verdict {
  return {
    status: 'False',
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}

function initializedVerdict({ inits, isInitialized }: PodState, phase: PodPhase): Verdict {
  if (phase === 'Succeeded') return { reason: 'PodCompleted' };
  if (isInitialized) return yes;
  const names = inits
    .filter((run) => (run.plan.role === 'sidecar' ? !run.isRunning : run.exited !== 0))
    .map((run) => run.plan.name);
  return no('ContainersNotInitialized', `containers with incomplete status: [${names.join(' ')}]`);
}

function containersVerdict({ inits, apps }: PodState, phase: PodPhase, now: number): Verdict {
  if (phase === 'Succeeded') return no('PodCompleted');
  if (phase === 'Failed') return no('PodFailed');
  const serving = [...inits.filter((run) => run.plan.role === 'sidecar'), ...apps];
  const names = serving.filter((run) => !run.isReady(now)).map((run) => run.plan.name);
  if (names.length === 0) return yes;
  return no('ContainersNotReady', `containers with unready status: [${names.join(' ')}]`);
}

function readyVerdict({ plan }: PodState, containers: Verdict): Verdict {
  if (containers.status === 'False') return containers;
  const problems = plan.gates.flatMap(({ type, status }) => {
    if (status === 'True') return [];
    const gate = `corresponding condition of pod readiness gate "${type}"`;
    return [
      status === undefined
        ? `${gate} does not exist.`
        : `the status of pod readiness gate "${type}" is not "True", but ${status}`,
    ];
  });
  return problems.length === 0 ? yes : no('ReadinessGatesNotReady', problems.join(', '));
}
