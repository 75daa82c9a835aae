import { BlockList, isIP, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { TlsSettings } from './tls-settings.js';

/** The actual protection of a connection to the database. */
export interface Protection {
  /** The host as in the URL. */
  readonly host: string;
  /** Whether the connection stays on this machine: a unix socket, or a loopback address. */
  readonly isLocal: boolean;
  /** `TLSv1.3`, or undefined in the clear. */
  readonly protocol: string | undefined;
  /** What was verified about the server's certificate. */
  readonly verified: TlsSettings['verify'];
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');
const mapped = /^::ffff:(?=\d+\.)/i;

/** Inspects an open connection: whether it is local depends on its address, not on the host name. */
export function protectionOf(host: string, stream: Socket | TLSSocket, { verify }: TlsSettings): Protection {
  const protocol = 'getProtocol' in stream ? (stream.getProtocol() ?? undefined) : undefined;
  const address = (stream.remoteAddress ?? '').replace(mapped, '');
  const isLoopback = address !== '' && loopback.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  const verified = protocol === undefined ? 'nothing' : verify;
  return { host, isLocal: host.startsWith('/') || isLoopback, protocol, verified };
}

/** What an attacker on the network could do, and how to prevent it; undefined for a safe connection. */
export function protectionProblem({ host, isLocal, protocol, verified }: Protection): string | undefined {
  if (isLocal || verified === 'name') return undefined;
  if (protocol === undefined) {
    return (
      `the connection to the database on ${host} is not encrypted: whoever is on the way reads and changes everything, ` +
      'Secrets included. Switch TLS on in the database, and use sslmode=verify-full'
    );
  }
  if (verified === 'chain') return undefined;
  return (
    `the connection to the database on ${host} is encrypted, but nobody checks that this is the database: ` +
    'whoever is on the way can take its place. Use sslmode=verify-full, with sslrootcert for an authority of your own'
  );
}
