import type { PeerCertificate, TLSSocket } from 'node:tls';
import type { UserInfo } from '../../machinery/request-context.js';
import {
  type AuthenticationRequest,
  type AuthenticationResult,
  type Authenticator,
  noCredentials,
} from '../authenticator.js';

const clientAuthUsage = '1.3.6.1.5.5.7.3.2';

/**
 * Client certificates: the common name is the user, each organization a group (specification 5.2). TLS has verified
 * chain and dates against the client CA (`socket.authorized`); this adds the key usage. A connection keeps its
 * certificate, so the result is kept with the socket; expiry is checked again on every request, since connections
 * outlive certificates.
 */
export class ClientCertificateAuthenticator implements Authenticator {
  private readonly bySocket = new WeakMap<TLSSocket, { result: AuthenticationResult; validUntil: number }>();

  authenticate({ socket }: AuthenticationRequest): AuthenticationResult {
    let known = this.bySocket.get(socket);
    if (known === undefined) {
      known = readCertificate(socket);
      this.bySocket.set(socket, known);
    }
    if (known.result.kind === 'user' && Date.now() > known.validUntil) {
      return { kind: 'rejected', reason: 'the client certificate has expired' };
    }
    return known.result;
  }
}

function readCertificate(socket: TLSSocket): { result: AuthenticationResult; validUntil: number } {
  const certificate = socket.getPeerCertificate?.() as PeerCertificate | undefined;
  const none = { result: noCredentials, validUntil: 0 };
  if (certificate === undefined || Object.keys(certificate).length === 0) return none;
  if (!socket.authorized) {
    return { result: { kind: 'rejected', reason: `client certificate: ${socket.authorizationError}` }, validUntil: 0 };
  }
  const usages = certificate.ext_key_usage ?? [];
  if (!usages.includes(clientAuthUsage)) {
    return { result: { kind: 'rejected', reason: 'the certificate is not for client authentication' }, validUntil: 0 };
  }
  const name = single(certificate.subject?.CN);
  if (name === undefined || name === '') {
    return { result: { kind: 'rejected', reason: 'the certificate has no common name' }, validUntil: 0 };
  }
  const user: UserInfo = Object.freeze({
    name,
    uid: '',
    groups: Object.freeze(several(certificate.subject?.O)),
    extra: Object.freeze({}),
  });
  return { result: { kind: 'user', user }, validUntil: Date.parse(certificate.valid_to) };
}

/** A subject with two common names is ambiguous and names nobody. */
function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? undefined : value;
}

function several(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
