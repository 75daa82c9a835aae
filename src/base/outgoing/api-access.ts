import type { ClientTls } from './client-config.js';

/** The server to use, and the credentials for it. */
export interface ApiAccess {
  /** An https URL. */
  readonly server: string;
  readonly tls: ClientTls;
  /** The content of the Authorization header, read for every request. */
  readonly authorization: () => Promise<string | undefined>;
}
