import { conflictError, type StatusError } from '../../../base/machinery/status-error.js';
import type { StoredResource } from '../resource-definition.js';

/** Paths of resources of the core group, and of ingresses, whose objects clients know under another path. */
const otherPaths: Readonly<Record<string, string>> = {
  endpoints: 'services/endpoints',
  ingresses: 'ingress',
  nodes: 'minions',
  podsecuritypolicies: 'podsecuritypolicy',
  replicationcontrollers: 'controllers',
  services: 'services/specs',
};

/** The 409 for a write that names another uid or version than that of the live object, in the form that clients know. */
export function preconditionError(
  definition: StoredResource,
  namespace: string,
  name: string,
  detail: string,
): StatusError {
  const { group, resource } = definition;
  const key = `/registry/${pathOf(definition)}/${namespace === '' ? '' : `${namespace}/`}${name}`;
  const text = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${detail}`;
  return conflictError({ group, resource }, name, text);
}

/** Custom resources, their definitions and APIServices are told apart by group. */
function pathOf({ group, resource, versions }: StoredResource): string {
  const isOfGroup = versions[0].type.custom !== undefined || /^api(?:extensions|registration)\./.test(group);
  return isOfGroup ? `${group}/${resource}` : (otherPaths[resource] ?? resource);
}

/** Why a write for an object with one uid does not apply to an object with another; '' if there is none. */
export function uidMismatch(asked: string, live: string): string {
  return `Precondition failed: UID in precondition: ${asked}, UID in object meta: ${live}`;
}

/** Why a write of one version of an object does not apply to another version. */
export function versionMismatch(asked: string, live: string): string {
  return `Precondition failed: ResourceVersion in precondition: ${asked}, ResourceVersion in object meta: ${live}`;
}
