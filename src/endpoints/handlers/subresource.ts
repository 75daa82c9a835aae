import type { ApiObject } from '../../machinery/api-object.js';
import { cloneJson } from '../../machinery/json/exact-numbers.js';
import { conflictError, modifiedMessage, notFoundError } from '../../machinery/status-error.js';
import { ensureIdentity } from '../../registry/metadata/before-update.js';
import { isOtherVersion, parseStored, toServed } from '../../registry/store/object-codec.js';
import {
  type CreatedSubresource,
  updateRulesOf,
  type ViewSubresource,
  type VirtualSubresource,
} from '../../registry/subresource-definition.js';
import { negotiateValue } from '../negotiation/answer-form.js';
import { bodyFormat, decodeBody, decodeBodyOfAny, decodePatched } from '../negotiation/decode-body.js';
import { readBody } from '../negotiation/read-body.js';
import { sendValue } from '../negotiation/respond.js';
import { parseWriteOptions, type WriteOptions } from '../negotiation/write-options.js';
import type { ResourceRequest } from '../resource-request.js';
import { parsePatch, patchTypeOf, refuseForce } from './patch.js';
import { admissionOf, trackFields, validateWith } from './write-context.js';

/**
 * PUT and PATCH of a subresource with a kind of its own (`scale`): the body, or the patch applied to the view of the
 * live parent, is brought into the parent and goes through the parent's update.
 */
export async function handleSubresourceWrite(request: ResourceRequest, subresource: ViewSubresource): Promise<void> {
  const { services, context } = request;
  const accepted = negotiateValue(request);
  const isPatch = request.verb === 'patch';
  const options = parseWriteOptions(context, services.names, isPatch ? 'PatchOptions' : 'UpdateOptions');
  if (isPatch) refuseForce(request);
  const makeBody = isPatch ? await patchedBody(request, subresource, options) : await sentBody(request, options);
  const parent = await writeThroughParent(request, subresource, options, makeBody);
  sendValue(request, 200, subresource.read(parent), accepted, subresource.body.type);
}

/** POST to a subresource that is written into its parent (`binding`). */
export async function handleSubresourceCreate(
  request: ResourceRequest,
  subresource: CreatedSubresource,
): Promise<void> {
  const { services, context } = request;
  const accepted = negotiateValue(request);
  const options = parseWriteOptions(context, services.names, 'CreateOptions');
  const makeBody = await sentBody(request, options);
  const parent = await writeThroughParent(request, subresource, options, makeBody);
  const answer = subresource.createAnswer(context, makeBody(parent));
  sendValue(request, 201, answer, accepted, answer.kind === 'Status' ? services.kinds.status : subresource.body.type);
}

/** POST to a virtual subresource: what it does is its own business, from decoding to validating admission is as ever. */
export async function handlePerform(request: ResourceRequest, subresource: VirtualSubresource): Promise<void> {
  const { services, context, resource } = request;
  const { perform, body: own, otherBodies = [] } = subresource;
  const accepted = negotiateValue(request);
  const options = parseWriteOptions(context, services.names, 'CreateOptions');
  const format = bodyFormat(context.contentType, services.names);
  const raw = await readBody(request);
  const kinds = [own, ...otherBodies] as const;
  const body = decodeBodyOfAny(context, kinds, raw, format, options.fieldValidation);
  body.metadata.name ||= request.name;
  ensureIdentity(resource.definition, body, request.namespace, request.name);
  const { name, namespace } = request;
  const subject = { operation: 'CREATE', name, oldObject: undefined, options: options.raw } as const;
  const { dryRun } = options;
  await admissionOf(context).admit({ ...subject, object: body, dryRun });
  const validate = (object: ApiObject) => admissionOf(context).validate({ ...subject, object, dryRun });
  const answer = await perform(context, { namespace, name, body, dryRun, validate });
  sendValue(request, 201, answer, accepted, answer.kind === 'Status' ? services.kinds.status : own.type);
}

type MakeBody = (parent: ApiObject) => ApiObject;

async function sentBody(request: ResourceRequest, options: WriteOptions): Promise<MakeBody> {
  const { services, context, resource } = request;
  const format = bodyFormat(context.contentType, services.names);
  const raw = await readBody(request);
  const body = decodeBody(context, request.type, request.kind, raw, format, options.fieldValidation);
  // What is created below an object need not repeat whose it is; what replaces something has to say what it is.
  if (request.verb === 'create') body.metadata.name ||= request.name;
  ensureIdentity(resource.definition, body, request.namespace, request.name);
  return () => body;
}

async function patchedBody(
  request: ResourceRequest,
  subresource: ViewSubresource,
  options: WriteOptions,
): Promise<MakeBody> {
  const { context, resource, type } = request;
  const patchType = patchTypeOf(context.contentType);
  const raw = await readBody(request);
  const kind = { schema: type, expected: request.kind };
  const apply = parsePatch(context, patchType, raw, kind, options.fieldValidation);
  return (parent) => {
    const patched = apply(subresource.read(parent));
    const body = decodePatched(context, type, request.kind, patched, options.fieldValidation);
    ensureIdentity(resource.definition, body, request.namespace, request.name);
    return body;
  };
}

async function writeThroughParent(
  request: ResourceRequest,
  subresource: ViewSubresource | CreatedSubresource,
  options: WriteOptions,
  makeBody: MakeBody,
): Promise<ApiObject> {
  const { services, context, resource } = request;
  const store = request.store;
  const outcome = await store.update(context, request.namespace, request.name, {
    dryRun: options.dryRun,
    validate: validateWith(context, options),
    subresource: updateRulesOf(subresource),
    transform: async (live) => {
      if (live === undefined) throw notFoundError(store.groupResource, request.name);
      const body = makeBody(live);
      const { resourceVersion, uid } = body.metadata;
      const isOther =
        isOtherVersion(resourceVersion, live.metadata.resourceVersion) || (uid && uid !== live.metadata.uid);
      if (isOther) throw conflictError(store.groupResource, request.name, modifiedMessage);
      await admissionOf(context).admit({
        operation: request.verb === 'create' ? 'CREATE' : 'UPDATE',
        name: request.name,
        object: body,
        oldObject: live,
        options: options.raw,
        dryRun: options.dryRun,
      });
      const changed = subresource.write(context, cloneJson(live), body);
      trackFields(services, resource, live, changed, options, subresource.name);
      return changed;
    },
  });
  const { json, resourceVersion = 0n } = outcome;
  return toServed(resource, parseStored(resource, { json, resourceVersion }));
}
