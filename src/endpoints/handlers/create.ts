import type { ApiObject } from '../../machinery/api-object.js';
import type { RequestContext } from '../../machinery/request-context.js';
import { invalidError } from '../../machinery/status-error.js';
import { ensureNamespace } from '../../registry/metadata/before-create.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
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
  // Answers to questions have one form.
  const accepted = resource.definition.answer === undefined ? negotiateObject(request) : negotiateValue(request);
  const options = parseWriteOptions(context, services.names, 'CreateOptions');
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
  if (resource.definition.answer !== undefined) {
    const answer = await answerQuestion(context, resource.definition, object, options);
    const type = answer.kind === 'Status' ? services.kinds.status : resource.served.type;
    sendValue(request, 201, answer, accepted, type);
    return;
  }
  trackFields(services, resource, undefined, object, options);

  const written = await request.store.create(context, toStored(resource, object), {
    dryRun: options.dryRun,
    validate: validateWith(context, options),
  });
  sendObject(request, 201, written, accepted);
}

/** Virtual kinds: the object is checked like any other, then filled in instead of stored. */
async function answerQuestion(
  context: RequestContext,
  definition: ResourceDefinition,
  object: ApiObject,
  options: WriteOptions,
): Promise<ApiObject> {
  const { strategy, group, kind } = definition;
  strategy.prepareForCreate?.(context, object);
  const errors = strategy.validate?.(context, object) ?? [];
  if (errors.length > 0) throw invalidError({ group, kind }, object.metadata?.name ?? '', errors);
  await validateWith(context, options)(object, undefined);
  return (await definition.answer?.(context, object, { dryRun: options.dryRun })) as ApiObject;
}
