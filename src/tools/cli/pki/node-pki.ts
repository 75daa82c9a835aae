import type { Clock } from '../../../base/machinery/clock.js';
import { nodeAddresses, sharedLoopback } from '../../../nodes/simulated/node-addresses.js';
import type { CertificateRequest, KeyPair } from './issue-certificate.js';
import { ensurePair, type KeyPairFiles } from './pki.js';

const leafDays = 365;

/** The files by which the server and simulated nodes of one machine verify each other. */
export interface NodePki {
  /** What the server checks the certificates of nodes with. */
  readonly authorityFile: string;
  /** The certificate that the server shows to nodes. */
  readonly clientFiles: KeyPairFiles;
  /** The authority by which nodes verify that certificate. */
  readonly clientAuthority: string;
  /** The certificate of the nodes' own server. */
  readonly server: KeyPair;
}

/** The certificate of a server of nodes at these addresses. */
export function nodeServerRequest(addresses: readonly string[]): CertificateRequest {
  return { commonName: 'plinth-nodes', usage: 'server', names: [...new Set(addresses)], validDays: leafDays };
}

/**
 * Makes the missing ones of these files: an authority, the certificate that the server shows to nodes, and that of the
 * nodes, for as many as `count`. The authority has no other purpose, so no certificate of a user opens the logs on nodes.
 *
 * @throws StartupError for a foreign file that can't be used
 */
export async function ensureNodePki(directory: string, clock: Clock, count: number): Promise<NodePki> {
  const own = { directory, clock };
  const clients = await ensurePair(own, 'node-client-ca', {
    commonName: 'plinth-node-client-ca',
    usage: 'ca',
    validDays: 10 * leafDays,
  });
  const client: CertificateRequest = { commonName: 'plinth', usage: 'client', validDays: leafDays };
  const server = await ensurePair(own, 'nodes', nodeServerRequest(nodeAddresses(sharedLoopback, count)), clients.pair);
  const shown = await ensurePair(own, 'node-client', client, clients.pair);
  return {
    authorityFile: clients.files.certificateFile,
    clientFiles: shown.files,
    clientAuthority: clients.pair.certificate,
    server: server.pair,
  };
}
