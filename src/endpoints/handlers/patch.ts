import type { ApiObject } from '../../machinery/api-object.js';
import { FieldPath, forbidden } from '../../machinery/field-error.js';
import { ownValue } from '../../machinery/own-value.js';
import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch } from '../../machinery/patch/index.js';
import {
  badRequestError,
  invalidError,
  notFoundError,
  unsupportedMediaTypeError,
} from '../../machinery/status-error.js';
import { negotiateObject } from '../negotiation/answer-form.js';
import { parsePatchBody } from '../negotiation/decode-body.js';
import { readBody } from '../negotiation/read-body.js';
import { sendObject } from '../negotiation/respond.js';
import type { ResourceRequest } from '../resource-request.js';
import { Write } from '../writes/write.js';

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
type Patch = (live: ApiObject) => unknown;

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

/** Reads a patch body; 400 for one that can't be parsed. */
function parsePatch({ request, kind, type: schema, options }: Write, type: PatchType, body: Buffer): Patch {
  let patch: unknown;
  try {
    patch = parsePatchBody(request.context, kind, body, 'json', options.fieldValidation);
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
function refuseForce({ services: { names }, context: { query } }: ResourceRequest): void {
  if (!query.has('force')) return;
  const misplaced = forbidden(FieldPath.of('force'), 'may not be specified for non-apply patch');
  throw invalidError({ group: `meta.${names.suffix}`, kind: 'PatchOptions' }, '', [misplaced]);
}

/** PATCH of one object, or of a subresource of it; an apply has a handler of its own. */
export async function handlePatch(request: ResourceRequest): Promise<void> {
  const accepted = negotiateObject(request);
  const type = patchTypeOf(request.context.contentType);
  const write = new Write(request, 'PatchOptions');
  refuseForce(request);
  const patch = parsePatch(write, type, await readBody(request));
  const outcome = await write.update((live) => {
    if (live === undefined) throw notFoundError(request.store.groupResource, request.name);
    return write.decodePatched(patch(live.shown as ApiObject));
  });
  sendObject(request, outcome.created ? 201 : 200, outcome, accepted);
}
