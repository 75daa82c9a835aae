import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiObject } from '../../machinery/api-object.js';
import { cloneJson } from '../../machinery/json/exact-numbers.js';
import type { RequestContext } from '../../machinery/request-context.js';
import type { KindType } from '../../machinery/schema/index.js';
import { conflictError, methodNotAllowedError, modifiedMessage, notFoundError } from '../../machinery/status-error.js';
import { ensureIdentity } from '../../registry/metadata/before-update.js';
import type { SubresourceDefinition } from '../../registry/resource-definition.js';
import { isOtherVersion, parseStored, toServed } from '../../registry/store/object-codec.js';
import { bodyFormat, decodeBody, decodeBodyOfAny, decodePatched } from '../negotiation/decode-body.js';
import { readBody } from '../negotiation/read-body.js';
import { sendValue } from '../negotiation/respond.js';
import { parseWriteOptions, type WriteOptions } from '../negotiation/write-options.js';
import type { RequestScope } from '../request-scope.js';
import type { EndpointServices } from '../services.js';
import { parsePatch, patchTypeOf, refuseForce } from './patch.js';
import { admissionOf, expectedKind, trackFields, validateWith } from './write-context.js';

/**
 * PUT and PATCH of a subresource with a kind of its own (`scale`): the body, or the patch applied to the view of the
 * live parent, is brought into the parent and goes through the parent's update.
 */
export async function handleSubresourceWrite(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const accepted = services.accept.negotiate(request.headers.accept, false);
  const isPatch = scope.verb === 'patch';
  const options = parseWriteOptions(context, services.names, isPatch ? 'PatchOptions' : 'UpdateOptions');
  if (isPatch) refuseForce(services, context);
  const type = scope.subresource?.type as KindType;
  const makeBody = isPatch
    ? await patchedBody(services, context, scope, request, type, options)
    : await sentBody(services, context, scope, request, type, options);
  const parent = await writeThroughParent(services, context, scope, options, makeBody);
  sendValue(context, reply, 200, scope.subresource?.read?.(parent), accepted, type);
}

/** POST to a subresource with a kind of its own (`binding`). */
export async function handleSubresourceCreate(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { subresource } = scope;
  if (subresource?.perform !== undefined) return performCreate(services, context, scope, request, reply);
  if (subresource?.write === undefined || subresource.type === undefined) throw methodNotAllowedError();
  const accepted = services.accept.negotiate(request.headers.accept, false);
  const options = parseWriteOptions(context, services.names, 'CreateOptions');
  const makeBody = await sentBody(services, context, scope, request, subresource.type, options);
  const parent = await writeThroughParent(services, context, scope, options, makeBody);
  const answer = subresource.createAnswer?.(context, makeBody(parent)) ?? subresource.read?.(parent);
  const isStatus = (answer as ApiObject | undefined)?.kind === 'Status';
  sendValue(context, reply, 201, answer, accepted, isStatus ? services.kinds.status : subresource.type);
}

/** POST to a virtual subresource: what it does is its own business, from decoding to validating admission is as ever. */
async function performCreate(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { perform, type, otherBodies = [] } = scope.subresource as SubresourceDefinition;
  if (perform === undefined || type === undefined) throw methodNotAllowedError();
  const accepted = services.accept.negotiate(request.headers.accept, false);
  const options = parseWriteOptions(context, services.names, 'CreateOptions');
  const format = bodyFormat(request.plinthContext?.contentType, services.names);
  const raw = await readBody(request, services.options.maxBodyBytes);
  const kinds = [{ kind: expectedKind(scope), type }, ...otherBodies] as const;
  const body = decodeBodyOfAny(context, kinds, raw, format, options.fieldValidation);
  body.metadata.name ||= scope.name;
  ensureIdentity(scope.resource.definition, body, scope.namespace, scope.name);
  const { name, namespace } = scope;
  const subject = { operation: 'CREATE', name, oldObject: undefined, options: options.raw } as const;
  const { dryRun } = options;
  await admissionOf(context).admit({ ...subject, object: body, dryRun });
  const validate = (object: ApiObject) => admissionOf(context).validate({ ...subject, object, dryRun });
  const answer = await perform(context, { namespace, name, body, dryRun, validate });
  sendValue(context, reply, 201, answer, accepted, answer.kind === 'Status' ? services.kinds.status : type);
}

type MakeBody = (parent: ApiObject) => ApiObject;

async function sentBody(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  request: FastifyRequest,
  type: KindType,
  options: WriteOptions,
): Promise<MakeBody> {
  const format = bodyFormat(request.plinthContext?.contentType, services.names);
  const raw = await readBody(request, services.options.maxBodyBytes);
  const body = decodeBody(context, type, expectedKind(scope), raw, format, options.fieldValidation);
  // What is created below an object need not repeat whose it is; what replaces something has to say what it is.
  if (scope.verb === 'create') body.metadata.name ||= scope.name;
  ensureIdentity(scope.resource.definition, body, scope.namespace, scope.name);
  return () => body;
}

async function patchedBody(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  request: FastifyRequest,
  type: KindType,
  options: WriteOptions,
): Promise<MakeBody> {
  const patchType = patchTypeOf(request.plinthContext?.contentType);
  const raw = await readBody(request, services.options.maxBodyBytes);
  const kind = { schema: type, expected: expectedKind(scope) };
  const apply = parsePatch(context, patchType, raw, kind, options.fieldValidation);
  return (parent) => {
    const view = scope.subresource?.read?.(parent) as ApiObject;
    const patched = apply(view);
    const body = decodePatched(context, type, expectedKind(scope), patched, options.fieldValidation);
    ensureIdentity(scope.resource.definition, body, scope.namespace, scope.name);
    return body;
  };
}

async function writeThroughParent(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  options: WriteOptions,
  makeBody: MakeBody,
): Promise<ApiObject> {
  const { resource, subresource } = scope;
  const store = services.storeOf(resource);
  const outcome = await store.update(context, scope.namespace, scope.name, {
    dryRun: options.dryRun,
    validate: validateWith(context, options),
    // Without rules of its own, the write has to stand the rules of the parent's update.
    subresource: subresource?.validateUpdate === undefined ? undefined : subresource,
    transform: async (live) => {
      if (live === undefined) throw notFoundError(store.groupResource, scope.name);
      const body = makeBody(live);
      const { resourceVersion, uid } = body.metadata;
      const isOther =
        isOtherVersion(resourceVersion, live.metadata.resourceVersion) || (uid && uid !== live.metadata.uid);
      if (isOther) throw conflictError(store.groupResource, scope.name, modifiedMessage);
      await admissionOf(context).admit({
        operation: scope.verb === 'create' ? 'CREATE' : 'UPDATE',
        name: scope.name,
        object: body,
        oldObject: live,
        options: options.raw,
        dryRun: options.dryRun,
      });
      const changed = subresource?.write?.(context, cloneJson(live), body) as ApiObject;
      trackFields(services, resource, live, changed, options, subresource?.name);
      return changed;
    },
  });
  const { json, resourceVersion = 0n } = outcome;
  return toServed(resource, parseStored(resource, { json, resourceVersion }));
}
