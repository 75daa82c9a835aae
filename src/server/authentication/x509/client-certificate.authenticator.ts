import { X509Certificate } from 'node:crypto';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import { Asn1Error } from '../../../base/machinery/x509/asn1-error.js';
import { readName, type SubjectNames } from '../../../base/machinery/x509/distinguished-name.js';
import { readCertificate } from '../../../base/machinery/x509/read-certificate.js';
import {
  type AuthenticationRequest,
  type AuthenticationResult,
  type Authenticator,
  noCredentials,
} from '../authenticator.js';
import { type CertificatePool, signedChain } from './certificate-pool.js';
import type { LiveRevocations } from './live-revocations.js';
import type { PeerIdentity } from './peer-identity.js';

const clientAuthUsage = '1.3.6.1.5.5.7.3.2';

const peers = new WeakMap<TLSSocket, PeerIdentity>();

/**
 * Reads the result of TLS client verification, once per connection. TLS checked chain, dates and key usage against all
 * CA certificates that the listener knows, so callers must check whether the chain ends in one of their own. TLS
 * doesn't report the path it used. Hence the signatures of the chain are verified again here; matching names alone
 * could lead to the wrong CA.
 */
export function peerIdentity(socket: TLSSocket): PeerIdentity {
  let peer = peers.get(socket);
  if (peer === undefined) {
    peer = readPeer(socket);
    peers.set(socket, peer);
  }
  return peer;
}

/** Why a peer's chain is not valid for a pool at the given time; undefined when it is. */
export function chainProblem(peer: PeerIdentity, pool: CertificatePool, now: number): string | undefined {
  if (peer.problem !== undefined) return `the client certificate is not valid: ${peer.problem}`;
  if (now > peer.validUntil) return 'the client certificate has expired';
  if (now < peer.validFrom) return 'the client certificate is not valid yet';
  return pool.trusts(peer.chain) ? undefined : 'the client certificate is from an unknown authority';
}

/**
 * Client certificates: the common name is the user, each organization a group (specification 5.2). Connections can
 * outlive certificates and CAs, so dates, CA and revocation are checked for every request.
 */
export class ClientCertificateAuthenticator implements Authenticator {
  private readonly users = new WeakMap<PeerIdentity, AuthenticationResult>();
  private readonly accepted = new WeakMap<PeerIdentity, number>();
  private readonly firstSeen = new WeakMap<PeerIdentity, number>();

  constructor(
    private readonly pool: CertificatePool,
    private readonly now: () => number,
    /** Called for each use of an accepted certificate. */
    private readonly counter?: { certificateUsed(secondsLeft: number): void },
    private readonly revocations?: Pick<LiveRevocations, 'problem'>,
  ) {}

  authenticate({ socket }: AuthenticationRequest): AuthenticationResult {
    const peer = peerIdentity(socket);
    if (!peer.isPresent) return noCredentials;
    const { generation } = this.pool;
    if (!this.firstSeen.has(peer)) this.firstSeen.set(peer, generation);
    const now = this.now();
    const isKnown = this.accepted.get(peer) === generation && now >= peer.validFrom && now <= peer.validUntil;
    if (!isKnown) {
      const reason = chainProblem(peer, this.pool, now);
      // TLS checked the chain against the CA certificates at connection time; a new connection is checked against the
      // current ones.
      if (reason !== undefined) return { kind: 'rejected', reason, reconnect: this.firstSeen.get(peer) !== generation };
      this.accepted.set(peer, generation);
    }
    const revoked = this.revocations?.problem(peer, now);
    if (revoked !== undefined) return { kind: 'rejected', reason: revoked };
    this.counter?.certificateUsed((peer.validUntil - now) / 1000);
    let user = this.users.get(peer);
    if (user === undefined) {
      user = userOf(peer.subject);
      this.users.set(peer, user);
    }
    return user;
  }
}

const nobody: SubjectNames = { commonNames: [], organizations: [] };
const noChain = { subject: nobody, chain: [], validFrom: 0, validUntil: 0 };

function readPeer(socket: TLSSocket): PeerIdentity {
  const certificate = socket.getPeerCertificate?.(true) as DetailedPeerCertificate | undefined;
  if (certificate?.raw === undefined) return { ...noChain, isPresent: false, problem: undefined };
  const refused = (problem: string) => ({ ...noChain, isPresent: true, problem });
  if (!socket.authorized) return refused(String(socket.authorizationError));
  const usages = certificate.ext_key_usage ?? [];
  if (usages.length > 0 && !usages.includes(clientAuthUsage)) return refused('it is not for client authentication');
  let subject: SubjectNames;
  try {
    subject = namesOf(certificate.raw);
  } catch (error) {
    if (!(error instanceof Asn1Error)) throw error;
    return refused(error.message);
  }
  const chain = signedChain(chainOf(certificate));
  return {
    isPresent: true,
    subject,
    problem: undefined,
    chain,
    validFrom: Math.max(...chain.map(({ validFrom }) => Date.parse(validFrom))),
    validUntil: Math.min(...chain.map(({ validTo }) => Date.parse(validTo))),
  };
}

/**
 * Reads the name from the raw bytes, as for certificate requests. Node's string form of a name can look like another
 * name.
 */
function namesOf(der: Buffer): SubjectNames {
  return readName(readCertificate(der).subject);
}

function chainOf(end: DetailedPeerCertificate): X509Certificate[] {
  const chain: X509Certificate[] = [];
  const seen = new Set<DetailedPeerCertificate>();
  let at: DetailedPeerCertificate | undefined = end;
  // Stops at the root, which is its own issuer.
  while (at?.raw !== undefined && !seen.has(at)) {
    seen.add(at);
    chain.push(new X509Certificate(at.raw));
    at = at.issuerCertificate;
  }
  return chain;
}

function userOf({ commonNames, organizations }: SubjectNames): AuthenticationResult {
  const [name, ...more] = commonNames;
  // A subject with two common names is ambiguous and identifies nobody.
  if (name === undefined || name === '' || more.length > 0) {
    return { kind: 'rejected', reason: 'the client certificate has no single common name' };
  }
  const groups = Object.freeze([...new Set(organizations)]);
  const user: UserInfo = Object.freeze({ name, uid: '', groups, extra: Object.freeze({}) });
  return Object.freeze({ kind: 'user', user });
}
