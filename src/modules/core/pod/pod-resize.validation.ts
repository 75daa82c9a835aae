import { type FieldError, FieldPath, forbidden, invalid, rootPath } from '../../../base/machinery/field-error.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { compareQuantities } from '../../../base/machinery/values/quantity.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { podQosClass } from '../../../objects/apis/core/v1/pod-qos.js';
import type { PodSpec } from '../../../objects/apis/core/v1/pod-spec.types.js';
import type { ResourceList, ResourceRequirements } from '../../../objects/apis/core/v1/resources.types.js';
import type { PodValidationOptions } from '../../../objects/apis/core/v1/validation/common.validation.js';
import { validatePodSpec } from '../../../objects/apis/core/v1/validation/pod-spec.validation.js';
import { isMirrorPod } from './pod.validation.js';

const specPath = FieldPath.of('spec');
const mutable: ReadonlySet<string> = new Set(['cpu', 'memory']);
const onlyMutable = 'only cpu and memory resources are mutable';
const lists = ['requests', 'limits'] as const;
type Amounts = Pick<ResourceRequirements, 'requests' | 'limits' | 'claims'>;

/**
 * Validates a pod whose resources change while it runs: only CPU and memory may change, and its QoS class must stay.
 */
export function validatePodResize(pod: Pod, old: Pod, options: PodValidationOptions): FieldError[] {
  if (isMirrorPod(old, options)) return [forbidden(rootPath, 'static pods cannot be resized')];
  if (old.spec.os?.name === 'windows') return [forbidden(rootPath, 'windows pods cannot be resized')];
  const errors = validatePodSpec(pod.spec, specPath, options);
  if ((old.status.qosClass || podQosClass(old.spec)) !== podQosClass(pod.spec)) {
    const detail = 'Pod QOS Class may not change as a result of resizing';
    errors.push(invalid(specPath, pod.status.qosClass ?? '', detail));
  }
  if (!isResizedByNode(old)) errors.push(forbidden(specPath, 'Pod running on node without support for resize'));
  errors.push(...checkPodResources(pod.spec, old.spec));
  const moved = checkOrder(pod.spec, old.spec);
  if (moved.length > 0) return [...errors, ...moved];
  for (const field of ['initContainers', 'containers'] as const) {
    pod.spec[field]?.forEach(({ resources }, i) => {
      const before = old.spec[field]?.[i]?.resources ?? {};
      errors.push(...checkRemoved(resources, before, specPath.child(field).index(i).child('resources'), 'resource'));
    });
  }
  for (const [i, container] of (pod.spec.containers ?? []).entries()) {
    if (!isSameButMutable(container, old.spec.containers?.[i])) errors.push(forbidden(specPath, onlyMutable));
  }
  pod.spec.initContainers?.forEach((container, i) => {
    errors.push(
      ...checkInitContainer(container, old.spec.initContainers?.[i], specPath.child('initContainers').index(i)),
    );
  });
  return errors;
}

/**
 * Whether the node of the pod can resize it: such a node reports the resources of running containers. True while no
 * container runs.
 */
function isResizedByNode({ status }: Pod): boolean {
  const running = status.containerStatuses?.find(({ state }) => state.running !== undefined);
  return running === undefined || running.resources !== undefined;
}

function checkPodResources({ resources }: PodSpec, { resources: before }: PodSpec): FieldError[] {
  const isSet = (of: Amounts | undefined) => Object.keys({ ...of?.requests, ...of?.limits }).length > 0;
  if (!isSet(resources) && !isSet(before)) return [];
  const errors = checkRemoved(resources ?? {}, before ?? {}, specPath.child('resources'), 'pod-level resource');
  if (!areSameButMutable(resources ?? {}, before ?? {})) {
    errors.push(forbidden(specPath, `${onlyMutable} at pod-level`));
  }
  return errors;
}

function checkOrder(spec: PodSpec, old: PodSpec): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['containers', 'initContainers'] as const) {
    const [now, before] = [spec[field] ?? [], old[field] ?? []];
    const path = specPath.child(field);
    if (now.length !== before.length) {
      errors.push(forbidden(path, `${field} may not be added or removed on resize`));
      continue;
    }
    now.forEach(({ name }, i) => {
      if (name === before[i]?.name) return;
      errors.push(forbidden(path.index(i).child('name'), `${field} may not be renamed or reordered on resize`));
    });
  }
  return errors;
}

function checkRemoved(resources: Amounts, old: Amounts, path: FieldPath, noun: string): FieldError[] {
  return lists
    .filter((list) => Object.keys(old[list] ?? {}).some((name) => resources[list]?.[name] === undefined))
    .map((list) => forbidden(path.child(list), `${noun} ${list} cannot be removed`));
}

function checkInitContainer(container: Container, old: Container | undefined, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (!isSameButMutable(container, old)) {
    errors.push(forbidden(path, 'only cpu and memory resources for init or sidecar containers are mutable'));
  }
  if (container.restartPolicy === 'Always' || deepEqual(container, old)) return errors;
  for (const { restartPolicy } of container.resizePolicy ?? []) {
    if (restartPolicy !== 'RestartContainer') continue;
    const detail = 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized';
    errors.push(forbidden(path, detail));
  }
  return errors;
}

/** Whether containers differ at most in their amounts of CPU and memory. */
function isSameButMutable(container: Container, old: Container | undefined): boolean {
  if (old === undefined) return false;
  const { resources, ...rest } = container;
  const { resources: before, ...others } = old;
  return areSameButMutable(resources, before) && deepEqual(rest, others);
}

function areSameButMutable(resources: Amounts, old: Amounts): boolean {
  return (
    lists.every((list) => areSameAmounts(resources[list] ?? {}, old[list] ?? {})) &&
    deepEqual(resources.claims ?? [], old.claims ?? [])
  );
}

function areSameAmounts(amounts: ResourceList, old: ResourceList): boolean {
  const names = new Set([...Object.keys(amounts), ...Object.keys(old)].filter((name) => !mutable.has(name)));
  return [...names].every((name) => {
    const [now, before] = [amounts[name], old[name]];
    return now !== undefined && before !== undefined && compareQuantities(now, before) === 0;
  });
}
