import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatApiVersion, type GroupVersionKind } from '../../../base/machinery/group-version.js';
import { DecodeError, type KindType } from '../../../base/machinery/schema/index.js';
import { badRequestError } from '../../../base/machinery/status-error.js';
import { type BodyIdentity, checkIdentity, unfitBodyError, unrecognizedError } from './body-errors.js';
import { protobufCodec } from './protobuf-codec.js';

/** The checked content of an envelope. */
interface OpenedBody extends BodyIdentity {
  readonly raw: Uint8Array;
}

/** Opens the envelope; throws a 400 if there is none, or if it contains something other than plain protobuf. */
function openBody(kind: string, body: Buffer): OpenedBody {
  try {
    const envelope = protobufCodec().decodeEnvelope(body);
    if (envelope.raw.length === 0 && envelope.kind === '') throw new DecodeError('', 'the protobuf envelope is empty');
    if (envelope.contentEncoding !== '') {
      throw new DecodeError('', `content encoding ${JSON.stringify(envelope.contentEncoding)} is not supported`);
    }
    if (envelope.contentType !== '' && !envelope.contentType.endsWith('.protobuf')) {
      throw new DecodeError('', `content type ${JSON.stringify(envelope.contentType)} is not supported`);
    }
    return envelope;
  } catch (error) {
    if (error instanceof DecodeError) throw unrecognizedError(kind, error.message, body, error);
    throw error;
  }
}

/** As {@link openBody}, with the message for options that are no protobuf at all. */
function openOptions(kind: string, body: Buffer): OpenedBody {
  try {
    return openBody(kind, body);
  } catch (error) {
    const { cause } = error as Error;
    if (cause instanceof DecodeError && !protobufCodec().isEnvelope(body)) throw badRequestError(cause.message, cause);
    throw error;
  }
}

/** Decodes a protobuf body into a canonical object of `type`; throws a 400 when it is invalid. */
export function decodeProtobufObject(type: KindType, expected: GroupVersionKind, body: Buffer): ApiObject {
  const opened = openBody(expected.kind, body);
  checkIdentity(opened, expected);
  try {
    const message = protobufCodec().decodeProtobuf(type, opened.raw) as ApiObject;
    return { ...message, kind: expected.kind, apiVersion: formatApiVersion(expected) };
  } catch (error) {
    if (error instanceof DecodeError) throw unfitBodyError(opened, expected, error.message, error);
    throw error;
  }
}

/**
 * Decodes the protobuf options of a request. Clients send them under the version of the group they use, so only the
 * kind must match.
 */
export function decodeProtobufOptions(type: KindType, body: Buffer): Record<string, unknown> {
  const expected = type.kind;
  const opened = openOptions(expected.kind, body);
  checkIdentity({ kind: opened.kind, apiVersion: '' }, expected);
  try {
    return protobufCodec().decodeProtobuf(type, opened.raw) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof DecodeError) throw unfitBodyError(opened, expected, error.message, error);
    throw error;
  }
}
