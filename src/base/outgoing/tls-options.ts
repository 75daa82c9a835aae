import type { ConnectionOptions } from 'node:tls';
import type { ClientTls } from './client-config.js';

/** How every client of this program checks servers, and identifies itself. */
export function tlsOptions({ ca, cert, key, serverName, insecureSkipVerify }: ClientTls): ConnectionOptions {
  return {
    minVersion: 'TLSv1.2',
    rejectUnauthorized: !insecureSkipVerify,
    // A server's own certificate, or that of an intermediate authority, may be trusted alone, as other clients do.
    ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
    ...(cert === undefined ? {} : { cert, key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  };
}
