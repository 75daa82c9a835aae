import type { ContainerState, ContainerStatus } from '../../../objects/apis/core/v1/container-status.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { type RowCondition, Since, type TableColumn } from '../../../objects/registry/resource-definition.js';

const none = '<none>';

/** What the row of a pod says in the phases in which it does not run again. */
const completions: ReadonlyMap<string, readonly RowCondition[]> = new Map([
  [
    'Succeeded',
    [{ type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' }],
  ],
  ['Failed', [{ type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }]],
]);

/** Summary of a pod's containers for a table. */
export interface PodSummary {
  readonly ready: number;
  readonly total: number;
  readonly reason: string;
  readonly restarts: number;
  /** When a container last restarted, in milliseconds since 1970; 0: unknown. */
  readonly restartedAt: number;
}

/** Sums up a pod. The reason is the most telling state of its containers, or else its phase. */
function summarizePod(pod: Pod): PodSummary {
  const { spec, status } = pod;
  const restartable = new Set(
    (spec.initContainers ?? []).filter((c) => c.restartPolicy === 'Always').map((c) => c.name),
  );
  const isGated = status.conditions?.some((c) => c.type === 'PodScheduled' && c.reason === 'SchedulingGated');
  let reason = isGated === true ? 'SchedulingGated' : status.reason || status.phase || '';
  let ready = 0;
  let restarts = 0;
  let restartableRestarts = 0;
  let restartedAt = 0;
  let restartableAt = 0;
  let isInitializing = false;
  const initStatuses = status.initContainerStatuses ?? [];
  for (const [i, container] of initStatuses.entries()) {
    restarts += container.restartCount;
    restartedAt = Math.max(restartedAt, endOf(container));
    const isRestartable = restartable.has(container.name);
    if (isRestartable) {
      restartableRestarts += container.restartCount;
      restartableAt = Math.max(restartableAt, endOf(container));
    }
    const { terminated, waiting } = container.state;
    if (terminated?.exitCode === 0) continue;
    if (isRestartable && container.started === true) {
      if (container.ready) ready++;
      continue;
    }
    isInitializing = true;
    if (terminated !== undefined) reason = `Init:${endReason(terminated)}`;
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') reason = `Init:${waiting.reason}`;
    else reason = `Init:${i}/${spec.initContainers?.length ?? 0}`;
    break;
  }
  if (!isInitializing) {
    restarts = restartableRestarts;
    restartedAt = restartableAt;
    let hasRunning = false;
    for (const container of (status.containerStatuses ?? []).toReversed()) {
      restarts += container.restartCount;
      restartedAt = Math.max(restartedAt, endOf(container));
      const { terminated, waiting, running } = container.state;
      if (waiting?.reason) reason = waiting.reason;
      else if (terminated !== undefined) reason = endReason(terminated);
      else if (container.ready && running !== undefined) {
        hasRunning = true;
        ready++;
      }
    }
    if (reason === 'Completed' && hasRunning) reason = hasReadyCondition(pod) ? 'Running' : 'NotReady';
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (status.reason === 'NodeLost') reason = 'Unknown';
    else if (!completions.has(status.phase ?? '')) reason = 'Terminating';
  }
  return { ready, total: (spec.containers?.length ?? 0) + restartable.size, reason, restarts, restartedAt };
}

/** When the previous run of the container ended, in milliseconds since 1970; 0 if there was none. */
function endOf({ lastState }: ContainerStatus): number {
  const at = lastState?.terminated?.finishedAt;
  return at ? Date.parse(at) : 0;
}

function endReason({ reason, signal, exitCode }: NonNullable<ContainerState['terminated']>): string {
  if (reason) return reason;
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode}`;
}

function hasReadyCondition({ status }: Pod): boolean {
  return status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;
}

function readinessGates({ spec, status }: Pod): string {
  const gates = spec.readinessGates ?? [];
  if (gates.length === 0) return none;
  const met = gates.filter(({ conditionType }) =>
    status.conditions?.some((c) => c.type === conditionType && c.status === 'True'),
  );
  return `${met.length}/${gates.length}`;
}

/** Says of a pod that has ended that it has. */
export function podRowConditions({ status }: Pod): readonly RowCondition[] | undefined {
  return completions.get(status.phase ?? '');
}

export const podColumns: readonly TableColumn<Pod>[] = [
  nameColumn,
  {
    name: 'Ready',
    type: 'string',
    description: 'Containers that are ready, of all.',
    cell: (pod) => {
      const { ready, total } = summarizePod(pod);
      return `${ready}/${total}`;
    },
  },
  {
    name: 'Status',
    type: 'string',
    description: 'The state of the containers, summed up.',
    cell: (pod) => summarizePod(pod).reason,
  },
  {
    name: 'Restarts',
    type: 'string',
    description: 'How often the containers were started again, and when for the last time.',
    cell: (pod) => {
      const { restarts, restartedAt } = summarizePod(pod);
      return restarts === 0 || restartedAt === 0 ? String(restarts) : new Since(restartedAt, `${restarts} (`, ' ago)');
    },
  },
  ageColumn,
  {
    name: 'IP',
    type: 'string',
    priority: 1,
    description: 'Address of the pod within the cluster.',
    cell: ({ status }) => status.podIPs?.[0]?.ip || status.podIP || none,
  },
  {
    name: 'Node',
    type: 'string',
    priority: 1,
    description: 'The node the pod was put on.',
    cell: ({ spec }) => spec.nodeName || none,
  },
  {
    name: 'Nominated Node',
    type: 'string',
    priority: 1,
    description: 'The node that makes room for the pod.',
    cell: ({ status }) => status.nominatedNodeName || none,
  },
  {
    name: 'Readiness Gates',
    type: 'string',
    priority: 1,
    description: 'Additional conditions of readiness that are met, of all.',
    cell: readinessGates,
  },
];
