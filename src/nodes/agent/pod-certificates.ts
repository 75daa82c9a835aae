import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { ApiObject } from '../../base/machinery/api-object.js';
import type { Timers } from '../../base/machinery/timers.js';
import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import { writeCertificateRequest } from '../../base/machinery/x509/write-certificate-request.js';
import type { PodCertificateRequest } from '../../objects/apis/certificates/v1/pod-certificate-request.types.js';
import type { Pod } from '../../objects/apis/core/v1/pod.types.js';
import type { PodCertificateProjection } from '../../objects/apis/core/v1/volume.types.js';
import type { ApiUser } from '../connection/api-connection.js';
import { ApiError } from '../connection/api-error.js';
import { VolumePending } from './volumes/volume-pending.js';
import { VolumeProblem } from './volumes/volume-problem.js';
import type { PodCredentials } from './volumes/volume-sources.js';

const keyTypes: Readonly<Record<string, () => Promise<{ privateKey: KeyObject }>>> = {
  RSA3072: () => promisify(generateKeyPair)('rsa', { modulusLength: 3072 }),
  RSA4096: () => promisify(generateKeyPair)('rsa', { modulusLength: 4096 }),
  ECDSAP256: () => promisify(generateKeyPair)('ec', { namedCurve: 'P-256' }),
  ECDSAP384: () => promisify(generateKeyPair)('ec', { namedCurve: 'P-384' }),
  ECDSAP521: () => promisify(generateKeyPair)('ec', { namedCurve: 'P-521' }),
  ED25519: () => promisify(generateKeyPair)('ed25519'),
};
const longestSeconds = 86_400;
/** How often a request is read again, and for how long one attempt to prepare the volume waits for it. */
const pollMs = 200;
const patienceMs = 3000;
/** A signer that has not decided by then may never have seen the request. */
const lostMs = 900_000;
/** Pods of one deployment must not renew together. */
const longestJitterMs = 300_000;

export interface PodCertificatesDependencies {
  readonly api: ApiUser;
  readonly names: VendorNames;
  readonly nodeName: string;
  /** Undefined until the node is registered. */
  readonly nodeUid: () => string | undefined;
  readonly timers: Timers;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

interface IssuedCertificate {
  readonly credentials: PodCredentials;
  /** Milliseconds since the epoch. */
  readonly renewAt: number;
  readonly notAfter: number;
}

interface OpenRequest {
  readonly path: string;
  readonly privateKey: string;
  readonly madeAt: number;
}

interface Certificate {
  present?: IssuedCertificate | undefined;
  open?: OpenRequest | undefined;
  /** A signer has refused: no further certificate is requested for this pod. */
  refusal?: string | undefined;
  /** The attempt that is under way. */
  attempt?: Promise<PodCredentials> | undefined;
}

/**
 * Certificates of pods: for each source of a projected volume a key that never leaves the node, and the certificates that a
 * signer issued for it. They are renewed from the time on that the signer names.
 */
export class PodCertificates {
  private readonly certificates = new Map<string, Certificate>();

  constructor(private readonly dependencies: PodCertificatesDependencies) {}

  /**
   * The key and the certificates of a pod for one source.
   *
   * @throws VolumePending until a signer has issued them, VolumeProblem when one has refused
   */
  credentials(pod: Pod, source: PodCertificateProjection): Promise<PodCredentials> {
    const key = JSON.stringify([pod.metadata.uid, source]);
    const certificate = this.certificates.get(key) ?? {};
    this.certificates.set(key, certificate);
    certificate.attempt ??= this.obtain(certificate, pod, source).finally(() => {
      certificate.attempt = undefined;
    });
    return certificate.attempt;
  }

  forget(uid: string): void {
    for (const key of this.certificates.keys()) if (key.startsWith(`["${uid}"`)) this.certificates.delete(key);
  }

  private async obtain(certificate: Certificate, pod: Pod, source: PodCertificateProjection): Promise<PodCredentials> {
    const { timers } = this.dependencies;
    const { present } = certificate;
    if (present !== undefined && timers.now() < present.renewAt) return present.credentials;
    try {
      return await this.renew(certificate, pod, source);
    } catch (error) {
      // The present certificate serves until it expires.
      if (present !== undefined && timers.now() < present.notAfter) return present.credentials;
      throw error;
    }
  }

  private async renew(certificate: Certificate, pod: Pod, source: PodCertificateProjection): Promise<PodCredentials> {
    const { api, timers, signal } = this.dependencies;
    if (certificate.refusal !== undefined) throw new VolumeProblem(certificate.refusal);
    if (certificate.open !== undefined && timers.now() > certificate.open.madeAt + lostMs) certificate.open = undefined;
    certificate.open ??= await this.request(pod, source);
    const { path, privateKey } = certificate.open;
    const startedAt = timers.elapsed();
    while (!signal.aborted) {
      let request: PodCertificateRequest & ApiObject;
      try {
        request = await api.send<PodCertificateRequest & ApiObject>('GET', path, { signal });
      } catch (error) {
        // Decided requests are removed after a while.
        if (error instanceof ApiError && error.status === 404) certificate.open = undefined;
        throw error;
      }
      const issued = this.issued(certificate, request, privateKey);
      if (issued !== undefined) return issued;
      // A signer needs a moment; the pod does not wait for its next turn if that is enough.
      if (certificate.present !== undefined || timers.elapsed() > startedAt + patienceMs) break;
      await timers.wait(pollMs, signal);
    }
    throw new VolumePending(`no signer has issued the certificate of ${source.signerName} yet`);
  }

  /** Notes the decision about a request; undefined: there is none yet. */
  private issued(
    certificate: Certificate,
    { metadata, status }: PodCertificateRequest & ApiObject,
    privateKey: string,
  ): PodCredentials | undefined {
    const decided = (status.conditions ?? []).find(
      ({ type, status: isTrue }) => isTrue === 'True' && ['Issued', 'Denied', 'Failed'].includes(type),
    );
    if (decided === undefined) return undefined;
    certificate.open = undefined;
    if (decided.type !== 'Issued') {
      const name = JSON.stringify(`${metadata.namespace}/${metadata.name}`);
      const { type, reason, message } = decided;
      certificate.refusal = `PodCertificateRequest ${name} ended with ${type}: ${reason}: ${message}`;
      throw new VolumeProblem(certificate.refusal);
    }
    const [renewal, notAfter] = [status.beginRefreshAt, status.notAfter].map((time) => Date.parse(String(time)));
    const jitterMs = Math.min(longestJitterMs, ((notAfter ?? 0) - (renewal ?? 0)) / 4) * this.dependencies.random();
    const credentials = { privateKey, chain: status.certificateChain ?? '' };
    certificate.present = { credentials, renewAt: (renewal ?? 0) + jitterMs, notAfter: notAfter ?? 0 };
    return credentials;
  }

  private async request({ metadata, spec }: Pod, source: PodCertificateProjection): Promise<OpenRequest> {
    const { api, names, nodeName, nodeUid, timers, signal } = this.dependencies;
    const makeKey = keyTypes[source.keyType ?? ''];
    if (makeKey === undefined) throw new VolumeProblem(`keys of the type ${source.keyType} are not supported`);
    const [{ namespace = '', name = '', uid = '' }, nodeUID] = [metadata, nodeUid()];
    if (nodeUID === undefined) throw new VolumePending('the node is not registered yet');
    const serviceAccountName = spec.serviceAccountName || 'default';
    const account = await api.send<ApiObject>(
      'GET',
      `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccountName}`,
      {
        signal,
      },
    );
    const { privateKey } = await makeKey();
    const group = groupName('certificates', names);
    const path = `/apis/${group}/v1/namespaces/${namespace}/podcertificaterequests`;
    const body = {
      apiVersion: `${group}/v1`,
      kind: 'PodCertificateRequest',
      metadata: {
        generateName: `req-${name.slice(0, 200)}-`,
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid }],
      },
      spec: {
        ...{ signerName: source.signerName, podName: name, podUID: uid },
        ...{ serviceAccountName, serviceAccountUID: account.metadata.uid, nodeName, nodeUID },
        maxExpirationSeconds: source.maxExpirationSeconds ?? longestSeconds,
        stubPKCS10Request: stubRequest(privateKey),
        ...(source.userAnnotations && { unverifiedUserAnnotations: source.userAnnotations }),
      },
    };
    const made = await api.send<ApiObject>('POST', path, { body, signal });
    return {
      path: `${path}/${made.metadata.name}`,
      privateKey: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
      madeAt: timers.now(),
    };
  }
}

/** A request that names nobody and only proves possession of the key; DER in base64. */
function stubRequest(key: KeyObject): string {
  const pem = writeCertificateRequest({ commonName: '', organizations: [] }, key);
  return pem.replace(/-----[^-]+-----|\s/g, '');
}
