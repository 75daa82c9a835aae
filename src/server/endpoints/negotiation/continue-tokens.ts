import { createHmac, timingSafeEqual } from 'node:crypto';
import { badRequestError, expiredError } from '../../../base/machinery/status-error.js';
import type { ListPosition } from '../../../storage/storage.interface.js';
import { unfitJson } from './body-errors.js';
import { jsonErrorText } from './decode-body.js';

/** The scope of a list, which says what a token's place is relative to. */
export interface ContinueScope {
  /** Empty for all namespaces, or for a cluster-scoped resource. */
  readonly namespace: string;
  /** Whether the objects have a namespace. */
  readonly namespaced: boolean;
}

/** The position where a list continues. */
export interface ContinuePosition {
  /** Undefined for a token from a 410: it continues at the newest version at that time. */
  readonly version: bigint | undefined;
  readonly after: ListPosition;
}

interface TokenBody {
  readonly v: string;
  readonly rv: string;
  /** What follows the scope of the list in the key of the last object: its name, or namespace, slash and name. */
  readonly start: string;
}

const tokenFormat = 'p3';
/** The format of the releases before: its tokens ended with the list that they were given out for. */
const oldFormat = '{"v":"p2"';
const oldToken = 'the continue token is of an earlier release: start a new list without it';
const macBytes = 16;
/** The format of the tokens of other servers. */
const foreignFormat = 'meta.k8s.io/v1';
/** Their fields, with the types of the values in JSON and upstream's names of these types. */
const foreignFields = [
  ['v', 'string', 'string'],
  ['rv', 'number', 'int64'],
] as const;
const notGivenOut = 'it was not given out by this server';

/**
 * Makes and reads continue tokens (specification 4.3). They are opaque, contain the whole position, and are signed with
 * a key that all processes share. Any process accepts a token at any time, unless the token was changed or forged. In
 * a list of another scope or kind a token means the same place, relative to that scope.
 */
export class ContinueTokens {
  constructor(private key?: Uint8Array) {}

  /** Sets the key before the first token, if it was not known at construction. */
  useKey(key: Uint8Array): void {
    this.key = key;
  }

  encode(scope: ContinueScope, { version, after }: ContinuePosition): string {
    const start = spansNamespaces(scope) ? `${after.namespace}/${after.name}` : after.name;
    const body: TokenBody = { v: tokenFormat, rv: String(version ?? ''), start };
    const text = Buffer.from(JSON.stringify(body));
    return Buffer.concat([this.sign(text), text]).toString('base64url');
  }

  /** Decodes a token; throws a 400 for one that this server did not make, a 410 for one of a release before. */
  decode(scope: ContinueScope, token: string): ContinuePosition {
    const illegal = illegalByte(token);
    if (illegal >= 0) throw invalidToken(`illegal base64 data at input byte ${illegal}`);
    const bytes = Buffer.from(token, 'base64url');
    const text = bytes.subarray(macBytes);
    const mac = bytes.subarray(0, macBytes);
    if (text.toString('latin1', 0, oldFormat.length) === oldFormat) throw expiredError(oldToken);
    if (mac.length < macBytes || !timingSafeEqual(mac, this.sign(text))) {
      throw invalidToken(faultOfForeign(bytes));
    }
    const body = JSON.parse(text.toString('utf8')) as TokenBody;
    if (body.v !== tokenFormat) throw invalidToken('unknown format');
    return { version: body.rv === '' ? undefined : BigInt(body.rv), after: placeIn(scope, body.start) };
  }

  private sign(text: Uint8Array): Buffer {
    if (this.key === undefined) throw new Error('the key of continue tokens is not known yet');
    return createHmac('sha256', this.key).update(text).digest().subarray(0, macBytes);
  }
}

function spansNamespaces({ namespace, namespaced }: ContinueScope): boolean {
  return namespaced && namespace === '';
}

/** The place in a scope, where objects are in the order of their keys. */
function placeIn(scope: ContinueScope, start: string): ListPosition {
  if (!spansNamespaces(scope)) return { namespace: scope.namespace, name: start };
  const slash = start.indexOf('/');
  // A place without a namespace is in front of everything in the namespace of that name.
  if (slash < 0) return { namespace: start, name: '' };
  return { namespace: start.slice(0, slash), name: start.slice(slash + 1) };
}

/** The first byte of a text that no base64 has, padding included; -1 if there is none. */
function illegalByte(text: string): number {
  const found = text.search(/[^A-Za-z0-9_-]/);
  // A single letter at the end has too few bits for a byte.
  return found < 0 && text.length % 4 === 1 ? text.length - 1 : found;
}

/** The message for a token of another server. Those are JSON, and programs know what is wrong with one. */
function faultOfForeign(bytes: Buffer): string {
  const isOwn = bytes.toString('latin1', macBytes).startsWith('{"v":');
  if (isOwn) return notGivenOut;
  const text = bytes.toString('utf8');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    return jsonErrorText(error, text);
  }
  if (body !== null && (typeof body !== 'object' || Array.isArray(body))) {
    return unfitJson(body, 'storage.continueToken');
  }
  const fields = (body ?? {}) as { v?: unknown; rv?: unknown };
  for (const [name, wanted, type] of foreignFields) {
    const value = Object.hasOwn(fields, name) ? fields[name] : null;
    if (value === null || typeof value === wanted) continue;
    return unfitJson(value, type).replace('Go value', `Go struct field continueToken.${name}`);
  }
  const { v, rv } = fields;
  if (v !== foreignFormat) return `server does not recognize this encoded version ${v ?? ''}`;
  return rv === 0 ? `incorrect encoded start resourceVersion (version ${foreignFormat})` : notGivenOut;
}

function invalidToken(detail: string): Error {
  return badRequestError(`invalid continue token: continue key is not valid: ${detail}`);
}
