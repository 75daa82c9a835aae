import type { UserInfo } from '../../../base/machinery/request-context.js';
import {
  type AuthenticationRequest,
  type AuthenticationResult,
  type Authenticator,
  noCredentials,
} from '../authenticator.js';
import { HeaderFieldError } from '../header-field-error.js';
import { fieldsWithPrefix, fieldValues, type RequestHead, removeFields, unescapeKey } from '../header-fields.js';
import type { CertificatePool } from '../x509/certificate-pool.js';
import { chainProblem, peerIdentity } from '../x509/client-certificate.authenticator.js';
import type { LiveRevocations } from '../x509/live-revocations.js';
import type { PeerIdentity } from '../x509/peer-identity.js';

/** The header fields in which a proxy names the user. Field names may be in any case. */
export interface RequestHeaderNames {
  /** The first field with a value gives the user name. */
  readonly username: readonly string[];
  readonly uid: readonly string[];
  /** Every value of every field is a group. */
  readonly groups: readonly string[];
  /** Prefixes of field names. The rest of the name, percent-decoded, is the key. */
  readonly extraPrefixes: readonly string[];
}

/**
 * An authenticating proxy in front of the server (specification 5.2), which names the user in header fields. It is
 * trusted because its own client certificate is signed by a CA for proxies, which differs from the CA for users.
 * Anybody can send such fields, so they are accepted only from proxies and removed from every request.
 */
export class RequestHeaderAuthenticator implements Authenticator {
  private readonly names: RequestHeaderNames;
  private readonly isOwnField: (name: string) => boolean;
  private readonly firstSeen = new WeakMap<PeerIdentity, number>();

  /** @param allowedNames common names of proxies; if empty, any certificate of the authority is accepted. */
  constructor(
    names: RequestHeaderNames,
    private readonly allowedNames: readonly string[],
    private readonly pool: CertificatePool,
    private readonly now: () => number,
    private readonly revocations?: Pick<LiveRevocations, 'problem'>,
  ) {
    const lower = (texts: readonly string[]) => texts.map((text) => text.toLowerCase());
    const { username, uid, groups, extraPrefixes } = names;
    this.names = {
      username: lower(username),
      uid: lower(uid),
      groups: lower(groups),
      extraPrefixes: lower(extraPrefixes),
    };
    const fields = new Set([...this.names.username, ...this.names.uid, ...this.names.groups]);
    const prefixes = this.names.extraPrefixes;
    this.isOwnField = (name) => fields.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
  }

  authenticate({ socket, head }: AuthenticationRequest): AuthenticationResult {
    try {
      return this.proxied(peerIdentity(socket), head);
    } finally {
      removeFields(head, this.isOwnField);
    }
  }

  private proxied(peer: PeerIdentity, head: RequestHead): AuthenticationResult {
    if (!peer.isPresent) return noCredentials;
    const { generation } = this.pool;
    if (!this.firstSeen.has(peer)) this.firstSeen.set(peer, generation);
    const now = this.now();
    const problem = chainProblem(peer, this.pool, now) ?? this.revocations?.problem(peer, now);
    // TLS checked the chain against the CA certificates at connection time; a new connection is checked against the
    // current ones.
    if (problem !== undefined) return rejected(problem, this.firstSeen.get(peer) !== generation);
    const [name, ...more] = peer.subject.commonNames;
    const isAllowed = name !== undefined && more.length === 0 && this.allowedNames.includes(name);
    if (this.allowedNames.length > 0 && !isAllowed) {
      return rejected('the client certificate does not belong to an allowed proxy');
    }
    try {
      return this.userOf(head);
    } catch (error) {
      if (error instanceof HeaderFieldError) return rejected(error.message);
      throw error;
    }
  }

  private userOf(head: RequestHead): AuthenticationResult {
    const { username, uid, groups, extraPrefixes } = this.names;
    const name = single(head, username);
    if (name === '') return noCredentials;
    const extra = new Map<string, string[]>();
    for (const prefix of extraPrefixes) {
      for (const [escaped, value] of fieldsWithPrefix(head, prefix)) {
        const key = unescapeKey(escaped);
        if (key === '') continue;
        const values = extra.get(key);
        if (values === undefined) extra.set(key, [value]);
        else values.push(value);
      }
    }
    const user: UserInfo = Object.freeze({
      name,
      uid: single(head, uid),
      groups: Object.freeze([
        ...new Set(groups.flatMap((field) => fieldValues(head, field)).filter((group) => group !== '')),
      ]),
      extra: Object.freeze(Object.fromEntries(extra)),
    });
    return { kind: 'user', user };
  }
}

/**
 * The value of the first field that has one. A repeated field is refused: one of its values may come from a client, if
 * the proxy doesn't remove such fields.
 */
function single(head: RequestHead, fields: readonly string[]): string {
  for (const field of fields) {
    const values = fieldValues(head, field);
    if (values.length > 1) throw new HeaderFieldError(`the header ${field} is given more than once`);
    if (values[0] !== undefined && values[0] !== '') return values[0];
  }
  return '';
}

function rejected(reason: string, reconnect = false): AuthenticationResult {
  return { kind: 'rejected', reason, reconnect };
}
