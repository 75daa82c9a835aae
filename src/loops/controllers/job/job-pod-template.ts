import type { DeepPartial } from '../frame/loop-client.js';
import { podFromTemplate } from '../frame/pod-from-template.js';
import type { JobNames } from './job-names.js';
import type { JobPod, StoredJob } from './job-pod.js';
import { failureAnnotations, limitsEachIndex } from './per-index.js';
import type { NewJobPod } from './wanted-pods.js';

/** The longest prefix of a generated name: the server adds five characters. */
const maxPrefix = 58;
const indexVariable = 'JOB_COMPLETION_INDEX';

/** A new pod of a job: it keeps the tracking finalizer until it is counted, and has its index. */
export function newJobPod(job: StoredJob, { index, after }: NewJobPod, names: JobNames): DeepPartial<JobPod> {
  const pod = podFromTemplate(job, job.spec.template);
  const { metadata, spec } = pod;
  const { name = '', uid = '' } = job.metadata;
  metadata.finalizers = [...new Set([...(metadata.finalizers ?? []), names.trackingFinalizer])];
  const labels: Record<string, string> = { ...metadata.labels };
  if (job.spec.manualSelector !== true) {
    labels[names.jobNameLabel] = name;
    labels[names.controllerUidLabel] = uid;
  }
  metadata.labels = labels;
  if (index === undefined) return pod;
  labels[names.completionIndex] = String(index);
  metadata.annotations = {
    ...metadata.annotations,
    [names.completionIndex]: String(index),
    ...(limitsEachIndex(job) ? failureAnnotations(job, after, names) : {}),
  };
  const ending = `-${index}-`;
  metadata.generateName = `${name.slice(0, maxPrefix - ending.length)}${ending}`;
  spec.hostname = `${name}-${index}`;
  const valueFrom = { fieldRef: { fieldPath: `metadata.labels['${names.completionIndex}']` } };
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    if (container.env?.some((variable) => variable.name === indexVariable)) continue;
    container.env = [...(container.env ?? []), { name: indexVariable, valueFrom }];
  }
  return pod;
}
