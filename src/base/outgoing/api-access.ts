import type { ClientTls } from './client-config.js';

/** The credentials that a request presents. */
export interface Credentials {
  /** TLS settings; the same object until the certificates change. */
  readonly tls: ClientTls;
  /** The content of the Authorization header. */
  readonly authorization: string | undefined;
}

/** The server to use, and the credentials for it. */
export interface ApiAccess {
  /** An https URL. */
  readonly server: string;
  /** How to verify the server, and the client certificate, as first read. */
  readonly tls: ClientTls;
  /** The credentials for the next request. */
  readonly present: () => Promise<Credentials>;
  /** After a 401: whether the current credentials differ from the refused ones, so that a retry makes sense. */
  readonly renew: (refused: Credentials) => Promise<boolean>;
}

/** Access with credentials that never change. */
export function fixedAccess(server: string, tls: ClientTls, authorization?: string): ApiAccess {
  const credentials: Credentials = { tls, authorization };
  return { server, tls, present: async () => credentials, renew: async () => false };
}
