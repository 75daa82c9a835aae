import type { FieldDescriptions } from '../../../base/machinery/schema/index.js';

const rollout = 'How pods get replaced when the template changes.';

/** Descriptions of the groups `apps`, `batch`, `coordination` and `node`. */
export const workloadDescriptions: FieldDescriptions = {
  'apps.DaemonSetStatus': { '': 'How many nodes have their pod.' },
  'apps.DaemonSetUpdateStrategy': {
    '': rollout,
    type: 'RollingUpdate (default), or OnDelete: only pods that somebody deletes.',
    rollingUpdate: 'Pace of RollingUpdate.',
  },
  'apps.DeploymentStrategy': { '': rollout },
  'apps.ReplicaSetSpec': { '': 'How many pods there should be, and what they look like.' },
  'apps.ReplicaSetStatus': { '': 'How many pods there are.' },
  'apps.RollingUpdateDaemonSet': { '': 'Pace of the replacement.' },
  'apps.RollingUpdateDeployment': { '': 'Pace of the replacement.' },
  'apps.RollingUpdateStatefulSetStrategy': {
    '': 'Pace of the replacement.',
    partition: 'Pods with a lower number stay as they are; 0 if not given.',
  },
  'apps.StatefulSetOrdinals': { '': 'How pods are numbered.', start: 'Number of the first pod; 0 if not given.' },
  'apps.StatefulSetPersistentVolumeClaimRetentionPolicy': {
    '': 'What becomes of claims that were made for pods.',
    whenDeleted: 'When the set is deleted: Retain (default) or Delete.',
    whenScaled: 'When the pod is not wanted any more: Retain (default) or Delete.',
  },
  'apps.StatefulSetStatus': { '': 'How many pods there are, and of which revision.' },
  'apps.StatefulSetUpdateStrategy': {
    '': rollout,
    type: 'RollingUpdate (default), or OnDelete: only pods that somebody deletes.',
    rollingUpdate: 'Pace of RollingUpdate.',
  },
  'batch.CronJobStatus': { '': 'What runs and when it last ran.' },
  'batch.JobSchedulingConfiguration': {
    '': 'How the pods of a job are scheduled as a group.',
    schedulingPolicy: 'One by one, or all or none.',
    schedulingConstraints: 'Where the pods may run.',
    disruptionMode: 'How the pods give way.',
    resourceClaims: 'Claims that all pods share.',
  },
  'batch.JobStatus': {
    '': 'How far the job has come.',
    completedIndexes: 'Indexes that are done, such as 1,3-5.',
    failedIndexes: 'Indexes that failed for good, such as 1,3-5.',
    uncountedTerminatedPods: 'Ended pods that the counters do not include yet.',
  },
  'batch.JobTemplateSpec': { metadata: 'Labels and annotations of the jobs.', spec: 'What the jobs do.' },
  'batch.PodFailurePolicy': {
    '': 'What failures of pods mean.',
    rules: 'Tried in order: the first that fits decides.',
  },
  'batch.PodFailurePolicyOnExitCodesRequirement': {
    '': 'Fits failures by exit code.',
    containerName: 'Container to look at; any if not given.',
    operator: 'In or NotIn.',
    values: 'Exit codes.',
  },
  'batch.PodFailurePolicyOnPodConditionsPattern': {
    '': 'Fits failures by a condition of the pod.',
    type: 'Name of the condition.',
    status: 'Its status; True if not given.',
  },
  'batch.PodFailurePolicyRule': {
    '': 'What some failures mean.',
    action: 'FailJob, FailIndex, Ignore (not counted) or Count.',
    onExitCodes: 'Fits by exit code; not together with onPodConditions.',
    onPodConditions: 'Fits by conditions, one of which must hold.',
  },
  'batch.SuccessPolicy': {
    '': 'When a job counts as done before all indexes are.',
    rules: 'Tried in order: one that holds is enough.',
  },
  'batch.SuccessPolicyRule': {
    '': 'Which indexes are enough; both fields given must hold.',
    succeededIndexes: 'Indexes that must be done, such as 1,3-5.',
    succeededCount: 'How many must be done, of those indexes or of all.',
  },
  'batch.UncountedTerminatedPods': {
    '': 'Ended pods that still have to be counted.',
    succeeded: 'Uids of pods that succeeded.',
    failed: 'Uids of pods that failed.',
  },
  'coordination.LeaseSpec': { '': 'Who holds the lease, and since when.' },
  'node.Overhead': { '': 'What a pod costs beyond its containers.', podFixed: 'Amounts for each pod, by resource.' },
  'node.Scheduling': {
    '': 'Where pods of the class can run.',
    tolerations: 'Added to those of each pod of the class.',
  },
};
