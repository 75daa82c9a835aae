import type { ApiObject } from '../../machinery/api-object.js';
import { cloneJson } from '../../machinery/json/exact-numbers.js';
import { conflictError, notFoundError } from '../../machinery/status-error.js';
import { ensureIdentity } from '../../registry/metadata/before-update.js';
import { namesVersion, toServed, toStored } from '../../registry/store/object-codec.js';
import { updateRulesOf } from '../../registry/subresource-definition.js';
import { negotiateObject } from '../negotiation/answer-form.js';
import { bodyFormat, decodeBody } from '../negotiation/decode-body.js';
import { readBody } from '../negotiation/read-body.js';
import { sendObject } from '../negotiation/respond.js';
import { parseWriteOptions } from '../negotiation/write-options.js';
import type { ResourceRequest } from '../resource-request.js';
import { admissionOf, applyDefaults, trackFields, validateWith } from './write-context.js';

/** PUT of one object, or of a subresource that shows the parent's own kind. */
export async function handleUpdate(request: ResourceRequest): Promise<void> {
  const { services, context, resource, subresource } = request;
  const { definition } = resource;
  const accepted = negotiateObject(request);
  const options = parseWriteOptions(context, services.names, 'UpdateOptions');
  const format = bodyFormat(context.contentType, services.names);
  const body = await readBody(request);
  const decodeAgain = () => {
    const object = decodeBody(context, resource.served.type, request.kind, body, format, options.fieldValidation);
    ensureIdentity(definition, object, request.namespace, request.name);
    applyDefaults(resource, object);
    return object;
  };
  let decoded: ApiObject | undefined = decodeAgain();
  const store = request.store;

  const outcome = await store.update(context, request.namespace, request.name, {
    dryRun: options.dryRun,
    validate: validateWith(context, options),
    subresource: updateRulesOf(subresource),
    transform: async (live) => {
      // The first try uses what was decoded already; the store changes it, so a retry starts from the body.
      const object = decoded ?? decodeAgain();
      decoded = undefined;
      if (live === undefined) {
        // A version or uid speaks of an object that is not there any more.
        if (namesVersion(object.metadata.resourceVersion)) throw notFoundError(store.groupResource, request.name);
      } else checkUid(store.groupResource, object, live);
      await admissionOf(context).admit({
        operation: live === undefined ? 'CREATE' : 'UPDATE',
        name: request.name,
        object,
        oldObject: live,
        options: options.raw,
        dryRun: options.dryRun,
      });
      const servedLive = live === undefined || resource.isStored ? live : toServed(resource, cloneJson(live));
      trackFields(services, resource, servedLive, object, options, subresource?.name);
      return toStored(resource, object);
    },
  });
  sendObject(request, outcome.created ? 201 : 200, outcome, accepted);
}

function checkUid(groupResource: { group: string; resource: string }, object: ApiObject, live: ApiObject): void {
  const { uid } = object.metadata;
  if (uid && uid !== live.metadata.uid) {
    const detail = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`;
    throw conflictError(groupResource, live.metadata.name ?? '', detail);
  }
}
