import { forbiddenError, type StatusError } from '../machinery/status-error.js';
import type { AdmissionAttributes } from './attributes.js';

/**
 * The 403 with which a plugin refuses a request. It names the object; one whose name has not been drawn yet appears
 * under the beginning of its name.
 */
export function refusal({ resource, name, object }: AdmissionAttributes, detail: string): StatusError {
  const { name: ownName, generateName } = object?.metadata ?? {};
  return forbiddenError(resource, name || ownName || generateName || 'Unknown', detail);
}
