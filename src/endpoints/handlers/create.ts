import type { ApiObject } from '../../machinery/api-object.js';
import { ensureNamespace } from '../../registry/metadata/before-create.js';
import type { VirtualResource } from '../../registry/resource-definition.js';
import { toStored } from '../../registry/store/object-codec.js';
import { negotiateObject, negotiateValue } from '../negotiation/answer-form.js';
import { bodyFormat, decodeBody } from '../negotiation/decode-body.js';
import { readBody } from '../negotiation/read-body.js';
import { sendObject, sendValue } from '../negotiation/respond.js';
import { parseWriteOptions, type WriteOptions } from '../negotiation/write-options.js';
import type { ResourceRequest } from '../resource-request.js';
import { admissionOf, applyDefaults, trackFields, validateWith } from './write-context.js';

/** POST to a collection. */
export async function handleCreate(request: ResourceRequest): Promise<void> {
  const { services, context, resource } = request;
  const accepted = negotiateObject(request);
  const options = parseWriteOptions(context, services.names, 'CreateOptions');
  const object = await admitted(request, options);
  trackFields(services, resource, undefined, object, options);
  const written = await request.store.create(context, toStored(resource, object), {
    dryRun: options.dryRun,
    validate: validateWith(context, options),
  });
  sendObject(request, 201, written, accepted);
}

/** POST to a virtual kind: the object is checked like any other, then filled in instead of stored. */
export async function handleQuestion(request: ResourceRequest, definition: VirtualResource): Promise<void> {
  const { services, context, resource } = request;
  // Answers to questions have one form.
  const accepted = negotiateValue(request);
  const options = parseWriteOptions(context, services.names, 'CreateOptions');
  const object = await admitted(request, options);
  await validateWith(context, options)(object, undefined);
  const answer = await definition.answer(context, object, { dryRun: options.dryRun });
  sendValue(request, 201, answer, accepted, answer.kind === 'Status' ? services.kinds.status : resource.served.type);
}

/** The object of the body, after mutating admission. */
async function admitted(request: ResourceRequest, options: WriteOptions): Promise<ApiObject> {
  const { services, context, resource } = request;
  const format = bodyFormat(context.contentType, services.names);
  const body = await readBody(request);
  const object = decodeBody(context, resource.served.type, request.kind, body, format, options.fieldValidation);
  ensureNamespace(resource.definition, object, request.namespace);
  applyDefaults(resource, object);
  await admissionOf(context).admit({
    operation: 'CREATE',
    name: object.metadata.name ?? '',
    object,
    oldObject: undefined,
    options: options.raw,
    dryRun: options.dryRun,
  });
  return object;
}
