import type { ApiObject } from '../../machinery/api-object.js';
import { FieldPath, forbidden } from '../../machinery/field-error.js';
import type { GroupVersionKind } from '../../machinery/group-version.js';
import { cloneJson } from '../../machinery/json/exact-numbers.js';
import { ownValue } from '../../machinery/own-value.js';
import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch } from '../../machinery/patch/index.js';
import type { RequestContext } from '../../machinery/request-context.js';
import type { KindType } from '../../machinery/schema/index.js';
import {
  badRequestError,
  invalidError,
  notFoundError,
  unsupportedMediaTypeError,
} from '../../machinery/status-error.js';
import { ensureIdentity } from '../../registry/metadata/before-update.js';
import { toServed, toStored } from '../../registry/store/object-codec.js';
import { updateRulesOf } from '../../registry/subresource-definition.js';
import { negotiateObject } from '../negotiation/answer-form.js';
import { decodePatched, type FieldValidation, parsePatchBody } from '../negotiation/decode-body.js';
import { readBody } from '../negotiation/read-body.js';
import { sendObject } from '../negotiation/respond.js';
import { parseWriteOptions } from '../negotiation/write-options.js';
import type { ResourceRequest } from '../resource-request.js';
import { admissionOf, applyDefaults, trackFields, validateWith } from './write-context.js';

type PatchType = 'json' | 'merge' | 'strategic';

/** Media type of server-side apply, which has a handler of its own. */
export const applyMediaType = 'application/apply-patch+yaml';

const patchTypes: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
};

/** Media types of the patches that are no applies. */
export const patchMediaTypes: readonly string[] = Object.keys(patchTypes);

/** A patch, parsed; applied again to each newer live object when another writer comes between. */
export type ApplyPatch = (live: ApiObject) => unknown;

/** The media type of a patch without its parameters. */
export function patchMediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** Which kind of patch a Content-Type names; 415 for any other. */
export function patchTypeOf(contentType: string | undefined): PatchType {
  const mediaType = patchMediaType(contentType);
  const type = ownValue(patchTypes, mediaType);
  if (type === undefined) throw unsupportedMediaTypeError();
  return type;
}

/** What a patch is applied to. */
export interface PatchedKind {
  readonly schema: KindType;
  readonly expected: GroupVersionKind;
}

/** Reads a patch body; 400 for one that can't be parsed. */
export function parsePatch(
  context: RequestContext,
  type: PatchType,
  body: Buffer,
  { schema, expected }: PatchedKind,
  fieldValidation: FieldValidation,
): ApplyPatch {
  let patch: unknown;
  try {
    patch = parsePatchBody(context, expected, body, 'json', fieldValidation);
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequestError(error.message, error);
    throw error;
  }
  if (type === 'json') {
    if (!Array.isArray(patch)) throw badRequestError('a JSON patch must be a list of operations');
    return (live) => applyJsonPatch(live, patch);
  }
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) {
    throw badRequestError('the patch must be an object');
  }
  const fields = patch as Record<string, unknown>;
  return type === 'merge'
    ? (live) => applyMergePatch(live, fields)
    : (live) => applyStrategicMergePatch(schema, live, fields);
}

/** 422 for `force` on a patch that is no apply: it would say nothing. */
export function refuseForce({ services: { names }, context: { query } }: ResourceRequest): void {
  if (!query.has('force')) return;
  const misplaced = forbidden(FieldPath.of('force'), 'may not be specified for non-apply patch');
  throw invalidError({ group: `meta.${names.suffix}`, kind: 'PatchOptions' }, '', [misplaced]);
}

/** PATCH of one object, or of a subresource that shows the parent's own kind. */
export async function handlePatch(request: ResourceRequest): Promise<void> {
  const { services, context, resource, subresource } = request;
  const accepted = negotiateObject(request);
  const type = patchTypeOf(context.contentType);
  const options = parseWriteOptions(context, services.names, 'PatchOptions');
  refuseForce(request);
  const body = await readBody(request);
  const kind = { schema: resource.served.type, expected: request.kind };
  const apply = parsePatch(context, type, body, kind, options.fieldValidation);
  const store = request.store;

  const outcome = await store.update(context, request.namespace, request.name, {
    dryRun: options.dryRun,
    validate: validateWith(context, options),
    subresource: updateRulesOf(subresource),
    transform: async (live) => {
      if (live === undefined) throw notFoundError(store.groupResource, request.name);
      const servedLive = resource.isStored ? live : toServed(resource, cloneJson(live));
      const patched = apply(servedLive);
      const object = decodePatched(context, resource.served.type, request.kind, patched, options.fieldValidation);
      ensureIdentity(resource.definition, object, request.namespace, request.name);
      applyDefaults(resource, object);
      await admissionOf(context).admit({
        operation: 'UPDATE',
        name: request.name,
        object,
        oldObject: live,
        options: options.raw,
        dryRun: options.dryRun,
      });
      trackFields(services, resource, servedLive, object, options, subresource?.name);
      return toStored(resource, object);
    },
  });
  sendObject(request, outcome.created ? 201 : 200, outcome, accepted);
}
