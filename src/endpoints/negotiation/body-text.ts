import { LargeYamlParser } from './large-yaml.js';

/** Documents from this size on are parsed in another thread. */
const largeYamlBytes = 16 * 1024;

const largeYaml = new LargeYamlParser({
  idleMs: 30_000,
  maxWaiting: 50,
  maxJsonLength: 8 * 2 ** 20,
});

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Text of a body; throws a SyntaxError that suits a client. */
export function decodeUtf8(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch (cause) {
    throw new SyntaxError('the body is not valid UTF-8', { cause });
  }
}

const faults = new WeakMap<Buffer, SyntaxError>();

/** What was found wrong with a body when it was read. */
export function faultOfBody(body: Buffer): SyntaxError | undefined {
  return faults.get(body);
}

const duplicateKeys = new WeakMap<Buffer, readonly string[]>();

/** Paths of keys that stood twice in one object of a body before it was turned into JSON. */
export function duplicateKeysOf(body: Buffer): readonly string[] {
  return duplicateKeys.get(body) ?? [];
}

/**
 * A body as handlers parse it: large YAML is turned into JSON, which is valid YAML and takes next to no time. What is
 * wrong with it is kept for the one who parses it, who knows how to answer. Rejects with a 429 when the server has too
 * much of such work.
 */
export async function prepareBody(body: Buffer, contentType: string | undefined): Promise<Buffer> {
  if (body.length < largeYamlBytes || !isYaml(contentType) || startsAsJson(body)) return body;
  try {
    const duplicates: string[] = [];
    const json = Buffer.from(await largeYaml.toJson(decodeUtf8(body), duplicates));
    if (duplicates.length > 0) duplicateKeys.set(json, duplicates);
    return json;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    faults.set(body, error);
    return body;
  }
}

/** Whether a body is JSON by its type, or at least by what is in it. */
export function isJson(body: Buffer, contentType: string | undefined): boolean {
  return isYaml(contentType) ? startsAsJson(body) : !/protobuf/i.test(contentType ?? '');
}

function isYaml(contentType = ''): boolean {
  return /^application\/(?:yaml|apply-patch\+yaml)\s*(?:;|$)/i.test(contentType.trim());
}

/** Most clients send JSON, also where YAML is meant. Whether it really is, the other thread need not find out. */
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
