import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import type { Timers } from '../../../base/machinery/timers.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import type { ApiUser } from '../../connection/api-connection.js';
import { ApiError } from '../../connection/api-error.js';
import { certificateInfo } from './certificate-info.js';
import { forgetPendingRequest, pendingRequest } from './pending-request.js';

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
  /** Keeps certificates and requests for them, with their keys. */
  readonly folder: string;
}

interface SigningRequest {
  readonly spec: { readonly request: string };
  readonly status?: {
    readonly certificate?: string;
    readonly conditions?: readonly { readonly type: string; readonly message?: string }[];
  };
}

const firstPollMs = 1_000;
/** Some requests must be approved by a person. */
const longestPollMs = 15_000;

/**
 * Requests a certificate for a node, and waits until it is approved and signed. A request that an earlier call or process has left pending
 * is waited for in place of a new one.
 *
 * @throws Error when it is denied, or the API does not answer; the next call goes on waiting then
 */
export async function requestNodeCertificate(
  { api, names, nodeName, timers, folder }: CertificateSource,
  purpose: CertificatePurpose,
  signal: AbortSignal,
): Promise<CertificatePair> {
  const isServer = purpose.kind === 'server';
  const signer = isServer ? names.nodeServingSigner : names.nodeClientSigner;
  const wanted = { folder, kind: purpose.kind, nodeName, signer, hosts: isServer ? purpose.hosts : undefined };
  const { name, request, privateKey } = await pendingRequest(wanted);
  const group = groupName('certificates', names);
  const path = `/apis/${group}/v1/certificatesigningrequests`;
  const spec = {
    request: Buffer.from(request).toString('base64'),
    signerName: signer,
    usages: ['key encipherment', 'digital signature', isServer ? 'server auth' : 'client auth'],
  };
  const body = { apiVersion: `${group}/v1`, kind: 'CertificateSigningRequest', metadata: { name }, spec };
  await api.send<SigningRequest>('POST', path, { body, signal }).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
  });
  let pollMs = firstPollMs;
  while (!signal.aborted) {
    const found = await api.send<SigningRequest>('GET', `${path}/${name}`, { signal });
    const problem = problemOf(found, spec.request);
    if (problem !== undefined) {
      await forgetPendingRequest(wanted);
      throw new Error(problem);
    }
    if (found.status?.certificate) {
      await forgetPendingRequest(wanted);
      return { certificate: Buffer.from(found.status.certificate, 'base64').toString('utf8'), privateKey };
    }
    await timers.wait(pollMs, signal);
    pollMs = Math.min(1.2 * pollMs, longestPollMs);
  }
  throw new Error('stopped');
}

/** Why no certificate will come of a request; undefined if one may. */
function problemOf({ spec, status }: SigningRequest, request: string): string | undefined {
  if (spec.request !== request) return 'somebody else has made a request for a certificate under the same name';
  const refused = status?.conditions?.find(({ type }) => type === 'Denied' || type === 'Failed');
  return refused && `the request for a certificate was refused: ${refused.message ?? refused.type}`;
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
