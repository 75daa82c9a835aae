import 'reflect-metadata';
import type { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { randomSerial } from './test-authority.js';

/** Key algorithms for tests. */
export const keyAlgorithms = {
  ecdsa: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  p384: { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' },
  p521: { name: 'ECDSA', namedCurve: 'P-521', hash: 'SHA-512' },
  rsa: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', publicExponent: new Uint8Array([1, 0, 1]), modulusLength: 2048 },
  ed25519: { name: 'Ed25519' },
} as const;

/** The content of a test request. */
export interface TestRequest {
  readonly subject?: string;
  readonly names?: readonly { readonly type: 'dns' | 'ip' | 'email' | 'url'; readonly value: string }[];
  readonly key?: keyof typeof keyAlgorithms;
}

/** A signed PKCS#10 request as PEM text. */
export async function makeRequest(asked: TestRequest = {}): Promise<string> {
  return (await makeRequestWithKey(asked)).request;
}

/** A signed PKCS#10 request and its private key, both as PEM text. */
export async function makeRequestWithKey({
  subject = 'CN=test',
  names,
  key = 'ecdsa',
}: TestRequest = {}): Promise<{ readonly request: string; readonly privateKey: string }> {
  const algorithm = keyAlgorithms[key];
  const keys = (await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const extensions = names === undefined ? [] : [new x509.SubjectAlternativeNameExtension([...names])];
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subject,
    keys,
    signingAlgorithm: algorithm,
    extensions,
  });
  const privateKey = x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
  return { request: `${request.toString('pem')}\n`, privateKey: `${privateKey}\n` };
}

/** A self-signed authority: certificate and key as PEM text. */
export async function makeAuthority({
  key = 'ecdsa',
  validFrom = new Date(Date.now() - 3_600_000),
  validTo = new Date(Date.now() + 86_400_000 * 3650),
}: {
  readonly key?: keyof typeof keyAlgorithms;
  readonly validFrom?: Date;
  readonly validTo?: Date;
} = {}): Promise<{ readonly certificate: string; readonly privateKey: string }> {
  const algorithm = keyAlgorithms[key];
  const keys = (await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: randomSerial(),
    name: 'CN=test-ca',
    keys,
    signingAlgorithm: algorithm,
    notBefore: validFrom,
    notAfter: validTo,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const privateKey = x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
  return { certificate: `${certificate.toString('pem')}\n`, privateKey: `${privateKey}\n` };
}

/** A self-signed certificate as PEM text. */
export async function makeCertificate(): Promise<string> {
  const algorithm = keyAlgorithms.ecdsa;
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: randomSerial(),
    name: 'CN=test',
    keys,
    signingAlgorithm: algorithm,
  });
  return `${certificate.toString('pem')}\n`;
}

/** Text as base64, as in JSON objects. */
export function toBase64(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64');
}
