import type { ApiObject } from '../../machinery/api-object.js';
import { conflictError, notFoundError } from '../../machinery/status-error.js';
import { namesVersion } from '../../registry/store/object-codec.js';
import { negotiateObject } from '../negotiation/answer-form.js';
import { sendObject } from '../negotiation/respond.js';
import type { ResourceRequest } from '../resource-request.js';
import { Write } from '../writes/write.js';

/** PUT of one object, or of a subresource of it. */
export async function handleUpdate(request: ResourceRequest): Promise<void> {
  const accepted = negotiateObject(request);
  const write = new Write(request, 'UpdateOptions');
  const nextObject = await write.readCandidate();
  const outcome = await write.update((live) => {
    const object = nextObject();
    if (request.subresource?.type !== 'view') checkState(request, object, live?.stored);
    return object;
  });
  sendObject(request, outcome.created ? 201 : 200, outcome, accepted);
}

/** What a body says about the object that it replaces, but for the version, which the store compares. */
function checkState({ store, name }: ResourceRequest, { metadata }: ApiObject, live: ApiObject | undefined): void {
  const { uid, resourceVersion } = metadata;
  if (live === undefined) {
    // A version speaks of an object that is not there any more.
    if (namesVersion(resourceVersion)) throw notFoundError(store.groupResource, name);
  } else if (uid && uid !== live.metadata.uid) {
    const detail = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`;
    throw conflictError(store.groupResource, live.metadata.name ?? '', detail);
  }
}
