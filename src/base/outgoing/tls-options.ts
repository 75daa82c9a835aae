import type { ConnectionOptions } from 'node:tls';
import type { ClientTls } from './client-config.js';

/** How every client of this program verifies servers and identifies itself. */
export function tlsOptions({ ca, cert, key, serverName, insecureSkipVerify }: ClientTls): ConnectionOptions {
  return {
    minVersion: 'TLSv1.2',
    rejectUnauthorized: !insecureSkipVerify,
    // A server's own certificate, or that of an intermediate CA, may serve as the trust anchor, as in other clients.
    ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
    ...(cert === undefined ? {} : { cert, key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  };
}
