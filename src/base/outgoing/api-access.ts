import type { ClientTls } from './client-config.js';

/** What a request shows. */
export interface Credentials {
  /** The same object until the certificates change. */
  readonly tls: ClientTls;
  /** The content of the Authorization header. */
  readonly authorization: string | undefined;
}

/** The server to use, and the credentials for it. */
export interface ApiAccess {
  /** An https URL. */
  readonly server: string;
  /** How to verify the server, and the client certificate, as they were when they were read first. */
  readonly tls: ClientTls;
  /** What the next request shows. */
  readonly present: () => Promise<Credentials>;
  /** After a 401: whether there are other credentials now than those that were refused, so that a second try makes sense. */
  readonly renew: (refused: Credentials) => Promise<boolean>;
}

/** Access with credentials that never change. */
export function fixedAccess(server: string, tls: ClientTls, authorization?: string): ApiAccess {
  const credentials: Credentials = { tls, authorization };
  return { server, tls, present: async () => credentials, renew: async () => false };
}
