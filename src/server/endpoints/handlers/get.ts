import { largeLimits, throwIfLarge } from '../../../base/machinery/large-work.js';
import { turnFor } from '../../../base/machinery/pieces-in-turn.js';
import { badRequestError } from '../../../base/machinery/status-error.js';
import { parseResourceVersion } from '../../../objects/registry/store/object-codec.js';
import type { StoredObject } from '../../../storage/storage.interface.js';
import { type AcceptedType, wantsPretty } from '../negotiation/accept.js';
import { negotiateObject } from '../negotiation/answer-form.js';
import { itemForm, shownItem } from '../negotiation/item-form.js';
import { messageStart } from '../negotiation/protobuf-answer.js';
import { protobufCodec } from '../negotiation/protobuf-codec.js';
import { sendBytes, sendObject, sendsStoredText } from '../negotiation/respond.js';
import { throwIfWaiting } from '../request-info/large-room.js';
import { isTrue } from '../request-info/request-info.js';
import type { ResourceRequest } from '../resource-request.js';

/**
 * GET and HEAD of one object, or of a subresource that shows it. Returns the newest committed state, or any state at
 * least as new as the version that the client names.
 */
export async function handleGet(request: ResourceRequest): Promise<void> {
  const { context, resource, subresource } = request;
  const accepted = negotiateObject(request);
  const exported = context.query.get('export');
  if (exported !== null && isTrue(exported)) {
    throw badRequestError('the export parameter, deprecated since v1.14, is no longer supported');
  }
  const asked = context.query.get('resourceVersion') ?? '';
  const notOlderThan = parseResourceVersion(asked) ?? (asked === '0' ? 0n : undefined);
  throwIfWaiting(context);
  const found = await request.store.get(request.namespace, request.name, notOlderThan);
  const room = context.makeRoom(found.json.length);
  if (room !== undefined) await room;
  if (sendKeptProtobuf(request, found, accepted)) return;
  const pretty = accepted.pretty || wantsPretty(context.query, context.userAgent);
  if (subresource?.type === 'view' || !sendsStoredText(accepted, resource, pretty)) {
    throwIfLarge(context, found.json);
    const turn = turnFor(context, found.json.length);
    if (turn !== undefined) await turn;
  }
  await sendObject(request, 200, found, accepted);
}

/** Sends an object in protobuf as lists have it, if it is in memory; returns false, and sends nothing, otherwise. */
function sendKeptProtobuf(request: ResourceRequest, found: StoredObject, accepted: AcceptedType): boolean {
  const { services, context, resource, subresource, store } = request;
  if (accepted.mediaType !== 'protobuf' || accepted.as !== undefined || subresource !== undefined) return false;
  if (context.audit?.wantsResponseObject === true || found.json.length > largeLimits.small) return false;
  const shared = store.shared(request.namespace, request.name, found.resourceVersion);
  if (shared === undefined) return false;
  const form = itemForm(services, resource, accepted);
  const item = shownItem(resource, form, shared.object, shared.forms, { characters: 0 });
  const message = item.source.subarray(messageStart(item), item.end);
  const body = protobufCodec().encodeEnvelope(resource.apiVersion, resource.definition.kind, message);
  sendBytes(request, 200, accepted.contentType, body);
  return true;
}
