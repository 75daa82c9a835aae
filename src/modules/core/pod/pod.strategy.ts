import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import { addWarning } from '../../../base/machinery/request-context.js';
import {
  applyPodOnlyDefaults,
  applyPodSpecDefaults,
  syncServiceAccount,
} from '../../../objects/apis/core/v1/defaults/pod-spec.defaults.js';
import type { Pod, PodCondition } from '../../../objects/apis/core/v1/pod.types.js';
import { applyPodLevelDefaults } from '../../../objects/apis/core/v1/pod-level-resources.js';
import { podQosClass } from '../../../objects/apis/core/v1/pod-qos.js';
import { podWarnings } from '../../../objects/apis/core/v1/pod-warnings.js';
import type { PodValidationOptions } from '../../../objects/apis/core/v1/validation/common.validation.js';
import type { Strategy } from '../../../objects/registry/strategy.js';
import { applyAppArmorAnnotations } from './app-armor.js';
import { applyLabelKeys } from './label-keys.js';
import { validatePod, validatePodUpdate } from './pod.validation.js';

/**
 * The longest grace period in seconds: some thousands of years, so that it ends before the year 9999, the latest
 * possible time.
 */
const longestGraceSeconds = 200_000_000_000;

/** Rules of pods. */
export function podStrategy(options: PodValidationOptions): Strategy<Pod> {
  return {
    applyDefaults(object) {
      applyPodSpecDefaults(object.spec);
      applyPodOnlyDefaults(object.spec);
      syncPodIps(object);
    },

    prepareForCreate(context, object) {
      dropInitAnnotations(object);
      // Admission may have set the service account.
      syncServiceAccount(object.spec);
      liftNegativeGrace(object.spec);
      applyLabelKeys(object);
      for (const text of applyAppArmorAnnotations(object, options.names)) addWarning(context, text);
      applyPodLevelDefaults(object.spec);
      object.status = { phase: 'Pending', qosClass: podQosClass(object.spec) };
      if ((object.spec.schedulingGates ?? []).length > 0) {
        object.status.conditions = [gatedCondition(object.metadata.creationTimestamp ?? null)];
      }
    },

    validate: (_context, object) => validatePod(object, options),

    prepareForUpdate(_context, object, old) {
      syncServiceAccount(object.spec);
      liftNegativeGrace(object.spec);
      // A client that does not know the resources of pods leaves them out.
      if (object.spec.resources === undefined && old.spec.resources !== undefined) {
        object.spec.resources = cloneJson(old.spec.resources);
      }
    },

    validateUpdate: (_context, object, old) => validatePodUpdate(object, old, options),

    // Only new pods cause warnings: programs update pods all the time, and nobody reads those warnings.
    warnings: (_context, object, old) => (old === undefined ? podWarnings(object, '', options.names) : []),

    gracePeriodSeconds(object, { gracePeriodSeconds }) {
      const { nodeName, terminationGracePeriodSeconds } = object.spec;
      const { phase } = object.status;
      // A pod that never started or has finished needs no agent to stop it.
      if (!nodeName || phase === 'Failed' || phase === 'Succeeded') return 0;
      const asked = gracePeriodSeconds ?? terminationGracePeriodSeconds ?? 0;
      const period = Math.min(Number(asked), longestGraceSeconds);
      return period < 0 ? 1 : period;
    },
  };
}

/** Reports that the pod is not scheduled before its gates are removed. */
function gatedCondition(since: string | null): PodCondition {
  return {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: since,
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
  };
}

/** Containers and their states that older releases kept in annotations. */
const initAnnotations = [
  'pod.alpha.kubernetes.io/init-containers',
  'pod.alpha.kubernetes.io/init-container-statuses',
  'pod.beta.kubernetes.io/init-containers',
  'pod.beta.kubernetes.io/init-container-statuses',
];

/** Old annotations about init containers are not kept: they would contradict the fields. */
function dropInitAnnotations({ metadata }: Pod): void {
  const { annotations } = metadata;
  if (annotations === undefined || !initAnnotations.some((name) => Object.hasOwn(annotations, name))) return;
  const kept = Object.entries(annotations).filter(([name]) => !initAnnotations.includes(name));
  if (kept.length > 0) metadata.annotations = Object.fromEntries(kept);
  else delete metadata.annotations;
}

/** A negative grace period means one second. */
function liftNegativeGrace(spec: Pod['spec']): void {
  if (Number(spec.terminationGracePeriodSeconds) < 0) spec.terminationGracePeriodSeconds = 1;
}

/** `podIP` is the first of `podIPs`; if they differ, `podIP` takes precedence. */
function syncPodIps({ status: podStatus }: Pod): void {
  const { podIP, podIPs } = podStatus;
  const first = podIPs?.[0]?.ip;
  if (podIP) {
    if (first !== podIP) podStatus.podIPs = [{ ip: podIP }];
  } else if (first) podStatus.podIP = first;
}
