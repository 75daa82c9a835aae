import type {
  PodFailurePolicy,
  PodFailurePolicyAction,
  PodFailurePolicyOnExitCodesRequirement,
} from '../../../objects/apis/batch/v1/job.types.js';
import type { ContainerStatus } from '../../../objects/apis/core/v1/container-status.types.js';
import type { JobPod } from './job-pod.js';

/** The policy's decision about the failure of a pod. */
export interface FailureVerdict {
  /** The action of the matching rule; undefined: no rule matches. */
  readonly action: PodFailurePolicyAction | undefined;
  /** Whether the failure counts towards the limits. */
  readonly counts: boolean;
  /** Which rule matches and why. */
  readonly message: string;
}

const noRule: FailureVerdict = { action: undefined, counts: true, message: '' };

/** The first rule that matches a failed pod decides. */
export function judgeFailure(policy: PodFailurePolicy | undefined, pod: JobPod): FailureVerdict {
  const podName = `${pod.metadata.namespace}/${pod.metadata.name}`;
  for (const [i, { action, onExitCodes, onPodConditions }] of (policy?.rules ?? []).entries()) {
    const verdict = (message: string): FailureVerdict => ({ action, counts: action !== 'Ignore', message });
    if (onExitCodes !== undefined) {
      const container = failedContainer(pod, onExitCodes);
      if (container === undefined) continue;
      const code = container.state?.terminated?.exitCode;
      return verdict(
        `Container ${container.name} for pod ${podName} failed with exit code ${code} matching ${action} rule at index ${i}`,
      );
    }
    for (const { type, status } of onPodConditions ?? []) {
      if (!pod.status.conditions?.some((condition) => condition.type === type && condition.status === status)) continue;
      return verdict(`Pod ${podName} has condition ${type} matching ${action} rule at index ${i}`);
    }
  }
  return noRule;
}

/** A container that ended with a code, other than 0, that the requirement names. */
function failedContainer(
  { status }: JobPod,
  { containerName, operator, values }: PodFailurePolicyOnExitCodesRequirement,
): ContainerStatus | undefined {
  const codes = new Set(values ?? []);
  return [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].find(({ name, state }) => {
    const code = state?.terminated?.exitCode ?? 0;
    if (code === 0 || (containerName !== undefined && containerName !== name)) return false;
    return codes.has(code) === (operator === 'In');
  });
}
