import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { addressAt, canonicalAddress, parseCidr } from '../../config/network.js';
import type { Clock } from '../../machinery/clock.js';
import { readFileIfPresent, writeFileAtomically } from '../files.js';
import { type CertificateRequest, issueCertificate, isUsable, type KeyPair } from './certificate.js';

const authorityDays = 3650;
const leafDays = 365;
/** A pair that ends sooner than this is replaced at the next start. */
const renewalDays = 30;

export interface PkiOptions {
  readonly directory: string;
  readonly bindAddress: string;
  /** Range of Service addresses; its first one is the API's own Service. */
  readonly serviceClusterIpRange: string;
  /** Further DNS names and IP addresses of the serving certificate. */
  readonly names?: readonly string[];
  readonly clock: Clock;
}

/** Paths of a certificate and its key. */
export interface KeyPairFiles {
  readonly certificateFile: string;
  readonly privateKeyFile: string;
}

/** Everything one machine needs to serve and to be its own administrator. */
export interface Pki {
  readonly authorityFile: string;
  readonly authority: string;
  readonly authorityKeyFile: string;
  readonly serving: KeyPairFiles;
  readonly admin: KeyPair;
}

/**
 * Makes what is missing in `directory`: an authority, a serving certificate and an administrator's client certificate
 * (user `admin`, group `system:masters`). Files that are still good stay as they are.
 */
export async function ensurePki(options: PkiOptions): Promise<Pki> {
  const authority = await ensurePair(options, 'ca', { commonName: 'plinth-ca', usage: 'ca', validDays: authorityDays });
  const serving = await ensurePair(options, 'apiserver', servingRequest(options), authority.pair);
  const admin = await ensurePair(
    options,
    'admin',
    { commonName: 'admin', organization: 'system:masters', usage: 'client', validDays: leafDays },
    authority.pair,
  );
  return {
    authorityFile: authority.files.certificateFile,
    authority: authority.pair.certificate,
    authorityKeyFile: authority.files.privateKeyFile,
    serving: serving.files,
    admin: admin.pair,
  };
}

/**
 * Makes a serving certificate that signs itself, unless a good one is in `directory` (whoever signed it). For
 * processes without --tls-cert-file: clients have to be given this very certificate to trust.
 */
export async function ensureSelfSignedServing(options: PkiOptions): Promise<KeyPairFiles> {
  const request = servingRequest(options);
  const authority = await readPair(options.directory, 'ca');
  const existing = await readPair(options.directory, 'apiserver');
  const now = options.clock.now();
  if (existing !== undefined && authority !== undefined && isUsable(existing, request, now, renewalDays, authority)) {
    return pairFiles(options.directory, 'apiserver');
  }
  return (await ensurePair(options, 'apiserver', request)).files;
}

function servingRequest(options: PkiOptions): CertificateRequest {
  const names = new Set(['localhost', '127.0.0.1', '::1', hostname().toLowerCase(), 'plinth']);
  for (const name of ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc']) names.add(name);
  names.add('kubernetes.default.svc.cluster.local');
  const range = parseCidr(options.serviceClusterIpRange);
  if (range !== undefined) names.add(addressAt(range, 1n));
  const bound = canonicalAddress(options.bindAddress);
  if (bound !== '0.0.0.0' && bound !== '::') names.add(bound);
  for (const name of options.names ?? []) names.add(canonicalAddress(name));
  return { commonName: 'plinth', usage: 'server', names: [...names], validDays: leafDays };
}

async function ensurePair(
  options: PkiOptions,
  name: string,
  request: CertificateRequest,
  issuer?: KeyPair,
): Promise<{ readonly pair: KeyPair; readonly files: KeyPairFiles }> {
  const now = options.clock.now();
  const files = pairFiles(options.directory, name);
  const existing = await readPair(options.directory, name);
  if (existing !== undefined && isUsable(existing, request, now, renewalDays, issuer)) return { pair: existing, files };
  const pair = await issueCertificate(request, now, issuer);
  await mkdir(options.directory, { recursive: true, mode: 0o700 });
  // Key first: when we stop between the two, the next start sees that they do not belong together.
  await writeFileAtomically(files.privateKeyFile, pair.privateKey, 0o600);
  await writeFileAtomically(files.certificateFile, pair.certificate, 0o644);
  return { pair, files };
}

async function readPair(directory: string, name: string): Promise<KeyPair | undefined> {
  const files = pairFiles(directory, name);
  const certificate = await readFileIfPresent(files.certificateFile);
  const privateKey = await readFileIfPresent(files.privateKeyFile);
  return certificate === undefined || privateKey === undefined ? undefined : { certificate, privateKey };
}

function pairFiles(directory: string, name: string): KeyPairFiles {
  return { certificateFile: join(directory, `${name}.crt`), privateKeyFile: join(directory, `${name}.key`) };
}
