import { X509Certificate } from 'node:crypto';
import { hostname } from 'node:os';
import { addressAt, canonicalAddress } from '../../../base/config/network.js';
import { firstServiceRange } from '../../../base/config/service-range.js';
import type { Clock } from '../../../base/machinery/clock.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { advice, OwnFiles } from '../own-files.js';
import {
  type CertificateRequest,
  foreignProblem,
  isSignedBy,
  issueCertificate,
  isUsable,
  type KeyPair,
} from './issue-certificate.js';
import { proxyName } from './proxy-options.js';

const authorityDays = 3650;
const leafDays = 365;
/** A pair that expires sooner than this is replaced at the next start. */
const renewalDays = 30;

export interface PkiRequest {
  readonly directory: string;
  readonly bindAddress: string;
  /** Range of Service addresses; its first address is that of the API's own Service. */
  readonly serviceClusterIpRange: string;
  /** Further DNS names and IP addresses of the serving certificate. */
  readonly names?: readonly string[];
  readonly clock: Clock;
}

/** The user as whom a server asks node agents, named as by the usual set-up tool. */
export const nodeAgentClient = 'kube-apiserver-kubelet-client';

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
  /** Clients check the serving certificate with this: our authority, or a foreign certificate itself. */
  readonly servingAuthorityFile: string;
  readonly servingAuthority: string;
  readonly admin: KeyPair;
  /** The authority of authenticating proxies, which differs from that of users. */
  readonly proxyAuthorityFile: string;
  /** What extension servers know this server by: a certificate of that authority. */
  readonly proxy: KeyPairFiles;
  /** What node agents know this server by: a client certificate of the user {@link nodeAgentClient}. */
  readonly nodeAgentClient: KeyPairFiles;
}

/**
 * Makes missing files in `directory`: an authority, a serving certificate, an administrator's client certificate (user
 * `admin`, group `system:masters`), an authority of proxies and the certificate of one, this server itself, and the
 * client certificate that this server shows to node agents. Files that are still good are kept. Files that others made
 * are used and never overwritten.
 *
 * @throws StartupError for a foreign file that can't be used.
 */
export async function ensurePki(options: PkiRequest): Promise<Pki> {
  const authority = await ensurePair(options, 'ca', authorityRequest('plinth-ca'));
  const serving = await ensurePair(options, 'apiserver', servingRequest(options), authority.pair, { anyIssuer: true });
  const administrator: CertificateRequest = {
    commonName: 'admin',
    organization: 'system:masters',
    usage: 'client',
    validDays: leafDays,
  };
  const admin = await ensurePair(options, 'admin', administrator, authority.pair);
  const proxies = await ensurePair(options, 'front-proxy-ca', authorityRequest('plinth-front-proxy-ca'));
  const proxyRequest: CertificateRequest = { commonName: proxyName, usage: 'client', validDays: leafDays };
  const proxy = await ensurePair(options, proxyName, proxyRequest, proxies.pair);
  const agentRequest: CertificateRequest = { commonName: nodeAgentClient, usage: 'client', validDays: leafDays };
  const agents = await ensurePair(options, 'apiserver-kubelet-client', agentRequest, authority.pair);
  const isOurs = isSignedBy(new X509Certificate(serving.pair.certificate), authority.pair.certificate);
  const servingAuthority = isOurs ? authority : serving;
  return {
    authorityFile: authority.files.certificateFile,
    authority: authority.pair.certificate,
    authorityKeyFile: authority.files.privateKeyFile,
    serving: serving.files,
    servingAuthorityFile: servingAuthority.files.certificateFile,
    servingAuthority: servingAuthority.pair.certificate,
    admin: admin.pair,
    proxyAuthorityFile: proxies.files.certificateFile,
    proxy: proxy.files,
    nodeAgentClient: agents.files,
  };
}

/**
 * Makes a self-signed serving certificate, unless `directory` has a good one (of any origin). For processes
 * without --tls-cert-file: clients have to get this very certificate to trust it.
 *
 * @throws StartupError for a foreign file that can't be used.
 */
export async function ensureSelfSignedServing(options: PkiRequest): Promise<KeyPairFiles> {
  const request = servingRequest(options);
  const files = new OwnFiles(options.directory);
  const authority = await readPair(files, 'ca');
  const existing = await readPair(files, 'apiserver');
  const now = options.clock.now();
  if (existing !== undefined && authority !== undefined && isUsable(existing, request, now, renewalDays, authority)) {
    return pairFiles(files, 'apiserver');
  }
  return (await ensurePair(options, 'apiserver', request)).files;
}

function authorityRequest(commonName: string): CertificateRequest {
  return { commonName, usage: 'ca', validDays: authorityDays };
}

function servingRequest(options: PkiRequest): CertificateRequest {
  const names = new Set(['localhost', '127.0.0.1', '::1', hostname().toLowerCase(), 'plinth']);
  for (const name of ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc']) names.add(name);
  names.add('kubernetes.default.svc.cluster.local');
  const range = firstServiceRange(options.serviceClusterIpRange);
  if (range !== undefined) names.add(addressAt(range, 1n));
  const bound = canonicalAddress(options.bindAddress);
  if (bound !== '0.0.0.0' && bound !== '::') names.add(bound);
  for (const name of options.names ?? []) names.add(canonicalAddress(name));
  return { commonName: 'plinth', usage: 'server', names: [...names], validDays: leafDays };
}

/**
 * A stored pair that still fits the request, or a new one in its place.
 *
 * @throws StartupError for a foreign one that does not fit
 */
export async function ensurePair(
  options: Pick<PkiRequest, 'directory' | 'clock'>,
  name: string,
  request: CertificateRequest,
  issuer?: KeyPair,
  foreign: { readonly anyIssuer: boolean } = { anyIssuer: false },
): Promise<{ readonly pair: KeyPair; readonly files: KeyPairFiles }> {
  const now = options.clock.now();
  const own = new OwnFiles(options.directory);
  const files = pairFiles(own, name);
  const existing = await readPair(own, name);
  if (existing !== undefined && isUsable(existing, request, now, renewalDays, issuer)) return { pair: existing, files };
  if (!(await isOwnPair(own, name))) {
    const problem =
      existing === undefined
        ? 'certificate or key is missing'
        : foreignProblem(existing, request, now, foreign.anyIssuer ? undefined : issuer);
    if (existing !== undefined && problem === undefined) return { pair: existing, files };
    throw new StartupError(
      `${files.certificateFile} and ${files.privateKeyFile} were not made by plinth and can't be used: ${problem}; ${advice}`,
    );
  }
  const pair = await issueCertificate(request, now, issuer);
  // The key comes first: after a stop between the two, the next start sees that they do not belong together.
  await own.write(`${name}.key`, pair.privateKey, 0o600);
  await own.write(`${name}.crt`, pair.certificate, 0o644);
  return { pair, files };
}

async function isOwnPair(files: OwnFiles, name: string): Promise<boolean> {
  return (await files.mayWrite(`${name}.crt`)) && (await files.mayWrite(`${name}.key`));
}

async function readPair(files: OwnFiles, name: string): Promise<KeyPair | undefined> {
  const certificate = await files.read(`${name}.crt`);
  const privateKey = await files.read(`${name}.key`);
  return certificate === undefined || privateKey === undefined ? undefined : { certificate, privateKey };
}

function pairFiles(files: OwnFiles, name: string): KeyPairFiles {
  return { certificateFile: files.path(`${name}.crt`), privateKeyFile: files.path(`${name}.key`) };
}
