import {
  duplicate,
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../../base/machinery/field-error.js';
import { isDns1123Label, isDns1123Subdomain, isQualifiedName } from '../../../base/machinery/names.js';
import { ownValue } from '../../../base/machinery/own-value.js';
import { quantityOf, quantitySign } from '../../../base/machinery/values/quantity.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { ContainerStatus } from '../../../objects/apis/core/v1/container-status.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { validateAddresses } from './pod-addresses.validation.js';
import { transitionErrors } from './pod-transitions.js';

const statusPath = FieldPath.of('status');
const healths = ['Healthy', 'Unhealthy', 'Unknown'];
const statusFields = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;
const claimPrefix = 'claim:';
const longestMessage = 1024;
const largestUser = 4_294_967_295;
const largestGroup = 2_147_483_647;

/**
 * Validates what a node agent reports about a pod, its addresses, its containers, its devices and its claims, and what
 * schedulers note. Errors are in the order that clients know.
 */
export function validateReportedStatus(pod: Pod, old: Pod): FieldError[] {
  const errors: FieldError[] = [];
  const { spec, status } = pod;
  status.conditions?.forEach(({ type, observedGeneration }, i) => {
    const path = statusPath.child('conditions').index(i);
    validateGeneration(observedGeneration, path, errors);
    // Clients know the field by this name.
    for (const message of isQualifiedName(type)) errors.push(invalid(path.child('Type'), type, message));
  });
  validateNomination(pod, old, errors);
  validateGeneration(status.observedGeneration, statusPath, errors);
  if (old.status.qosClass && status.qosClass !== old.status.qosClass) {
    errors.push(invalid(statusPath.child('qosClass'), status.qosClass ?? '', 'field is immutable'));
  }
  for (const field of statusFields) errors.push(...transitionErrors(field, pod, old));
  validateClaims(pod, errors);
  validateExtendedClaim(pod, errors);
  errors.push(...validateAddresses(pod, old));
  for (const field of statusFields) {
    const path = statusPath.child(field);
    status[field]?.forEach((container, i) => {
      validateUser(pod, container, path.index(i), errors);
    });
  }
  validateDevices(pod, 'containerStatuses', spec.containers ?? [], errors);
  validateDevices(pod, 'initContainerStatuses', spec.initContainers ?? [], errors);
  status.ephemeralContainerStatuses?.forEach(({ allocatedResourcesStatus = [] }, i) => {
    if (allocatedResourcesStatus.length === 0) return;
    const path = statusPath.child('ephemeralContainerStatuses').index(i).child('allocatedResourcesStatus');
    errors.push(forbidden(path, 'must not be specified in container status'));
  });
  return errors;
}

function validateNomination(pod: Pod, old: Pod, errors: FieldError[]): void {
  const nominated = pod.status.nominatedNodeName;
  if (!nominated || nominated === old.status.nominatedNodeName) return;
  const path = statusPath.child('nominatedNodeName');
  for (const message of isDns1123Subdomain(nominated)) errors.push(invalid(path, nominated, message));
  if (old.spec.nodeName) errors.push(forbidden(path, 'may not be set on pods that are already bound to a node'));
}

function validateGeneration(value: unknown, path: FieldPath, errors: FieldError[]): void {
  const generation = Number(value ?? 0);
  if (generation < 0) {
    errors.push(invalid(path.child('observedGeneration'), generation, 'must be a non-negative integer'));
  }
}

/** Checks the health of the devices of containers: each is one that the container asked for. */
function validateDevices(
  { status }: Pod,
  field: 'containerStatuses' | 'initContainerStatuses',
  containers: readonly Container[],
  errors: FieldError[],
): void {
  status[field]?.forEach(({ name: containerName, allocatedResourcesStatus = [] }, i) => {
    const container = containers.find(({ name }) => name === containerName);
    const listPath = statusPath.child(field).index(i).child('allocatedResourcesStatus');
    allocatedResourcesStatus.forEach(({ name, resources = [] }, j) => {
      const path = listPath.index(j);
      const fault = container === undefined ? undefined : unknownDevice(name, container, status);
      if (fault !== undefined) errors.push(invalid(path.child('name'), name, fault));
      const seen = new Set<string>();
      resources.forEach(({ resourceID, health = '', message }, k) => {
        const at = path.child('resources').index(k);
        if (!healths.includes(health)) errors.push(notSupported(at.child('health'), health, healths));
        if (message === '') errors.push(required(at.child('message'), 'must be non-empty if specified'));
        else if (Buffer.byteLength(message ?? '') > longestMessage) {
          errors.push(tooLong(at.child('message'), longestMessage));
        }
        if (seen.has(resourceID)) errors.push(duplicate(at.child('resourceID'), resourceID));
        seen.add(resourceID);
      });
    });
  });
}

/** The reason why a container has no such resource; undefined if it has. */
function unknownDevice(name: string, { name: containerName, resources }: Container, status: Pod['status']) {
  if (!name.startsWith(claimPrefix)) {
    const isRequested = Object.keys(resources?.requests ?? {}).includes(name);
    return isRequested ? undefined : "must match one of the container's resource requests";
  }
  const claimed = (resources?.claims ?? []).map(
    (claim) => claimPrefix + [claim.name, claim.request].filter(Boolean).join('/'),
  );
  const { resourceClaimName, requestMappings } = status.extendedResourceClaimStatus ?? {};
  const extended = (requestMappings ?? [])
    .filter((mapping) => {
      const amount = ownValue(resources?.requests, mapping.resourceName);
      return mapping.containerName === containerName && amount !== undefined && quantitySign(quantityOf(amount)) !== 0;
    })
    .map(({ requestName }) => `${claimPrefix}${resourceClaimName}/${requestName}`);
  if ([...claimed, ...extended].includes(name)) return undefined;
  return "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' when container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty";
}

function validateUser({ spec }: Pod, { user }: ContainerStatus, path: FieldPath, errors: FieldError[]): void {
  const linux = user?.linux;
  if (linux === undefined) return;
  const at = path.child('user').child('linux');
  if (spec.os?.name === 'windows') {
    errors.push(forbidden(at, 'cannot be set for a windows pod'));
    return;
  }
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
  const { resourceClaimName } = claim;
  const requestMappings = claim.requestMappings ?? [];
  if (requestMappings.length === 0) {
    errors.push(required(path.child('requestMappings'), 'at least one request mapping is required'));
  }
  const containers = new Map(
    [...(spec.initContainers ?? []), ...(spec.containers ?? [])].map((each) => [each.name, each]),
  );
  const seen = new Set<string>();
  requestMappings.forEach(({ containerName, resourceName, requestName }, i) => {
    const at = path.child('requestMappings').index(i);
    const container = containers.get(containerName);
    if (container === undefined) {
      const detail = 'must match the name of an entry in spec.initContainers.name or spec.containers.name';
      errors.push(invalid(at.child('containerName'), containerName, detail));
    } else if (ownValue(container.resources?.requests, resourceName) === undefined) {
      const detail =
        'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests';
      errors.push(invalid(at.child('resourceName'), resourceName, detail));
    }
    // Clients know the field by this path.
    for (const message of isDns1123Label(requestName)) {
      errors.push(invalid(path.child('requestName'), requestName, message));
    }
    const key = JSON.stringify([containerName, resourceName, requestName]);
    if (seen.has(key)) {
      errors.push(duplicate(at.child('containerName'), containerName));
      errors.push(duplicate(at.child('resourceName'), resourceName));
      errors.push(duplicate(at.child('requestName'), requestName));
    }
    seen.add(key);
  });
  if (!resourceClaimName) errors.push(required(path.child('resourceClaimName')));
  else {
    for (const message of isDns1123Subdomain(resourceClaimName)) {
      errors.push(invalid(path.child('resourceClaimName'), resourceClaimName, message));
    }
  }
}
