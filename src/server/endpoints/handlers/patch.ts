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
import { type ParsedPatch, parsePatchBody } from '../negotiation/decode-body.js';
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
  /** Fields that the text of the patch has twice, and unknown members of JSON patch operations. */
  readonly faults: readonly string[];
  readonly isStrategic?: boolean;
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

/** Parses a patch body; throws a 400 for a text that is not JSON. */
function parsePatch({ request, type: schema, options }: WritePipeline, body: Buffer): ParsedPatch {
  let parsed: ParsedPatch;
  try {
    parsed = parsePatchBody(body, options.fieldValidation);
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequestError('invalid JSON patch', error);
    throw error;
  }
  const patch = schema.custom === undefined ? parsed.patch : plainIntent(parsed.patch, 'error decoding patch');
  request.context.audit?.requested(patch);
  return { patch, faults: parsed.faults };
}

/** The patch of a type that a parsed body describes; throws a 400 for a body that is no such patch. */
function patchOf(write: WritePipeline, type: PatchType, parsed: ParsedPatch): Patch {
  const { type: schema } = write;
  const { patch } = parsed;
  if (type === 'json') return operationsOf(write, patch, parsed.faults);
  // Clients of this API send null for a strategic patch that changes nothing.
  const fields = patch === null && type === 'strategic' ? {} : patch;
  if (fields === null) throw badRequestError('Invalid JSON Patch');
  if (!isJsonObject(fields)) {
    const prefix = type === 'strategic' ? '' : 'error decoding patch: ';
    throw badRequestError(`${prefix}${unfitJson(fields, 'map[string]interface {}')}`);
  }
  if (type === 'strategic') {
    return {
      apply: (live) => withTypeOf(live, applyStrategicMergePatch(schema, live, fields) as object),
      shown: () => goPrint(fields),
      faults: parsed.faults,
      isStrategic: true,
    };
  }
  return {
    apply: (live) => applyMergePatch(live, fields),
    shown: (live, patched) => patchedText(schema, patched, live),
    faults: parsed.faults,
  };
}

/** The operations of a JSON patch; null stands for none. */
function operationsOf(
  { request, type: schema, options }: WritePipeline,
  patch: unknown,
  duplicates: readonly string[],
): Patch {
  const operations = patch ?? [];
  if (!Array.isArray(operations)) {
    throw badRequestError(`error decoding patch: ${unfitJson(operations, '[]handlers.jsonPatchOp')}`);
  }
  for (const operation of operations) checkOperation(operation);
  const faults = duplicates.map((fault) => `json patch ${fault}`);
  if (options.fieldValidation !== 'Ignore') faults.push(...unknownMembers(operations));
  return {
    apply: (live) => applyJsonPatch(live, operations, () => throwAsCostly(request.context)),
    shown: (live, patched) => patchedText(schema, patched, live),
    faults,
  };
}

/** Throws a 400 for a value that has not the form of an operation; null has. */
function checkOperation(operation: unknown): void {
  if (operation === null) return;
  if (!isJsonObject(operation)) {
    throw badRequestError(`error decoding patch: ${unfitJson(operation, 'handlers.jsonPatchOp')}`);
  }
  for (const member of ['op', 'path', 'from']) {
    const value = ownValue(operation, member) ?? '';
    if (typeof value === 'string') continue;
    const fault = unfitJson(value, 'string').replace('Go value', `Go struct field jsonPatchOp.${member}`);
    throw badRequestError(`error decoding patch: ${fault}`);
  }
}

/** A patched object as what the live one is: a strategic patch does not change that, whatever names it has. */
function withTypeOf({ kind, apiVersion }: ApiObject, patched: { kind?: unknown; apiVersion?: unknown }): object {
  const isName = (value: unknown) => value === undefined || typeof value === 'string';
  return isName(patched.kind) && isName(patched.apiVersion) ? { ...patched, kind, apiVersion } : patched;
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
  const parsed = parsePatch(write, await readBody(request));
  let patch: Patch | undefined;
  const outcome = await write.update((stored) => {
    if (stored === undefined) throw notFoundError(request.store.groupResource, request.name);
    // That there is such an object comes before what the body says.
    patch ??= patchOf(write, type, parsed);
    const { apply, shown, ...rest } = patch;
    const live = stored.shown as ApiObject;
    const patched = apply(live);
    return write.decodePatched(patched, { ...rest, shown: () => shown(live, patched) });
  });
  await sendObject(request, outcome.created ? 201 : 200, outcome, accepted);
}
