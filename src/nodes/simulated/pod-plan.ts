import type { Pod, PodCondition } from '../../objects/apis/core/v1/pod.types.js';
import { behaviourOf, type ReadContainer, resizeMsOf, type SimulatedRole } from './behaviour.js';
import type { ContainerPlan } from './container-run.js';
import { type PodSizes, sizesOf } from './pod-sizes.js';

/** Everything about a pod that the simulation needs. */
export interface PodPlan {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number | undefined;
  readonly hostNetwork: boolean;
  readonly restartPolicy: ContainerPlan['restarts'];
  /** Init containers and sidecars in the order of their start. */
  readonly inits: readonly ContainerPlan[];
  readonly apps: readonly ContainerPlan[];
  readonly ephemerals: readonly ContainerPlan[];
  /** Conditions that have to be true for the pod to be ready, and whether they are. */
  readonly gates: readonly { readonly type: string; readonly status: string | undefined }[];
  readonly deadlineMs: number | undefined;
  /**
   * When the pod was scheduled according to its conditions, in milliseconds since 1970; undefined if they do not record
   * it.
   */
  readonly scheduledAt: number | undefined;
  /** The resources in the spec of the pod. */
  readonly sizes: PodSizes;
  /** How long the pod waits until it gets its allocated resources. */
  readonly resizeMs: number;
  /** How long the pod has to end, once its deletion began. */
  readonly deletionGraceMs: number | undefined;
}

/** Reads a pod as the API sends it: fields without a value may be missing. */
export function planOf(pod: Pod): PodPlan {
  const { metadata, spec, status } = pod;
  const annotations = metadata.annotations ?? {};
  const restartPolicy = readPolicy(spec.restartPolicy, 'Always');
  const conditions = status?.conditions ?? [];
  const plan = (container: ReadContainer, role: SimulatedRole): ContainerPlan => ({
    name: container.name,
    image: container.image ?? '',
    role,
    restarts: restartsOf(container, role, restartPolicy),
    behaviour: behaviourOf(annotations, container, role, restartPolicy !== 'Always'),
  });
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata;
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    generation: metadata.generation,
    hostNetwork: spec.hostNetwork === true,
    restartPolicy,
    inits: (spec.initContainers ?? []).map((each) => {
      const container = each as ReadContainer;
      return plan(container, container.restartPolicy === 'Always' ? 'sidecar' : 'init');
    }),
    apps: (spec.containers ?? []).map((container) => plan(container as ReadContainer, 'app')),
    ephemerals: (spec.ephemeralContainers ?? []).map((container) => plan(container as ReadContainer, 'ephemeral')),
    gates: (spec.readinessGates ?? []).map(({ conditionType }) => ({
      type: conditionType,
      status: conditions.find(({ type }) => type === conditionType)?.status,
    })),
    deadlineMs: spec.activeDeadlineSeconds == null ? undefined : 1000 * spec.activeDeadlineSeconds,
    scheduledAt: scheduledAt(conditions),
    sizes: sizesOf(spec),
    resizeMs: resizeMsOf(annotations),
    deletionGraceMs: deletionTimestamp === undefined ? undefined : 1000 * deletionGracePeriodSeconds,
  };
}

function scheduledAt(conditions: readonly PodCondition[]): number | undefined {
  const condition = conditions.find(({ type, status }) => type === 'PodScheduled' && status === 'True');
  const time = Date.parse(condition?.lastTransitionTime ?? '');
  return Number.isNaN(time) ? undefined : time;
}

type Policy = ContainerPlan['restarts'];

function restartsOf({ restartPolicy }: ReadContainer, role: SimulatedRole, ofPod: Policy): Policy {
  if (role === 'sidecar') return 'Always';
  if (role === 'ephemeral') return 'Never';
  // An init container that failed is run again unless the pod forbids it; one that succeeded never is.
  if (role === 'init') return ofPod === 'Never' ? 'Never' : 'OnFailure';
  return readPolicy(restartPolicy, ofPod);
}

function readPolicy(text: string | undefined, otherwise: Policy): Policy {
  return text === 'Always' || text === 'OnFailure' || text === 'Never' ? text : otherwise;
}
