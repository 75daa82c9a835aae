import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writeFileAtomically } from '../../../base/machinery/files.js';
import { writeCertificateRequest } from '../../../base/machinery/x509/write-certificate-request.js';

/** A request for a certificate, with its key. */
export interface PendingRequest {
  /** Name of the request in the API, which is that of no request with another key or for something else. */
  readonly name: string;
  /** PEM. */
  readonly request: string;
  /** PEM. */
  readonly privateKey: string;
}

/** What a request asks for, and where it is kept. */
export interface RequestedCertificate {
  /** Keeps certificates with their keys. */
  readonly folder: string;
  readonly kind: 'client' | 'server';
  readonly nodeName: string;
  readonly signer: string;
  /** Names and addresses of a server; undefined: the certificate is for no server. */
  readonly hosts: readonly string[] | undefined;
}

/**
 * The request that waits for its certificate, or a new one. It is kept in a file from before it is sent: somebody may approve it when the
 * agent that sent it has long ended, and the next agent must not ask for the same again.
 */
export async function pendingRequest(wanted: RequestedCertificate): Promise<PendingRequest> {
  const kept = await readPending(wanted);
  if (kept !== undefined) return kept;
  const { privateKey: key } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  const { folder, hosts } = wanted;
  const identity = { commonName: `system:node:${wanted.nodeName}`, organizations: ['system:nodes'] };
  const pending: PendingRequest = {
    name: nameOf(wanted, key),
    request: writeCertificateRequest(identity, key, hosts === undefined ? undefined : alternativeNames(hosts)),
    privateKey: String(key.export({ type: 'sec1', format: 'pem' })),
  };
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFileAtomically(fileOf(wanted), `${JSON.stringify(pending)}\n`, 0o600);
  return pending;
}

/** The next request has another key. */
export async function forgetPendingRequest(wanted: RequestedCertificate): Promise<void> {
  await fs.rm(fileOf(wanted), { force: true });
}

/** Undefined also for a file that can't be used, and for a request for something else, such as an earlier address. */
async function readPending(wanted: RequestedCertificate): Promise<PendingRequest | undefined> {
  try {
    const { name, request, privateKey } = JSON.parse(await fs.readFile(fileOf(wanted), 'utf8')) as PendingRequest;
    const isWanted = name === nameOf(wanted, createPrivateKey(privateKey)) && typeof request === 'string';
    return isWanted ? { name, request, privateKey } : undefined;
  } catch {
    return undefined;
  }
}

function fileOf({ folder, kind }: RequestedCertificate): string {
  return join(folder, `kubelet-${kind}-pending.json`);
}

function nameOf({ nodeName, signer, hosts }: RequestedCertificate, key: KeyObject): string {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64');
  const all = JSON.stringify([signer, nodeName, hosts, publicKey]);
  return `csr-${createHash('sha256').update(all).digest('hex').slice(0, 32)}`;
}

function alternativeNames(hosts: readonly string[]) {
  return {
    dnsNames: hosts.filter((host) => isIP(host) === 0),
    ipAddresses: hosts.filter((host) => isIP(host) !== 0),
    emailAddresses: [],
    uris: [],
  };
}
