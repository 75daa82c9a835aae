import { DeniedAddressError } from './denied-address-error.js';
import { ServiceFault } from './service-fault.js';

const unknownAuthority = 'x509: certificate signed by unknown authority';
const outdated = 'x509: certificate has expired or is not yet valid';

const tlsReasons: Readonly<Record<string, string>> = {
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  CERT_HAS_EXPIRED: outdated,
  CERT_NOT_YET_VALID: outdated,
};

/** Why there was no response, in the words that operators search for. */
export function connectionReason(
  error: NodeJS.ErrnoException & { address?: string; port?: number; errors?: Error[] },
): string {
  if (error instanceof DeniedAddressError || error instanceof ServiceFault) return error.message;
  const [first] = error.errors ?? [];
  if (first !== undefined) return connectionReason(first);
  const { code = '', message } = error;
  const where = error.address === undefined ? '' : ` ${error.address}:${error.port}`;
  if (code === 'ECONNREFUSED') return `dial tcp${where}: connect: connection refused`;
  if (code === 'EHOSTUNREACH') return `dial tcp${where}: connect: no route to host`;
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${(error as { hostname?: string }).hostname}: no such host`;
  // The other side closed the connection where a response was expected.
  if (message === 'socket hang up') return 'EOF';
  if (code === 'ECONNRESET') return 'read: connection reset by peer';
  return tlsReasons[code] ?? message;
}
