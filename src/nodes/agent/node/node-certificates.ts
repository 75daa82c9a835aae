import { generateKeyPair } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Timers } from '../../../base/machinery/timers.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { writeCertificateRequest } from '../../../base/machinery/x509/write-certificate-request.js';
import type { ApiUser } from '../../connection/api-connection.js';
import { certificateInfo } from './certificate-info.js';

/** A certificate with its private key, both PEM. */
export interface CertificatePair {
  readonly certificate: string;
  readonly privateKey: string;
}

/** The purpose of a node certificate: requests to the API, or the node's own server under these names. */
export type CertificatePurpose =
  | { readonly kind: 'client' }
  | { readonly kind: 'server'; readonly hosts: readonly string[] };

/** The API that signs certificates, and the node that they are for. */
export interface CertificateSource {
  readonly api: ApiUser;
  readonly names: VendorNames;
  readonly nodeName: string;
  readonly timers: Timers;
}

interface SigningRequest {
  readonly metadata: { readonly name: string };
  readonly status?: {
    readonly certificate?: string;
    readonly conditions?: readonly { readonly type: string; readonly message?: string }[];
  };
}

const firstPollMs = 1_000;
/** Some requests must be approved by a person. */
const longestPollMs = 15_000;

/** Requests a certificate for a node, and waits until it is approved and signed. @throws Error when it is denied */
export async function requestNodeCertificate(
  { api, names, nodeName, timers }: CertificateSource,
  purpose: CertificatePurpose,
  signal: AbortSignal,
): Promise<CertificatePair> {
  const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  const identity = { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] };
  const group = groupName('certificates', names);
  const path = `/apis/${group}/v1/certificatesigningrequests`;
  const isServer = purpose.kind === 'server';
  const hosts = isServer ? alternativeNames(purpose.hosts) : undefined;
  const body = {
    apiVersion: `${group}/v1`,
    kind: 'CertificateSigningRequest',
    metadata: { generateName: 'csr-' },
    spec: {
      request: Buffer.from(writeCertificateRequest(identity, privateKey, hosts)).toString('base64'),
      signerName: isServer ? names.nodeServingSigner : names.nodeClientSigner,
      usages: ['key encipherment', 'digital signature', isServer ? 'server auth' : 'client auth'],
    },
  };
  const made = await api.send<SigningRequest>('POST', path, { body, signal });
  let pollMs = firstPollMs;
  while (!signal.aborted) {
    const { status } = await api.send<SigningRequest>('GET', `${path}/${made.metadata.name}`, { signal });
    const refused = status?.conditions?.find(({ type }) => type === 'Denied' || type === 'Failed');
    if (refused !== undefined)
      throw new Error(`the request for a certificate was refused: ${refused.message ?? refused.type}`);
    if (status?.certificate) {
      const certificate = Buffer.from(status.certificate, 'base64').toString('utf8');
      return { certificate, privateKey: String(privateKey.export({ type: 'sec1', format: 'pem' })) };
    }
    await timers.wait(pollMs, signal);
    pollMs = Math.min(1.2 * pollMs, longestPollMs);
  }
  throw new Error('stopped');
}

function alternativeNames(hosts: readonly string[]) {
  return {
    dnsNames: hosts.filter((host) => isIP(host) === 0),
    ipAddresses: hosts.filter((host) => isIP(host) !== 0),
    emailAddresses: [],
    uris: [],
  };
}

/** The path that always leads to the newest certificate with its key. */
export function certificatePath(folder: string, kind: CertificatePurpose['kind']): string {
  return join(folder, `kubelet-${kind}-current.pem`);
}

/** Stores a pair in a folder, in one file that is replaced atomically. Returns its path, which stays the same. */
export async function keepCertificate(
  folder: string,
  kind: CertificatePurpose['kind'],
  { certificate, privateKey }: CertificatePair,
  now: number,
): Promise<string> {
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  const time = new Date(now).toISOString().replace(/[:T]/g, '-').slice(0, 19);
  const name = `kubelet-${kind}-${time}.pem`;
  await fs.writeFile(join(folder, name), `${certificate.trimEnd()}\n${privateKey}`, { mode: 0o600 });
  const current = certificatePath(folder, kind);
  const next = `${current}.next`;
  await fs.rm(next, { force: true });
  await fs.symlink(name, next);
  await fs.rename(next, current);
  return current;
}

/** The pair that was stored last; undefined if there is none that is valid for this purpose now. */
export async function keptCertificate(
  folder: string,
  purpose: CertificatePurpose,
  now: number,
): Promise<CertificatePair | undefined> {
  try {
    const text = await fs.readFile(certificatePath(folder, purpose.kind), 'utf8');
    const { from, to, covers } = certificateInfo(text);
    const hosts = purpose.kind === 'server' ? purpose.hosts : [];
    if (now < from || now >= to || !hosts.every(covers)) return undefined;
    return { certificate: text, privateKey: text };
  } catch {
    return undefined;
  }
}
