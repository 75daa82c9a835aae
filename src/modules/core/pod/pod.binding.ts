import type { ApiObject } from '../../../base/machinery/api-object.js';
import { type Clock, formatTime } from '../../../base/machinery/clock.js';
import { conflictError, unreasonedError } from '../../../base/machinery/status-error.js';
import { type Binding, binding, type Pod, type PodCondition } from '../../../objects/apis/core/v1/pod.types.js';
import type { PodValidationOptions } from '../../../objects/apis/core/v1/validation/common.validation.js';
import type { CreatedSubresource } from '../../../objects/registry/subresource-definition.js';
import { validateAnnotationUpdate } from './pod.validation.js';

/** The path through which a scheduler assigns a pod to a node. */
export function bindingPath(clock: Clock, options: PodValidationOptions): CreatedSubresource {
  return {
    type: 'created',
    name: 'binding',
    body: { kind: { group: '', version: 'v1', kind: 'Binding' }, type: binding },
    otherName: 'name in URL does not match name in Binding object',
    write: (_context, parent, body) => bind(parent as unknown as Pod, body as unknown as Binding, clock),
    // The rule that a pod's spec can't change applies only to the pod's own path.
    validateUpdate: (_context, pod, old) =>
      validateAnnotationUpdate(pod as unknown as Pod, old as unknown as Pod, options),
    createAnswer: () => ({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }),
  };
}

/** Sets the node and the metadata that the binding contains; changes `pod`. */
export function bind(pod: Pod, request: Binding, clock: Clock): ApiObject {
  const name = pod.metadata.name ?? '';
  checkTarget(request);
  const subject = { group: '', resource: 'pods/binding' };
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw conflictError(subject, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  if (pod.spec.nodeName) {
    const detail = `pod ${name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`;
    throw conflictError(subject, name, detail);
  }
  if ((pod.spec.schedulingGates ?? []).length > 0) {
    throw conflictError(subject, name, `pod ${name} has non-empty .spec.schedulingGates`);
  }
  pod.spec.nodeName = request.target.name ?? '';
  const { annotations, labels } = request.metadata;
  if (annotations !== undefined) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations };
  if (labels !== undefined) pod.metadata.labels = { ...pod.metadata.labels, ...labels };
  setScheduled(pod, formatTime(clock.now()));
  return pod;
}

function checkTarget({ target }: Binding): void {
  const errors: string[] = [];
  if (target.kind && target.kind !== 'Node') {
    errors.push(`target.kind: Unsupported value: ${JSON.stringify(target.kind)}: supported values: "Node", "<empty>"`);
  }
  if (!target.name) errors.push('target.name: Required value');
  if (errors.length === 0) return;
  throw unreasonedError(errors.length === 1 ? (errors[0] as string) : `[${errors.join(', ')}]`);
}

function setScheduled(pod: Pod, now: string): void {
  const conditions = pod.status.conditions ?? [];
  const scheduled: PodCondition = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: now,
  };
  const i = conditions.findIndex((c) => c.type === 'PodScheduled');
  if (i < 0) conditions.push(scheduled);
  else {
    const before = conditions[i] as PodCondition;
    if (before.status === 'True') scheduled.lastTransitionTime = before.lastTransitionTime;
    conditions[i] = scheduled;
  }
  pod.status.conditions = conditions;
}
