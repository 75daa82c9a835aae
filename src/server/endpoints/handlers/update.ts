import type { ApiObject } from '../../../base/machinery/api-object.js';
import { notFoundError } from '../../../base/machinery/status-error.js';
import { namesVersion } from '../../../objects/registry/store/object-codec.js';
import { preconditionError, uidMismatch } from '../../../objects/registry/store/precondition-error.js';
import { negotiateObject } from '../negotiation/answer-form.js';
import { sendObject } from '../negotiation/respond.js';
import type { ResourceRequest } from '../resource-request.js';
import { WritePipeline } from '../writes/write-pipeline.js';

/** PUT of one object or of its subresource. */
export async function handleUpdate(request: ResourceRequest): Promise<void> {
  const accepted = negotiateObject(request);
  const write = new WritePipeline(request, 'UpdateOptions');
  const nextObject = await write.readCandidate();
  const outcome = await write.update((live) => {
    const object = nextObject();
    if (request.subresource?.type !== 'view') checkState(request, object, live?.stored);
    return object;
  });
  await sendObject(request, outcome.created ? 201 : 200, outcome, accepted);
}

/** Checks name and uid of the body against the live object. The store compares the version. */
function checkState(
  { store, namespace, name }: ResourceRequest,
  { metadata }: ApiObject,
  live: ApiObject | undefined,
): void {
  const { uid, resourceVersion } = metadata;
  if (live === undefined) {
    // The version belongs to an object that no longer exists.
    if (namesVersion(resourceVersion)) throw notFoundError(store.groupResource, name);
  } else if (uid && uid !== live.metadata.uid) {
    throw preconditionError(store.resource.definition, namespace, name, uidMismatch(uid, live.metadata.uid ?? ''));
  }
}
