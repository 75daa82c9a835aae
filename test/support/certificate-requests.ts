import 'reflect-metadata';
import type { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

/** Algorithms of keys in tests. */
export const keyAlgorithms = {
  ecdsa: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  rsa: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', publicExponent: new Uint8Array([1, 0, 1]), modulusLength: 2048 },
  ed25519: { name: 'Ed25519' },
} as const;

/** What a test request asks for. */
export interface TestRequest {
  readonly subject?: string;
  readonly names?: readonly { readonly type: 'dns' | 'ip' | 'email' | 'url'; readonly value: string }[];
  readonly key?: keyof typeof keyAlgorithms;
}

/** A signed PKCS#10 request as PEM text. */
export async function makeRequest({ subject = 'CN=test', names, key = 'ecdsa' }: TestRequest = {}): Promise<string> {
  const algorithm = keyAlgorithms[key];
  const keys = (await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const extensions = names === undefined ? [] : [new x509.SubjectAlternativeNameExtension([...names])];
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subject,
    keys,
    signingAlgorithm: algorithm,
    extensions,
  });
  return `${request.toString('pem')}\n`;
}

/** A self-signed certificate as PEM text. */
export async function makeCertificate(): Promise<string> {
  const algorithm = keyAlgorithms.ecdsa;
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=test',
    keys,
    signingAlgorithm: algorithm,
  });
  return `${certificate.toString('pem')}\n`;
}

/** Text as the base64 that stands in JSON. */
export function toBase64(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64');
}
