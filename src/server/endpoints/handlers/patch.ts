import type { ApiObject } from '../../../base/machinery/api-object.js';
import { FieldPath, forbidden } from '../../../base/machinery/field-error.js';
import { throwAsCostly } from '../../../base/machinery/large-work.js';
import { ownValue } from '../../../base/machinery/own-value.js';
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  goPrint,
} from '../../../base/machinery/patch/index.js';
import {
  badRequestError,
  invalidError,
  notFoundError,
  unsupportedMediaTypeError,
} from '../../../base/machinery/status-error.js';
import { negotiateObject } from '../negotiation/answer-form.js';
import { unfitJson } from '../negotiation/body-errors.js';
import { parsePatchBody } from '../negotiation/decode-body.js';
import { patchedText } from '../negotiation/patched-text.js';
import { plainIntent } from '../negotiation/plain-intent.js';
import { readBody } from '../negotiation/read-body.js';
import { sendObject } from '../negotiation/respond.js';
import type { ResourceRequest } from '../resource-request.js';
import { WritePipeline } from '../writes/write-pipeline.js';

type PatchType = 'json' | 'merge' | 'strategic';

/** Media types of server-side apply, which has its own handler. */
export const applyMediaType = 'application/apply-patch+yaml';
export const cborApplyMediaType = 'application/apply-patch+cbor';

const patchTypes: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
};

/** Media types of server-side apply with CBOR, and without it. */
export function applyMediaTypes(hasCbor: boolean): readonly string[] {
  return hasCbor ? [applyMediaType, cborApplyMediaType] : [applyMediaType];
}

/** Media types of all patches except apply. */
export const patchMediaTypes: readonly string[] = Object.keys(patchTypes);

/** A parsed patch. */
interface Patch {
  /** Applies the patch. Called again with the newer live object after a conflict. */
  readonly apply: (live: ApiObject) => unknown;
  /** The value that the error for an invalid result shows. */
  readonly shown: (live: ApiObject, patched: unknown) => string;
  /** Unknown members of JSON patch operations. */
  readonly faults: readonly string[];
}

/** The format of the body of a server-side apply; undefined for other patches. JSON is valid YAML. */
export function applyFormat({ services, context }: ResourceRequest): 'yaml' | 'cbor' | undefined {
  switch (patchMediaType(context.contentType)) {
    case applyMediaType:
      return 'yaml';
    case cborApplyMediaType:
      return services.accept.hasCbor ? 'cbor' : undefined;
  }
  return undefined;
}

/** The media type of a patch without its parameters. */
export function patchMediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** Media types of the patches for custom kinds; without merge keys there are no strategic ones. */
export const customPatchMediaTypes: readonly string[] = patchMediaTypes.filter(
  (type) => patchTypes[type] !== 'strategic',
);

/**
 * The kind of patch that a Content-Type names; throws a 415 for an unknown one.
 *
 * @param isCustom the patched object is of a custom kind
 * @param hasCbor whether CBOR is supported
 */
export function patchTypeOf(contentType: string | undefined, isCustom = false, hasCbor = true): PatchType {
  const mediaType = patchMediaType(contentType);
  const type = ownValue(patchTypes, mediaType);
  if (isCustom && (type === 'strategic' || type === undefined)) {
    throw unsupportedMediaTypeError([...customPatchMediaTypes, ...applyMediaTypes(hasCbor)]);
  }
  if (type === undefined) throw unsupportedMediaTypeError();
  return type;
}

/** Reads a patch body; throws a 400 when it can't be parsed. */
function parsePatch({ request, kind, type: schema, options }: WritePipeline, type: PatchType, body: Buffer): Patch {
  let patch: unknown;
  try {
    patch = parsePatchBody(request.context, kind, body, options.fieldValidation);
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequestError('invalid JSON patch', error);
    throw error;
  }
  if (schema.custom !== undefined) patch = plainIntent(patch, 'error decoding patch');
  request.context.audit?.requested(patch);
  if (type === 'json') {
    if (!Array.isArray(patch))
      throw badRequestError(`error decoding patch: ${unfitJson(patch, '[]handlers.jsonPatchOp')}`);
    const wrong = patch.findIndex((operation) => !isJsonObject(operation));
    if (wrong >= 0) throw badRequestError(`error decoding patch: ${unfitJson(patch[wrong], 'handlers.jsonPatchOp')}`);
    return {
      apply: (live) => applyJsonPatch(live, patch, () => throwAsCostly(request.context)),
      shown: (live, patched) => patchedText(schema, patched, live),
      faults: options.fieldValidation === 'Ignore' ? [] : unknownMembers(patch),
    };
  }
  if (!isJsonObject(patch)) {
    const prefix = type === 'strategic' ? '' : 'error decoding patch: ';
    throw badRequestError(`${prefix}${unfitJson(patch, 'map[string]interface {}')}`);
  }
  const fields = patch;
  if (type === 'strategic') {
    return {
      // What the object is does not change, whatever the patch says.
      apply: (live) => {
        const { kind, apiVersion } = live;
        return { ...(applyStrategicMergePatch(schema, live, fields) as object), kind, apiVersion };
      },
      shown: () => goPrint(fields),
      faults: [],
    };
  }
  return {
    apply: (live) => applyMergePatch(live, fields),
    shown: (live, patched) => patchedText(schema, patched, live),
    faults: [],
  };
}

function isJsonObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

const operationMembers: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value']);
/** Maximum number of reported faults. */
const maxFaults = 100;

function unknownMembers(operations: readonly unknown[]): string[] {
  const faults: string[] = [];
  for (const [i, operation] of operations.entries()) {
    if (typeof operation !== 'object' || operation === null) continue;
    for (const member of Object.keys(operation)) {
      if (operationMembers.has(member)) continue;
      faults.push(`json patch unknown field "[${i}].${member}"`);
      if (faults.length === maxFaults) return faults;
    }
  }
  return faults;
}

/** Throws a 422 for `force` on a patch other than apply, where it has no meaning. */
function refuseForce({ services: { names }, context: { query } }: ResourceRequest): void {
  if (!query.has('force')) return;
  const misplaced = forbidden(FieldPath.of('force'), 'may not be specified for non-apply patch');
  throw invalidError({ group: `meta.${names.suffix}`, kind: 'PatchOptions' }, '', [misplaced]);
}

/** PATCH of one object or of its subresource; apply has its own handler. */
export async function handlePatch(request: ResourceRequest): Promise<void> {
  const type = patchTypeOf(
    request.context.contentType,
    request.resource.served.type.custom !== undefined,
    request.services.accept.hasCbor,
  );
  const accepted = negotiateObject(request);
  const write = new WritePipeline(request, 'PatchOptions');
  refuseForce(request);
  const patch = parsePatch(write, type, await readBody(request));
  const outcome = await write.update((live) => {
    if (live === undefined) throw notFoundError(request.store.groupResource, request.name);
    const shown = live.shown as ApiObject;
    const patched = patch.apply(shown);
    return write.decodePatched(patched, { shown: () => patch.shown(shown, patched), faults: patch.faults });
  });
  await sendObject(request, outcome.created ? 201 : 200, outcome, accepted);
}
