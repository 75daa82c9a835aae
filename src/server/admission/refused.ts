import { forbiddenError, type StatusError } from '../../base/machinery/status-error.js';
import type { AdmissionAttributes } from './attributes.js';

/**
 * The 403 error with which a plugin refuses a request. An object whose name is still to be generated is named by its
 * `generateName`, as in other servers.
 */
export function refused(attributes: AdmissionAttributes, detail: string): StatusError {
  const { name, resource, object } = attributes;
  return forbiddenError(resource, name || object?.metadata.name || object?.metadata.generateName || 'Unknown', detail);
}

/** Whether the request is for the resource, or one of its subresources, with this group and plural name. */
export function isFor(
  { resource: asked }: Pick<AdmissionAttributes, 'resource'>,
  group: string,
  resource: string,
): boolean {
  return asked.resource === resource && asked.group === group;
}
