import {
  always,
  bool,
  enumOf,
  type Infer,
  int32,
  int64,
  kind,
  list,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { conditionStatus, podConditionType } from '../../core/v1/condition-status.types.js';
import { podTemplateSpec } from '../../core/v1/pod-spec.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';
import {
  workloadPodGroupDisruptionMode,
  workloadPodGroupResourceClaim,
  workloadPodGroupSchedulingConstraints,
  workloadPodGroupSchedulingPolicy,
} from '../../scheduling/v1alpha3/workload-pod-group.types.js';

export const podFailurePolicyAction = enumOf('Count', 'FailIndex', 'FailJob', 'Ignore');
export type PodFailurePolicyAction = Infer<typeof podFailurePolicyAction>;

export const podFailurePolicyOnExitCodesOperator = enumOf('In', 'NotIn');
export type PodFailurePolicyOnExitCodesOperator = Infer<typeof podFailurePolicyOnExitCodesOperator>;

export const podFailurePolicyOnExitCodesRequirement = struct('batch.v1.PodFailurePolicyOnExitCodesRequirement', {
  containerName: pointer(1, string),
  operator: required(2, podFailurePolicyOnExitCodesOperator),
  values: required(3, list(int32), { listType: 'set' }),
});
export type PodFailurePolicyOnExitCodesRequirement = Infer<typeof podFailurePolicyOnExitCodesRequirement>;

export const podFailurePolicyOnPodConditionsPattern = struct('batch.v1.PodFailurePolicyOnPodConditionsPattern', {
  type: required(1, podConditionType),
  status: always(2, conditionStatus),
});
export type PodFailurePolicyOnPodConditionsPattern = Infer<typeof podFailurePolicyOnPodConditionsPattern>;

export const podFailurePolicyRule = struct('batch.v1.PodFailurePolicyRule', {
  action: required(1, podFailurePolicyAction),
  onExitCodes: pointer(2, podFailurePolicyOnExitCodesRequirement),
  onPodConditions: optional(3, list(podFailurePolicyOnPodConditionsPattern)),
});
export type PodFailurePolicyRule = Infer<typeof podFailurePolicyRule>;

export const podFailurePolicy = struct('batch.v1.PodFailurePolicy', {
  rules: required(1, list(podFailurePolicyRule)),
});
export type PodFailurePolicy = Infer<typeof podFailurePolicy>;

export const successPolicyRule = struct('batch.v1.SuccessPolicyRule', {
  succeededIndexes: pointer(1, string),
  succeededCount: pointer(2, int32),
});
export type SuccessPolicyRule = Infer<typeof successPolicyRule>;

export const successPolicy = struct('batch.v1.SuccessPolicy', {
  rules: required(1, list(successPolicyRule)),
});
export type SuccessPolicy = Infer<typeof successPolicy>;

export const completionMode = enumOf('Indexed', 'NonIndexed');
export type CompletionMode = Infer<typeof completionMode>;

export const podReplacementPolicy = enumOf('Failed', 'TerminatingOrFailed');
export type PodReplacementPolicy = Infer<typeof podReplacementPolicy>;

export const jobSchedulingConfiguration = struct('batch.v1.JobSchedulingConfiguration', {
  schedulingPolicy: pointer(1, workloadPodGroupSchedulingPolicy),
  schedulingConstraints: pointer(2, workloadPodGroupSchedulingConstraints),
  disruptionMode: pointer(3, workloadPodGroupDisruptionMode),
  resourceClaims: optional(4, list(workloadPodGroupResourceClaim), mergedBy('name')),
});
export type JobSchedulingConfiguration = Infer<typeof jobSchedulingConfiguration>;

export const jobSpec = struct(
  'batch.v1.JobSpec',
  {
    parallelism: pointer(1, int32, { doc: 'Pods that may run at the same time.' }),
    completions: pointer(2, int32, { doc: 'Successes that are needed.' }),
    activeDeadlineSeconds: pointer(3, int64, { doc: 'How long the job may take, in seconds.' }),
    podFailurePolicy: pointer(11, podFailurePolicy, { doc: "Which failures end the job and which don't count." }),
    successPolicy: pointer(16, successPolicy, { doc: 'When the job counts as done early.' }),
    backoffLimit: pointer(7, int32, { doc: 'Failures before the job gives up.' }),
    backoffLimitPerIndex: pointer(12, int32, { doc: 'Failures before an index gives up.' }),
    maxFailedIndexes: pointer(13, int32, { doc: 'Failed indexes before the job gives up.' }),
    selector: pointer(4, labelSelector, { doc: 'Labels of the pods that belong here. Set by the server, as a rule.' }),
    manualSelector: pointer(5, bool, { doc: 'Take the selector as it is given.' }),
    template: required(6, podTemplateSpec, { doc: 'Description of the pods.' }),
    ttlSecondsAfterFinished: pointer(8, int32, { doc: 'When a finished job is removed, in seconds.' }),
    completionMode: pointer(9, completionMode, { doc: 'NonIndexed or Indexed.' }),
    suspend: pointer(10, bool, { doc: 'Whether no pods are to run.' }),
    podReplacementPolicy: pointer(14, podReplacementPolicy, { doc: 'When a pod that goes away is replaced.' }),
    managedBy: pointer(15, string, { doc: 'Who runs the job instead of the usual controller.' }),
    scheduling: pointer(17, jobSchedulingConfiguration, {
      dropped: true,
      doc: 'How the pods are scheduled as a group.',
    }),
  },
  { doc: 'What a job runs and when it is done.' },
);
export type JobSpec = Infer<typeof jobSpec>;

export const jobTemplateSpec = struct(
  'batch.v1.JobTemplateSpec',
  {
    metadata: always(1, objectMeta),
    spec: always(2, jobSpec),
  },
  { doc: 'Description of jobs to be made.' },
);
export type JobTemplateSpec = Infer<typeof jobTemplateSpec>;

export const jobConditionType = enumOf('Complete', 'Failed', 'FailureTarget', 'SuccessCriteriaMet', 'Suspended');
export type JobConditionType = Infer<typeof jobConditionType>;

export const jobCondition = struct(
  'batch.v1.JobCondition',
  {
    type: required(1, jobConditionType, { doc: 'Name of the aspect.' }),
    status: required(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    lastProbeTime: always(3, time, { doc: 'When the condition was last checked.' }),
    lastTransitionTime: always(4, time, { doc: 'When the status last changed.' }),
    reason: optional(5, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(6, string, { doc: 'Text for people: why the status is so.' }),
  },
  { doc: "One aspect of an object's state." },
);
export type JobCondition = Infer<typeof jobCondition>;

export const uncountedTerminatedPods = struct('batch.v1.UncountedTerminatedPods', {
  succeeded: optional(1, list(string), { listType: 'set' }),
  failed: optional(2, list(string), { listType: 'set' }),
});
export type UncountedTerminatedPods = Infer<typeof uncountedTerminatedPods>;

export const jobStatus = struct('batch.v1.JobStatus', {
  conditions: optional(1, list(jobCondition), {
    listType: 'atomic',
    patch: { strategy: 'merge', key: 'type' },
    doc: 'Aspects of the state, each with its reason.',
  }),
  startTime: pointer(2, time, { doc: 'When the job was started.' }),
  completionTime: pointer(3, time, { doc: 'When the job was done.' }),
  active: optional(4, int32, { doc: 'Pods that run.' }),
  succeeded: optional(5, int32, { doc: 'Pods that succeeded.' }),
  failed: optional(6, int32, { doc: 'Pods that failed.' }),
  terminating: pointer(11, int32, { doc: 'Pods that are ending.' }),
  completedIndexes: optional(7, string),
  failedIndexes: pointer(10, string),
  uncountedTerminatedPods: pointer(8, uncountedTerminatedPods),
  ready: pointer(9, int32, { doc: 'Pods that are ready.' }),
});
export type JobStatus = Infer<typeof jobStatus>;

export const job = kind(
  { group: 'batch', version: 'v1', kind: 'Job', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, jobSpec),
    status: always(3, jobStatus),
  },
  { doc: 'Runs pods until enough of them have succeeded.' },
);
export type Job = Infer<typeof job>;

export const jobList = listKind(job);
export type JobList = Infer<typeof jobList>;
