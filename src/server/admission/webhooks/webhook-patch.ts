import type { ApiObject } from '../../../base/machinery/api-object.js';
import { applyJsonPatch, PatchError } from '../../../base/machinery/patch/index.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { DecodeError, decode, type KindType, unmarshalDetail } from '../../../base/machinery/schema/index.js';
import { oversizedMetadata } from '../../../objects/registry/metadata/validate-metadata.js';
import type { AdmissionAttributes } from '../attributes.js';
import type { ResourceAndKind, ResourceVersions } from '../matching/resource-versions.js';
import { WebhookMistake } from './webhook-mistake.js';

/** The object after a patch. */
export interface Patched {
  /** The object in the requested version. */
  readonly object: ApiObject;
  /** Whether the patch changed anything. */
  readonly isChanged: boolean;
}

/**
 * Fields that identify the object of a request. A hook must not change them, since the original object was the
 * authorized one.
 */
const identity = ['name', 'namespace', 'uid'] as const;

/**
 * The object of a request after the JSON patch of a hook. The result is decoded like a client's body, in the version
 * that the hook saw, gets the defaults of that version, and is converted back to the requested version.
 *
 * @param before the object as the hook saw it; not changed
 * @throws a StatusError (500) for a patch that does not apply, whose result is not an object of the kind, or that
 *   changes the object's identity
 */
export async function applyWebhookPatch(
  hook: string,
  operations: readonly unknown[],
  before: ApiObject | undefined,
  attributes: Pick<AdmissionAttributes, 'resource' | 'subresource' | 'context'>,
  matched: ResourceAndKind,
  versions: ResourceVersions,
): Promise<Patched> {
  const refuse = (text: string, fault?: string) =>
    new WebhookMistake(fault ?? `admission webhook ${JSON.stringify(hook)} ${text}`);
  if (before === undefined) {
    throw refuse('attempted to modify the object, which is not supported for this operation');
  }
  return changedObject(patchedBody(before, operations), before, attributes, matched, versions, refuse);
}

/**
 * The object of a request after a plugin has changed it by a rule that clients define: decoded like a client's body,
 * with the defaults of the version that the rule saw, and converted back to the requested version.
 *
 * @param patched the changed object; not canonical
 * @param before the object as the rule saw it; not changed
 * @param refuse makes the error of a text; `fault` is the same in the words of the release, where a value has the wrong type
 * @throws the result of `refuse`, if the result is not an object of the kind, or the object's identity changes
 */
export async function changedObject(
  patched: unknown,
  before: ApiObject,
  attributes: Pick<AdmissionAttributes, 'resource' | 'subresource' | 'context'>,
  matched: ResourceAndKind,
  versions: ResourceVersions,
  refuse: (text: string, fault?: string) => Error,
): Promise<Patched> {
  const { kind } = matched;
  const bodies = versions.bodiesOf(matched.resource, attributes.subresource);
  const body = bodies.find((one) => one.kind.version === kind.version && one.kind.group === kind.group) ?? bodies[0];
  if (body === undefined) throw refuse('attempted to modify an object of an unknown kind');
  if (typeof patched !== 'object' || patched === null || Array.isArray(patched)) {
    throw refuse('did not leave an object');
  }
  const { kind: patchedKind, apiVersion, metadata } = patched as Partial<ApiObject>;
  if (patchedKind !== before.kind || apiVersion !== before.apiVersion) {
    throw refuse('attempted to change the kind of the object');
  }
  const [oversized] = oversizedMetadata(metadata);
  if (oversized !== undefined) throw refuse(`left an invalid object: ${oversized.field}: ${oversized.message}`);
  const object = decoded(body.type, patched, refuse);
  for (const field of identity) {
    // The options objects of connect requests have no metadata.
    const was = before.metadata?.[field] ?? '';
    // A hook may set the name if it would be generated otherwise.
    const isFree = was === '' && field === 'name';
    if (!isFree && (object.metadata?.[field] ?? '') !== was) throw refuse(`attempted to change metadata.${field}`);
  }
  const isChanged = !deepEqual(before, object);
  versions.applyDefaults(matched.resource, attributes.subresource, object);
  return {
    object: await versions.convert(
      object,
      matched.resource,
      attributes.resource,
      attributes.subresource,
      attributes.context.signal,
    ),
    isChanged,
  };
}

function patchedBody(before: ApiObject, operations: readonly unknown[]): unknown {
  try {
    return applyJsonPatch(before, operations);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    // The message for invalid patches of clients would blame the client.
    throw new WebhookMistake(error.fault, error);
  }
}

function decoded(type: KindType, value: object, refuse: (text: string, fault?: string) => Error): ApiObject {
  try {
    return decode(type, value).value as ApiObject;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw refuse(`left an invalid object: ${error.message}`, unmarshalDetail(type, error));
  }
}
