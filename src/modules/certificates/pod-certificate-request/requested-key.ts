import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { parseCertificateRequest } from '../../../base/machinery/x509/certificate-request.js';
import { CertificateRequestError } from '../../../base/machinery/x509/certificate-request-error.js';
import { encodePem } from '../../../base/machinery/x509/pem.js';
import type { PodCertificateRequest } from '../../../objects/apis/certificates/v1beta1/pod-certificate-request.types.js';

type Spec = PodCertificateRequest['spec'];

/** The field of a request that has a fault, and the fault. */
export interface KeyProblem {
  readonly field: 'stubPKCS10Request' | 'pkixPublicKey' | 'proofOfPossession';
  readonly detail: string;
  /** The value that the message shows; unset: none. */
  readonly value?: string;
}

const curves = ['prime256v1', 'secp384r1', 'secp521r1'];
const curveNames: Readonly<Record<string, string>> = { secp224r1: 'P-224' };
const rsaSizes = [3072, 4096];

/** The key for which a certificate is requested, or the fault in it. */
export function requestedKey(spec: Spec): KeyObject | KeyProblem {
  return hasBytes(spec.stubPKCS10Request) ? keyOfRequest(spec.stubPKCS10Request as string) : keyWithProof(spec);
}

/** Whether a field of bytes is not empty. */
export function hasBytes(base64: string | null | undefined): boolean {
  return (base64 ?? '') !== '';
}

function keyOfRequest(base64: string): KeyObject | KeyProblem {
  const field = 'stubPKCS10Request';
  try {
    const pem = encodePem('CERTIFICATE REQUEST', Buffer.from(base64, 'base64'));
    const { publicKey } = parseCertificateRequest(Buffer.from(pem));
    const key = createPublicKey({ key: publicKey, format: 'der', type: 'spki' });
    return keyProblem(key, field, 'P256, P384, or P521') ?? key;
  } catch (error) {
    if (!(error instanceof CertificateRequestError)) throw error;
    const isSigned = /signature|verif/i.test(error.message);
    return { field, detail: isSigned ? 'invalid signature' : 'must be a valid PKCS#10 CSR' };
  }
}

/** A key whose holder signed the identity of the pod. */
function keyWithProof({ pkixPublicKey, proofOfPossession, podUID }: Spec): KeyObject | KeyProblem {
  const field = 'pkixPublicKey';
  let key: KeyObject;
  try {
    key = createPublicKey({ key: Buffer.from(pkixPublicKey ?? '', 'base64'), format: 'der', type: 'spki' });
  } catch {
    return { field, value: pkixPublicKey ?? '', detail: 'must be a valid PKIX-serialized public key' };
  }
  const problem = keyProblem(key, field, 'P256 or P384');
  if (problem !== undefined) return problem;
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  const signature = Buffer.from(proofOfPossession ?? '', 'base64');
  const isProven = verify(digest, Buffer.from(podUID), signingKey(key), signature);
  const detail = 'could not verify proof-of-possession signature';
  return isProven ? key : { field: 'proofOfPossession', detail };
}

function signingKey(key: KeyObject): Parameters<typeof verify>[2] {
  // Padding 6 is RSASSA-PSS; salt length -2 accepts a salt of any length.
  return key.asymmetricKeyType === 'rsa' ? { key, padding: 6, saltLength: -2 } : key;
}

function keyProblem(key: KeyObject, field: KeyProblem['field'], known: string): KeyProblem | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = key;
  if (type === 'ed25519') return undefined;
  if (type === 'ec') {
    const curve = details.namedCurve ?? '';
    if (curves.includes(curve)) return undefined;
    const value = `curve ${curveNames[curve] ?? curve}`;
    return { field, value, detail: `elliptic public keys must use curve ${known}` };
  }
  if (type === 'rsa') {
    if (rsaSizes.includes(details.modulusLength ?? 0)) return undefined;
    const value = `${details.modulusLength}-bit modulus`;
    return { field, value, detail: 'RSA keys must have modulus size 3072 or 4096' };
  }
  return { field, detail: 'unknown public key type; supported types are Ed25519, ECDSA, and RSA' };
}
