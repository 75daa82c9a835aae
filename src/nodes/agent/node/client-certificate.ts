import { generateKeyPair, X509Certificate } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errorText } from '../../../base/machinery/startup-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { writeCertificateRequest } from '../../../base/machinery/x509/write-certificate-request.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { ApiUser } from '../../connection/api-connection.js';

/** A certificate with its private key, both PEM. */
export interface ClientPair {
  readonly certificate: string;
  readonly privateKey: string;
}

interface SigningRequest {
  readonly metadata: { readonly name: string };
  readonly status?: {
    readonly certificate?: string;
    readonly conditions?: readonly { readonly type: string; readonly message?: string }[];
  };
}

const pollMs = 1_000;
/** Certificates are renewed after this part of their life, and some time more so that not all nodes ask at once. */
const usedUp = 0.7;
const spread = 0.2;
const currentName = 'kubelet-client-current.pem';

/** Asks the API for a client certificate of a node, and waits until it is approved and signed. @throws Error when it is denied */
export async function requestClientCertificate(
  api: ApiUser,
  names: VendorNames,
  nodeName: string,
  timers: Timers,
  signal: AbortSignal,
): Promise<ClientPair> {
  const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  const identity = { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] };
  const group = groupName('certificates', names);
  const path = `/apis/${group}/v1/certificatesigningrequests`;
  const body = {
    apiVersion: `${group}/v1`,
    kind: 'CertificateSigningRequest',
    metadata: { generateName: 'csr-' },
    spec: {
      request: Buffer.from(writeCertificateRequest(identity, privateKey)).toString('base64'),
      signerName: names.nodeClientSigner,
      usages: ['key encipherment', 'digital signature', 'client auth'],
    },
  };
  const made = await api.send<SigningRequest>('POST', path, { body, signal });
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
  }
  throw new Error('stopped');
}

/** Keeps a pair in a folder, in one file that is exchanged as a whole. Returns its path, which stays the same. */
export async function keepClientPair(
  folder: string,
  { certificate, privateKey }: ClientPair,
  now: number,
): Promise<string> {
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  const time = new Date(now).toISOString().replace(/[:T]/g, '-').slice(0, 19);
  const name = `kubelet-client-${time}.pem`;
  await fs.writeFile(join(folder, name), `${certificate.trimEnd()}\n${privateKey}`, { mode: 0o600 });
  const current = join(folder, currentName);
  const next = `${current}.next`;
  await fs.rm(next, { force: true });
  await fs.symlink(name, next);
  await fs.rename(next, current);
  return current;
}

export function clientPairPath(folder: string): string {
  return join(folder, currentName);
}

export interface RotationDependencies {
  readonly api: ApiUser;
  readonly names: VendorNames;
  readonly nodeName: string;
  readonly folder: string;
  /** The certificate in use, PEM. */
  readonly present: string;
  /** Uses a new pair from now on. */
  readonly use: (pair: ClientPair) => void;
  readonly timers: Timers;
  readonly random: () => number;
  readonly logger: Logger;
}

/** Renews the client certificate of a node before it ends, again and again until the abort. */
export async function rotateClientCertificate(dependencies: RotationDependencies, signal: AbortSignal): Promise<void> {
  const { api, names, nodeName, folder, use, timers, random, logger } = dependencies;
  let { present } = dependencies;
  while (!signal.aborted) {
    const { validFrom, validTo } = new X509Certificate(present);
    const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
    await timers.wait(Math.max(0, from + (to - from) * (usedUp + spread * random()) - timers.now()), signal);
    if (signal.aborted) return;
    try {
      const pair = await requestClientCertificate(api, names, nodeName, timers, signal);
      await keepClientPair(folder, pair, timers.now());
      use(pair);
      present = pair.certificate;
    } catch (error) {
      if (signal.aborted) return;
      logger.warn('the client certificate of the node could not be renewed yet', { error: errorText(error) });
      await timers.wait(60_000 * (0.5 + random()), signal);
    }
  }
}
