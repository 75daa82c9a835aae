import type { ApiObject, OwnerReference } from '../../../base/machinery/api-object.js';
import { addWarning, type RequestContext } from '../../../base/machinery/request-context.js';

/**
 * Keeps only the first of equal owner references, and warns the client about the duplicates that it sent. References
 * that differ in any field stay, even for the same owner. Changes `object`.
 *
 * @param since the earlier event that the warning names; empty: none
 */
export function removeDuplicateOwners(context: RequestContext, object: ApiObject, since = ''): void {
  const references = object.metadata.ownerReferences;
  if (!Array.isArray(references) || references.length < 2) return;
  const kept = new Map<string, OwnerReference>();
  const repeated = new Set<string>();
  for (const reference of references) {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = reference;
    const key = JSON.stringify([uid, apiVersion, kind, name, controller, blockOwnerDeletion]);
    if (kept.has(key)) repeated.add(uid);
    else kept.set(key, reference);
  }
  if (repeated.size === 0) return;
  object.metadata.ownerReferences = [...kept.values()];
  addWarning(
    context,
    `.metadata.ownerReferences contains duplicate entries${since}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...repeated].join(', ')}`,
  );
}
