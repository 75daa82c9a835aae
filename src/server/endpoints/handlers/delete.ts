import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Status } from '../../../base/machinery/status-error.js';
import { showsDeletedObject } from '../../../objects/registry/resource-definition.js';
import type { DeleteOutcome } from '../../../objects/registry/store/store-options.js';
import type { DeleteOptions } from '../../../objects/registry/strategy.js';
import { negotiateObject } from '../negotiation/answer-form.js';
import { parseDeleteOptions } from '../negotiation/parse-delete-options.js';
import { readBody } from '../negotiation/read-body.js';
import { sendObject, sendValue } from '../negotiation/respond.js';
import type { ResourceRequest } from '../resource-request.js';
import { ObjectForms } from '../writes/object-forms.js';
import { DeleteAttributes } from '../writes/write-attributes.js';

/**
 * DELETE of one object. Returns a Status when the object is gone, and the object while a finalizer or the garbage
 * collector holds it; some kinds always return the object. A user who may not read the object always gets a Status.
 */
export async function handleDelete(request: ResourceRequest): Promise<void> {
  const { definition } = request.resource;
  const accepted = negotiateObject(request);
  const options = await readOptions(request);
  const outcome = await deleteOne(request, request.namespace, request.name, options);
  const showsObject = !outcome.removed || showsDeletedObject(definition);
  // A client that asks for the end of dependents by the old option reads from the code whether the object still waits.
  const code = !outcome.removed && options.orphanDependents === false ? 202 : 200;
  if (showsObject && (await request.admission.mayRead(request.context, 'get'))) {
    await sendObject(request, code, outcome.text, accepted);
    return;
  }
  sendValue(request, code, successStatus(request, outcome), accepted, request.services.kinds.status);
}

/** The options of a delete, from its body and its query. */
export async function readOptions(request: ResourceRequest): Promise<DeleteOptions> {
  return parseDeleteOptions(request, await readBody(request));
}

/**
 * Deletes one object. Admission needs the object, so both of its phases run after the store has read it.
 *
 * @param uid uid of the object to delete; another object of that name counts as not found
 */
export function deleteOne(
  request: ResourceRequest,
  namespace: string,
  name: string,
  options: DeleteOptions,
  uid?: string,
): Promise<DeleteOutcome> {
  const { context, store, admission } = request;
  const validate = async (_object: undefined | ApiObject, live: ApiObject | undefined) => {
    const attributes = new DeleteAttributes(request, options, await ObjectForms.of(request, live as ApiObject));
    await admission.admit(attributes);
    await admission.validate(attributes);
  };
  const outcome = store.delete(context, namespace, name, { ...options, validate, uid });
  const { audit } = context;
  if (audit === undefined || options.dryRun) return outcome;
  return outcome.then((deleted) => {
    audit.wrote(deleted.text.resourceVersion);
    return deleted;
  });
}

function successStatus({ resource: { definition } }: ResourceRequest, outcome: DeleteOutcome): Status {
  const { name, uid } = outcome.object.metadata;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      ...(name === undefined ? {} : { name }),
      ...(definition.group === '' ? {} : { group: definition.group }),
      kind: definition.resource,
      ...(uid === undefined ? {} : { uid }),
    },
  };
}
