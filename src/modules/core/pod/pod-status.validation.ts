import {
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { isDns1123Label, isDns1123Subdomain, isQualifiedName } from '../../../base/machinery/names.js';
import type { ContainerStatus } from '../../../objects/apis/core/v1/container-status.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';

const statusPath = FieldPath.of('status');
const healths = ['Healthy', 'Unhealthy', 'Unknown'];
const largestUser = 4_294_967_295;
const largestGroup = 2_147_483_647;

/** Validates what a node agent reports about a pod, its containers, its devices and its claims. */
export function validateReportedStatus(pod: Pod, old: Pod): FieldError[] {
  const errors: FieldError[] = [];
  const { status } = pod;
  if (old.status.qosClass && status.qosClass !== old.status.qosClass) {
    errors.push(invalid(statusPath.child('qosClass'), status.qosClass ?? '', 'field is immutable'));
  }
  validateGeneration(status.observedGeneration, statusPath, errors);
  status.conditions?.forEach(({ type, observedGeneration }, i) => {
    const path = statusPath.child('conditions').index(i);
    // Clients know the field by this name.
    for (const message of isQualifiedName(type)) errors.push(invalid(path.child('Type'), type, message));
    validateGeneration(observedGeneration, path, errors);
  });
  for (const field of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const) {
    status[field]?.forEach((container, i) => {
      const path = statusPath.child(field).index(i);
      validateDevices(container, path, field !== 'ephemeralContainerStatuses', errors);
      validateUser(container, path, errors);
    });
  }
  validateClaims(pod, errors);
  validateExtendedClaim(pod, errors);
  return errors;
}

function validateGeneration(value: unknown, path: FieldPath, errors: FieldError[]): void {
  const generation = Number(value ?? 0);
  if (generation < 0) {
    errors.push(invalid(path.child('observedGeneration'), generation, 'must be a non-negative integer'));
  }
}

function validateDevices(
  { allocatedResourcesStatus = [] }: ContainerStatus,
  path: FieldPath,
  mayHave: boolean,
  errors: FieldError[],
): void {
  const listPath = path.child('allocatedResourcesStatus');
  if (!mayHave) {
    if (allocatedResourcesStatus.length > 0) {
      errors.push(forbidden(listPath, 'must not be specified in container status'));
    }
    return;
  }
  allocatedResourcesStatus.forEach(({ resources = [] }, i) => {
    resources.forEach(({ health = '', message }, k) => {
      const at = listPath.index(i).child('resources').index(k);
      if (!healths.includes(health)) errors.push(notSupported(at.child('health'), health, healths));
      if (message === '') errors.push(required(at.child('message'), 'must be non-empty if specified'));
    });
  });
}

function validateUser({ user }: ContainerStatus, path: FieldPath, errors: FieldError[]): void {
  const linux = user?.linux;
  if (linux === undefined) return;
  const at = path.child('user').child('linux');
  const check = (value: unknown, most: number, place: FieldPath) => {
    const id = Number(value);
    if (id < 0 || id > most) errors.push(invalid(place, id, `must be between 0 and ${most}, inclusive`));
  };
  check(linux.uid, largestUser, at.child('uid'));
  check(linux.gid, largestGroup, at.child('gid'));
  linux.supplementalGroups?.forEach((group, i) => {
    check(group, largestGroup, at.child('supplementalGroups').index(i));
  });
}

function validateClaims({ spec, status }: Pod, errors: FieldError[]): void {
  const known = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  status.resourceClaimStatuses?.forEach(({ name, resourceClaimName }, i) => {
    const path = statusPath.child('resourceClaimStatuses').index(i);
    if (!known.has(name)) {
      errors.push(invalid(path.child('name'), name, 'must match the name of an entry in `spec.resourceClaims`'));
    }
    if (resourceClaimName === undefined) return;
    for (const message of isDns1123Subdomain(resourceClaimName)) {
      errors.push(invalid(path.child('resourceClaimName'), resourceClaimName, message));
    }
  });
}

function validateExtendedClaim({ spec, status }: Pod, errors: FieldError[]): void {
  const claim = status.extendedResourceClaimStatus;
  if (claim === undefined) return;
  const path = statusPath.child('extendedResourceClaimStatus');
  const { resourceClaimName, requestMappings } = claim;
  if (!resourceClaimName) errors.push(required(path.child('resourceClaimName')));
  else {
    for (const message of isDns1123Subdomain(resourceClaimName)) {
      errors.push(invalid(path.child('resourceClaimName'), resourceClaimName, message));
    }
  }
  if ((requestMappings ?? []).length === 0) {
    errors.push(required(path.child('requestMappings'), 'at least one request mapping is required'));
  }
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].map(({ name }) => name);
  requestMappings?.forEach(({ containerName, requestName }, i) => {
    if (!containers.includes(containerName)) {
      const detail = 'must match the name of an entry in spec.initContainers.name or spec.containers.name';
      errors.push(invalid(path.child('requestMappings').index(i).child('containerName'), containerName, detail));
    }
    // Clients know the field by this path.
    for (const message of isDns1123Label(requestName)) {
      errors.push(invalid(path.child('requestName'), requestName, message));
    }
  });
}
