import { createPrivateKey, generateKeyPair, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import { Backoff } from '../../../base/machinery/backoff.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { writeCertificateRequest } from '../../../base/machinery/x509/write-certificate-request.js';
import { ApiFault } from '../../backup/cluster/api-fault.js';
import { type ClusterClient } from '../../backup/cluster/cluster-client.js';
import { type KeyPair, privateKeyPem } from '../pki/issue-certificate.js';

/** The identity of the requested certificate, its lifetime and its signer. */
export interface CertificateWish {
  readonly user: string;
  readonly groups: readonly string[];
  readonly expiresMs: number | undefined;
  /** Name of the signer; undefined: the signer of client certificates, in the spelling of the cluster. */
  readonly signer: string | undefined;
  readonly timeoutMs: number;
}

interface SigningRequest {
  readonly metadata: { readonly name: string };
  readonly status?: {
    readonly certificate?: string;
    readonly conditions?: readonly { readonly type: string; readonly reason?: string; readonly message?: string }[];
  };
}

type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const firstPauseMs = 50;
const longestPauseMs = 1000;
const upstreamNamespace = '/api/v1/namespaces/kube-system';

/**
 * Obtains a client certificate by a CertificateSigningRequest that the caller makes and approves (specification 2.7).
 * The private key is made here and stays here. A request that did not become a certificate is deleted again.
 *
 * @throws ApiFault when the caller lacks a right, StartupError when the request is refused or nobody signs it in time
 */
export async function requestCertificate(
  client: ClusterClient,
  wish: CertificateWish,
  signal: AbortSignal,
  pause: Pause,
): Promise<KeyPair> {
  const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  const request = writeCertificateRequest({ commonName: wish.user, organizations: wish.groups }, privateKey);
  const signerName = wish.signer ?? (await usualSigner(client, signal));
  const made = await client.send<SigningRequest>('POST', path, {
    signal,
    body: {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { generateName: 'plinth-kubeconfig-' },
      spec: {
        request: Buffer.from(request).toString('base64'),
        signerName,
        usages: ['digital signature', 'client auth'],
        ...(wish.expiresMs === undefined ? {} : { expirationSeconds: Math.floor(wish.expiresMs / 1000) }),
      },
    },
  });
  const own = `${path}/${made.metadata.name}`;
  try {
    await approve(client, own, signal);
    const certificate = await signed(client, own, wish.timeoutMs, signal, pause);
    const key = privateKeyPem(privateKey);
    if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) {
      throw new StartupError('the server returned a certificate for another key');
    }
    return { certificate, privateKey: key };
  } catch (error) {
    // The request is also deleted when the caller gave up: nobody should sign it later.
    await client.send('DELETE', own, { signal: AbortSignal.timeout(firstPauseMs * 100) }).catch(() => undefined);
    throw error;
  }
}

async function usualSigner(client: ClusterClient, signal: AbortSignal): Promise<string> {
  try {
    await client.send('GET', upstreamNamespace, { signal });
    return 'kubernetes.io/kube-apiserver-client';
  } catch (error) {
    if (!(error instanceof ApiFault)) throw error;
    if (error.status === 401) throw new StartupError(`the server refuses the credentials (${error.message})`);
    if (error.status === 404) return 'k8s.io/apiserver-client';
    throw new StartupError(`which spelling the cluster uses is unknown (${error.message}): give the --signer`);
  }
}

async function approve(client: ClusterClient, own: string, signal: AbortSignal): Promise<void> {
  const current = await client.send<SigningRequest>('GET', own, { signal });
  const condition = {
    type: 'Approved',
    status: 'True',
    reason: 'PlinthKubeconfig',
    message: 'Approved by plinth kubeconfig with the rights of its caller.',
  };
  const conditions = [...(current.status?.conditions ?? []), condition];
  await client.send('PUT', `${own}/approval`, {
    signal,
    body: { ...current, status: { ...current.status, conditions } },
  });
}

async function signed(
  client: ClusterClient,
  own: string,
  timeoutMs: number,
  signal: AbortSignal,
  pause: Pause,
): Promise<string> {
  const end = performance.now() + timeoutMs;
  const backoff = new Backoff({ firstMs: firstPauseMs, longestMs: longestPauseMs });
  for (;;) {
    const { status } = await client.send<SigningRequest>('GET', own, { signal });
    if (status?.certificate !== undefined) return Buffer.from(status.certificate, 'base64').toString('utf8');
    const refused = status?.conditions?.find(({ type }) => type === 'Failed' || type === 'Denied');
    if (refused !== undefined) {
      const { type, reason = '', message = '' } = refused;
      throw new StartupError(`the request is ${type.toLowerCase()}: ${[reason, message].filter(Boolean).join(': ')}`);
    }
    if (performance.now() > end) {
      throw new StartupError(
        `nobody signed the request within ${timeoutMs / 1000} s: run plinth controllers with --cluster-signing-cert-file ` +
          'and --cluster-signing-key-file',
      );
    }
    await pause(backoff.next(), signal);
  }
}
