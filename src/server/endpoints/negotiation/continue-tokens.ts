import { createHmac, timingSafeEqual } from 'node:crypto';
import { badRequestError } from '../../../base/machinery/status-error.js';
import type { ListPosition } from '../../../storage/storage.interface.js';
import { unfitJson } from './body-errors.js';
import { jsonErrorText } from './decode-body.js';

/** The query of a list; a token continues only the same list. */
export interface ContinueQuery {
  readonly group: string;
  readonly resource: string;
  /** Empty for all namespaces, or for a cluster-scoped resource. */
  readonly namespace: string;
  readonly labelSelector: string;
  readonly fieldSelector: string;
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
  readonly ns: string;
  readonly name: string;
}

const tokenFormat = 'p2';
const macBytes = 16;
/** The format of the tokens of other servers. */
const foreignFormat = 'meta.k8s.io/v1';
/** Their fields, with the types of the values in JSON and upstream's names of these types. */
const foreignFields = [
  ['v', 'string', 'string'],
  ['rv', 'number', 'int64'],
] as const;
const notGivenOut = 'it was not given out for this list';

/**
 * Makes and reads continue tokens (specification 4.3). They are opaque, contain the whole position, and are signed with
 * a key that all processes share. Any process accepts a token at any time, unless the token was changed, forged or
 * issued for another query.
 */
export class ContinueTokens {
  constructor(private key?: Uint8Array) {}

  /** Sets the key before the first token, if it was not known at construction. */
  useKey(key: Uint8Array): void {
    this.key = key;
  }

  encode(query: ContinueQuery, { version, after }: ContinuePosition): string {
    const body: TokenBody = { v: tokenFormat, rv: String(version ?? ''), ns: after.namespace, name: after.name };
    const text = Buffer.from(JSON.stringify(body));
    return Buffer.concat([this.sign(query, text), text]).toString('base64url');
  }

  /** Decodes a token; throws a 400 if it does not belong to this query. */
  decode(query: ContinueQuery, token: string): ContinuePosition {
    const illegal = illegalByte(token);
    if (illegal >= 0) throw invalidToken(`illegal base64 data at input byte ${illegal}`);
    const bytes = Buffer.from(token, 'base64url');
    const text = bytes.subarray(macBytes);
    const mac = bytes.subarray(0, macBytes);
    if (mac.length < macBytes || !timingSafeEqual(mac, this.sign(query, text))) {
      throw invalidToken(faultOfForeign(bytes));
    }
    const body = JSON.parse(text.toString('utf8')) as TokenBody;
    if (body.v !== tokenFormat) throw invalidToken('unknown format');
    const version = body.rv === '' ? undefined : BigInt(body.rv);
    return { version, after: { namespace: body.ns, name: body.name } };
  }

  private sign(query: ContinueQuery, text: Uint8Array): Buffer {
    const { group, resource, namespace, labelSelector, fieldSelector } = query;
    const bound = JSON.stringify([group, resource, namespace, labelSelector, fieldSelector]);
    if (this.key === undefined) throw new Error('the key of continue tokens is not known yet');
    return createHmac('sha256', this.key).update(`${bound}\n`).update(text).digest().subarray(0, macBytes);
  }
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
