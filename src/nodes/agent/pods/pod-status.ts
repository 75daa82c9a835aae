import { formatTime } from '../../../base/machinery/clock.js';
import { canonicalQuantity } from '../../../base/machinery/values/quantity.js';
import type { ContainerStatus } from '../../../objects/apis/core/v1/container-status.types.js';
import type { Pod, PodCondition, PodPhase, PodStatus } from '../../../objects/apis/core/v1/pod.types.js';
import { podQosClass } from '../../../objects/apis/core/v1/pod-qos.js';
import { mayRestartAll } from '../../../objects/apis/core/v1/restart-rules.js';
import { podAmounts } from '../containers/resources.js';
import { containerStatuses, type StatusInput } from './container-statuses.js';
import { podRequest } from './pod-admission.js';
import type { ResizeState } from './pod-allocation.js';
import type { PodEnd } from './pod-end.js';
import { roleOfInit } from './pod-form.js';
import { finalPhase, podPhase } from './pod-phase.js';
import { runtimeAddressesOf, usableSandbox } from './runtime-pod.js';

export interface PodStatusInput extends Omit<StatusInput, 'before'> {
  /** The status that was reported last, from which unchanged conditions keep their times. */
  readonly before: PodStatus | undefined;
  readonly hostIPs: readonly string[];
  /** Milliseconds since the epoch. */
  readonly startTime: number;
  readonly now: number;
  readonly end: PodEnd | undefined;
  readonly resize: ResizeState;
}

interface Verdict {
  readonly status: 'True' | 'False';
  /** The generation that the status is about, if it is not the newest. */
  readonly generation?: number;
  readonly reason?: string;
  readonly message?: string;
}

/** Conditions that are removed when they no longer hold. */
export const resizeConditions = ['PodResizePending', 'PodResizeInProgress'] as const;

const yes: Verdict = { status: 'True' };

function no(reason: string, message?: string): Verdict {
  return { status: 'False', reason, ...(message === undefined ? {} : { message }) };
}

/** The whole status of a pod, in the form for the API. */
export function podStatus(input: PodStatusInput): PodStatus {
  const { pod, before, end } = input;
  if (end?.isRefused) return refusedStatus(input, end);
  const known = [
    ...(before?.initContainerStatuses ?? []),
    ...(before?.containerStatuses ?? []),
    ...(before?.ephemeralContainerStatuses ?? []),
  ];
  const containers: StatusInput = { ...input, before: known };
  const inits = containerStatuses(containers, ['init', 'sidecar']);
  const apps = containerStatuses(containers, ['app']);
  const ephemerals = containerStatuses(containers, ['ephemeral']);
  // Loops take a pod that has failed for gone, so it never comes back from a final phase, whoever has set that.
  const phase =
    finalPhase(pod.status) ?? (end === undefined ? podPhase({ pod, inits, apps, isOver: input.isOver }) : 'Failed');
  const { generation } = pod.metadata;
  return {
    ...(generation ? { observedGeneration: generation } : {}),
    phase,
    conditions: conditionsOf(input, phase, inits, apps),
    ...(end === undefined ? {} : { reason: end.reason, message: end.message }),
    ...addressFields(input, phase),
    startTime: formatTime(input.startTime),
    ...(inits.length === 0 ? {} : { initContainerStatuses: inits }),
    containerStatuses: apps.toSorted(byName),
    qosClass: pod.status?.qosClass ?? podQosClass(pod.spec),
    ...(ephemerals.length === 0 ? {} : { ephemeralContainerStatuses: ephemerals.toSorted(byName) }),
    ...podResources(pod),
  } as PodStatus;
}

/** The order in which all agents report containers that do not depend on each other. */
function byName(a: ContainerStatus, b: ContainerStatus): number {
  return a.name < b.name ? -1 : 1;
}

function refusedStatus({ pod, startTime }: PodStatusInput, { reason, message }: PodEnd): PodStatus {
  const { generation } = pod.metadata;
  return {
    ...(generation ? { observedGeneration: generation } : {}),
    phase: 'Failed',
    reason,
    message,
    startTime: formatTime(startTime),
    qosClass: pod.status?.qosClass ?? podQosClass(pod.spec),
  } as PodStatus;
}

/** The resources that all containers have together. */
function podResources(pod: Pod): Partial<PodStatus> {
  const { cpuRequestMilli, cpuLimitMilli, memoryLimit } = podAmounts(pod);
  const memoryRequest = podRequest(pod, 'memory');
  const requests = {
    ...(cpuRequestMilli === 0 ? {} : { cpu: canonicalQuantity(`${cpuRequestMilli}m`) }),
    ...(memoryRequest === 0 ? {} : { memory: binaryText(memoryRequest) }),
  };
  if (Object.keys(requests).length === 0) return {};
  const limits = {
    ...(cpuLimitMilli === undefined ? {} : { cpu: canonicalQuantity(`${cpuLimitMilli}m`) }),
    ...(memoryLimit === undefined ? {} : { memory: binaryText(memoryLimit) }),
  };
  return {
    allocatedResources: requests,
    resources: { requests, ...(Object.keys(limits).length === 0 ? {} : { limits }) },
  };
}

/** Bytes in the largest binary unit that divides them. */
function binaryText(bytes: number): string {
  const units = ['', 'Ki', 'Mi', 'Gi', 'Ti'];
  let unit = 0;
  let amount = bytes;
  while (amount % 1024 === 0 && unit < units.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${amount}${units[unit]}`;
}

function conditionsOf(
  { pod, runtime, before, now, end, resize, isRestartingAll }: PodStatusInput,
  phase: PodPhase,
  inits: readonly ContainerStatus[],
  apps: readonly ContainerStatus[],
): PodCondition[] {
  const isDone = phase === 'Succeeded' || phase === 'Failed';
  const containersReady = containersVerdict(pod, phase, inits, apps);
  const verdicts: [string, Verdict][] = [
    [
      'PodReadyToStartContainers',
      usableSandbox(runtime) !== undefined && !isDone
        ? yes
        : runtime.sandboxes.length > 0
          ? no('PodSandboxNotReady', 'pod sandbox is not ready')
          : no('PodSandboxNotReady', 'no pod sandbox exists'),
    ],
    ['Initialized', initializedVerdict(pod, phase, inits, apps)],
    ['Ready', readyVerdict(pod, containersReady)],
    ['ContainersReady', containersReady],
    ['PodScheduled', yes],
  ];
  verdicts.push(...restartVerdicts(pod, phase, isRestartingAll), ...resizeVerdicts(resize));
  if (end?.isDisruption) {
    verdicts.unshift(['DisruptionTarget', { status: 'True', reason: 'TerminationByKubelet', message: end.message }]);
  }
  return verdicts.map(([type, verdict]) => conditionOf(type, verdict, pod, before, now));
}

/** A pod that may restart as a whole reports whether it does. */
function restartVerdicts(pod: Pod, phase: PodPhase, isRestartingAll: boolean): [string, Verdict][] {
  if (!mayRestartAll(pod)) return [];
  const type = 'AllContainersRestarting';
  if (phase === 'Succeeded') return [[type, no('PodCompleted')]];
  if (phase === 'Failed') return [[type, no('PodFailed')]];
  if (!isRestartingAll) return [[type, { status: 'False' }]];
  const message = 'container exited with restart policy rule';
  return [[type, { status: 'True', reason: 'RestartAllContainersStarted', message }]];
}

function resizeVerdicts({ pending, inProgress }: ResizeState): [string, Verdict][] {
  const found: [string, Verdict][] = [];
  if (pending !== undefined) {
    found.push([resizeConditions[0], { status: 'True', ...pending }]);
  }
  if (inProgress !== undefined) {
    const { generation, error } = inProgress;
    const why = error === undefined ? {} : { reason: 'Error', message: error };
    found.push([resizeConditions[1], { status: 'True', generation, ...why }]);
  }
  return found;
}

function conditionOf(
  type: string,
  { status, reason, message, generation: about }: Verdict,
  { metadata: { generation } }: Pod,
  before: PodStatus | undefined,
  now: number,
): PodCondition {
  const known = before?.conditions?.find((condition) => condition.type === type);
  const since = known?.status === status ? known.lastTransitionTime : undefined;
  return {
    type,
    ...(generation ? { observedGeneration: about ?? generation } : {}),
    status,
    lastProbeTime: null,
    lastTransitionTime: since ?? formatTime(now),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  } as PodCondition;
}

function addressFields({ pod, runtime, hostIPs, before }: PodStatusInput, phase: PodPhase): Partial<PodStatus> {
  const { hostNetwork } = pod.spec;
  const sandbox = usableSandbox(runtime) ?? runtime.sandboxes[0];
  const isDone = phase === 'Succeeded' || phase === 'Failed';
  let addresses = hostNetwork ? hostIPs : runtimeAddressesOf(sandbox);
  // A stopped sandbox no longer reports its addresses.
  if (addresses.length === 0 && before?.podIPs !== undefined && (isDone || sandbox !== undefined)) {
    addresses = before.podIPs.map(({ ip }) => ip);
  }
  return {
    ...(hostIPs[0] === undefined ? {} : { hostIP: hostIPs[0], hostIPs: hostIPs.map((ip) => ({ ip })) }),
    ...(addresses[0] === undefined ? {} : { podIP: addresses[0], podIPs: addresses.map((ip) => ({ ip })) }),
  };
}

function initializedVerdict(
  { spec }: Pod,
  phase: PodPhase,
  inits: readonly ContainerStatus[],
  apps: readonly ContainerStatus[],
): Verdict {
  if (phase === 'Succeeded') return { status: 'True', reason: 'PodCompleted' };
  const roles = new Map((spec.initContainers ?? []).map((container) => [container.name, roleOfInit(container)]));
  const hasBegun = apps.some(({ state, lastState }) => state.running || state.terminated || lastState.terminated);
  const incomplete = inits.filter(({ name, ready, started }) =>
    roles.get(name) === 'sidecar' ? started !== true : !ready,
  );
  if (incomplete.length === 0 || (hasBegun && phase === 'Running')) return yes;
  const names = incomplete.map(({ name }) => name).join(' ');
  return no('ContainersNotInitialized', `containers with incomplete status: [${names}]`);
}

function containersVerdict(
  { spec }: Pod,
  phase: PodPhase,
  inits: readonly ContainerStatus[],
  apps: readonly ContainerStatus[],
): Verdict {
  if (phase === 'Succeeded') return no('PodCompleted');
  if (phase === 'Failed') return no('PodFailed');
  const sidecars = new Set(
    (spec.initContainers ?? []).filter((each) => roleOfInit(each) === 'sidecar').map(({ name }) => name),
  );
  const serving = [...inits.filter(({ name }) => sidecars.has(name)), ...apps];
  const unready = serving.filter(({ ready }) => !ready).map(({ name }) => name);
  return unready.length === 0
    ? yes
    : no('ContainersNotReady', `containers with unready status: [${unready.join(' ')}]`);
}

function readyVerdict({ spec, status }: Pod, containers: Verdict): Verdict {
  if (containers.status === 'False') return containers;
  const problems = (spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const found = status?.conditions?.find(({ type }) => type === conditionType)?.status;
    if (found === 'True') return [];
    const gate = `pod readiness gate "${conditionType}"`;
    return [
      found === undefined
        ? `corresponding condition of ${gate} does not exist.`
        : `the status of ${gate} is not "True", but ${found}`,
    ];
  });
  return problems.length === 0 ? yes : no('ReadinessGatesNotReady', problems.join(', '));
}
