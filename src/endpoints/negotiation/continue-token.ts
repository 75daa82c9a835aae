import { createHmac, timingSafeEqual } from 'node:crypto';
import { badRequestError } from '../../machinery/status-error.js';
import type { ListPosition } from '../../storage/storage.interface.js';

/** What a list is about; a token goes on with the same list only. */
export interface ContinueQuery {
  readonly group: string;
  readonly resource: string;
  /** Empty: all namespaces, or a resource without them. */
  readonly namespace: string;
  readonly labelSelector: string;
  readonly fieldSelector: string;
}

/** Where a list goes on. */
export interface ContinuePosition {
  /** Undefined for a token that was given out with a 410: it goes on at whatever is newest then. */
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

/**
 * Makes and reads continue tokens (specification 4.3). They are opaque, say everything about where to go on, and are
 * signed with a key that all processes share: any process takes them at any time, and none takes one that was changed,
 * made by somebody else, or given out for another query.
 */
export class ContinueTokens {
  constructor(private key?: Uint8Array) {}

  /** Called once before the first token, where the key was not at hand yet. */
  useKey(key: Uint8Array): void {
    this.key = key;
  }

  encode(query: ContinueQuery, { version, after }: ContinuePosition): string {
    const body: TokenBody = { v: tokenFormat, rv: String(version ?? ''), ns: after.namespace, name: after.name };
    const text = Buffer.from(JSON.stringify(body));
    return Buffer.concat([this.sign(query, text), text]).toString('base64url');
  }

  /** 400 for what is no token of this query. */
  decode(query: ContinueQuery, token: string): ContinuePosition {
    if (!/^[A-Za-z0-9_-]+={0,2}$/.test(token)) throw invalidToken('not base64');
    const bytes = Buffer.from(token, 'base64url');
    const text = bytes.subarray(macBytes);
    const mac = bytes.subarray(0, macBytes);
    if (mac.length < macBytes || !timingSafeEqual(mac, this.sign(query, text))) {
      throw invalidToken('it was not given out for this list');
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

function invalidToken(detail: string): Error {
  return badRequestError(`invalid continue token: continue key is not valid: ${detail}`);
}
