import { type DuplicateFields, noDuplicates } from './duplicates.js';
import { LargeYamlParser } from './large-yaml-parser.js';

/** YAML documents of at least this size are parsed in another thread. */
const largeYamlBytes = 16 * 1024;

const largeYaml = new LargeYamlParser({
  idleMs: 30_000,
  maxWaiting: 50,
  maxJsonLength: 8 * 2 ** 20,
});

// A mark of the byte order is kept: JSON has none, and the parser of YAML skips it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes a body; throws a SyntaxError whose message can be shown to clients. */
export function decodeUtf8(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch (cause) {
    throw new SyntaxError('the body is not valid UTF-8', { cause });
  }
}

const faults = new WeakMap<Buffer, SyntaxError>();

/** The fault that was found when the body was read. */
export function faultOfBody(body: Buffer): SyntaxError | undefined {
  return faults.get(body);
}

const duplicateKeys = new WeakMap<Buffer, DuplicateFields>();

/** The duplicate keys that a body had before it was converted to JSON. */
export function duplicateKeysOf(body: Buffer): DuplicateFields | undefined {
  return duplicateKeys.get(body);
}

/**
 * Prepares a body for parsing by handlers: large YAML is converted to JSON, which is valid YAML and fast to parse. A
 * fault is kept for the handler that parses the body, which knows how to respond. Rejects with a 429 when too many
 * documents wait for conversion.
 */
export async function prepareBody(body: Buffer, contentType: string | undefined): Promise<Buffer> {
  if (body.length < largeYamlBytes || !isYaml(contentType) || startsAsJson(body)) return body;
  try {
    const duplicates = noDuplicates();
    const json = Buffer.from(await largeYaml.toJson(decodeUtf8(body), duplicates));
    duplicateKeys.set(json, duplicates);
    return json;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    faults.set(body, error);
    return body;
  }
}

/** Whether a body is JSON according to its Content-Type or its content. */
export function isJson(body: Buffer, contentType: string | undefined): boolean {
  return isYaml(contentType) ? startsAsJson(body) : !/protobuf|cbor/i.test(contentType ?? '');
}

function isYaml(contentType = ''): boolean {
  return /^application\/(?:yaml|apply-patch\+yaml)\s*(?:;|$)/i.test(contentType.trim());
}

/**
 * Whether a body is a JSON object. Most clients send JSON, even with a YAML type; such bodies don't need the other
 * thread.
 */
function startsAsJson(body: Buffer): boolean {
  const first = body.subarray(0, 64).toString('latin1').trimStart();
  if (!first.startsWith('{')) return false;
  try {
    JSON.parse(decodeUtf8(body));
    return true;
  } catch {
    return false;
  }
}
