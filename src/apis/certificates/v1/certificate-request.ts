import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { createRequire } from 'node:module';
import type forge from 'node-forge';
import { readPem } from './pem.js';

/** What a PKCS#10 certification request (RFC 2986) asks for. */
export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly uris: readonly string[];
  /** Text form; IPv6 uncompressed. */
  readonly ipAddresses: readonly string[];
}

/** A request that can't be read or whose signature does not fit its key; the message is for the client. */
export class CertificateRequestError extends Error {}

type Asn1 = forge.asn1.Asn1;

/** The library's types do not know the options of its reader. */
interface Asn1Library extends Omit<typeof forge.asn1, 'fromDer'> {
  fromDer(
    bytes: string,
    options: { readonly strict: boolean; readonly parseAllBytes: boolean; readonly decodeBitStrings: boolean },
  ): Asn1;
}

const pemLabel = 'CERTIFICATE REQUEST';
const sequenceTag = 0x30;
const require = createRequire(import.meta.url);
let library: Asn1Library | undefined;

/** Few processes ever see a request, so the ASN.1 library is loaded when the first one comes. */
function asn1(): Asn1Library {
  library ??= require('node-forge/lib/asn1') as Asn1Library;
  return library;
}

const oids = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  extensionRequest: '1.2.840.113549.1.9.14',
  subjectAltName: '2.5.29.17',
  rsaPss: '1.2.840.113549.1.1.10',
  ed25519: '1.3.101.112',
};

const hashes: Readonly<Record<string, string>> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

const signatureHashes: Readonly<Record<string, { readonly key: 'rsa' | 'ec'; readonly hash: string }>> = {
  '1.2.840.113549.1.1.5': { key: 'rsa', hash: 'sha1' },
  '1.2.840.113549.1.1.11': { key: 'rsa', hash: 'sha256' },
  '1.2.840.113549.1.1.12': { key: 'rsa', hash: 'sha384' },
  '1.2.840.113549.1.1.13': { key: 'rsa', hash: 'sha512' },
  '1.2.840.10045.4.1': { key: 'ec', hash: 'sha1' },
  '1.2.840.10045.4.3.2': { key: 'ec', hash: 'sha256' },
  '1.2.840.10045.4.3.3': { key: 'ec', hash: 'sha384' },
  '1.2.840.10045.4.3.4': { key: 'ec', hash: 'sha512' },
};

/**
 * Reads the first PEM block of a request and checks that whoever made it holds the private key. Throws
 * {@link CertificateRequestError}.
 */
export function parseCertificateRequest(pem: Buffer): CertificateRequest {
  const [block] = readPem(pem.toString('latin1'));
  if (block?.label !== pemLabel) throw new CertificateRequestError(`PEM block type must be ${pemLabel}`);
  const [info, algorithm, signature] = childrenOf(decode(block.der), 3) as [Asn1, Asn1, Asn1];
  const [, subject, publicKey, attributes] = childrenOf(info, 4) as [Asn1, Asn1, Asn1, Asn1];
  checkSignature(toDer(info), algorithm, signature, toDer(publicKey));
  return { ...readSubject(subject), ...readNames(attributes) };
}

function structureError(): CertificateRequestError {
  return new CertificateRequestError('asn1: structure error: not a certificate request');
}

function decode(der: Buffer): Asn1 {
  if (der[0] !== sequenceTag) throw structureError();
  try {
    return asn1().fromDer(der.toString('latin1'), { strict: true, parseAllBytes: true, decodeBitStrings: false });
  } catch (error) {
    const isTrailing = error instanceof Error && error.message.startsWith('Unparsed DER bytes');
    throw isTrailing ? new CertificateRequestError('asn1: syntax error: trailing data') : structureError();
  }
}

function toDer(node: Asn1): Buffer {
  return Buffer.from(asn1().toDer(node).getBytes(), 'latin1');
}

function childrenOf(node: Asn1 | undefined, atLeast = 0): Asn1[] {
  if (node === undefined || !Array.isArray(node.value) || node.value.length < atLeast) throw structureError();
  return node.value;
}

function bytesOf(node: Asn1 | undefined): string {
  if (node === undefined || typeof node.value !== 'string') throw structureError();
  return node.value;
}

function oidOf(node: Asn1 | undefined): string {
  const bytes = bytesOf(node);
  if (bytes === '') throw structureError();
  return asn1().derToOid(bytes);
}

function checkSignature(signed: Buffer, algorithm: Asn1, signature: Asn1, publicKeyDer: Buffer): void {
  const [oidNode, parameters] = childrenOf(algorithm, 1);
  const oid = oidOf(oidNode);
  // The first byte of a bit string counts unused bits.
  const bytes = Buffer.from(bytesOf(signature).slice(1), 'latin1');
  let key: KeyObject;
  try {
    key = createPublicKey({ key: publicKeyDer, format: 'der', type: 'spki' });
  } catch {
    throw new CertificateRequestError('x509: the public key cannot be used');
  }
  const failure = verifyWith(oid, parameters, key, signed, bytes);
  if (failure !== undefined) throw new CertificateRequestError(failure);
}

function verifyWith(
  oid: string,
  parameters: Asn1 | undefined,
  key: KeyObject,
  signed: Buffer,
  signature: Buffer,
): string | undefined {
  const isKey = (type: string) => key.asymmetricKeyType === type;
  try {
    if (oid === oids.ed25519) {
      return isKey('ed25519') && verify(null, signed, key, signature)
        ? undefined
        : 'x509: Ed25519 verification failure';
    }
    const known = oid === oids.rsaPss ? pssHash(parameters) : signatureHashes[oid];
    if (known === undefined) return 'x509: cannot verify signature: algorithm unimplemented';
    if (known.key === 'ec') {
      return isKey('ec') && verify(known.hash, signed, key, signature) ? undefined : 'x509: ECDSA verification failure';
    }
    const padding =
      oid === oids.rsaPss
        ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO }
        : { padding: constants.RSA_PKCS1_PADDING };
    const isGood = isKey('rsa') && verify(known.hash, signed, { key, ...padding }, signature);
    return isGood ? undefined : 'crypto/rsa: verification error';
  } catch (error) {
    if (error instanceof CertificateRequestError) throw error;
    return 'x509: signature verification failure';
  }
}

function pssHash(parameters: Asn1 | undefined): { key: 'rsa'; hash: string } | undefined {
  // RSASSA-PSS-params begin with an optional [0] that names the hash.
  const tagged = childrenOf(parameters)[0];
  const algorithm = tagged === undefined ? undefined : childrenOf(tagged)[0];
  if (algorithm === undefined) return undefined;
  const hash = hashes[oidOf(childrenOf(algorithm)[0])];
  return hash === undefined ? undefined : { key: 'rsa', hash };
}

function readSubject(subject: Asn1): Pick<CertificateRequest, 'commonName' | 'organizations'> {
  let commonName = '';
  const organizations: string[] = [];
  for (const set of childrenOf(subject)) {
    for (const pair of childrenOf(set)) {
      const [type, value] = childrenOf(pair, 2);
      const oid = oidOf(type);
      if (oid === oids.commonName) commonName = textOf(value);
      else if (oid === oids.organization) organizations.push(textOf(value));
    }
  }
  return { commonName, organizations };
}

function textOf(node: Asn1 | undefined): string {
  const bytes = bytesOf(node);
  return node?.type === asn1().Type.UTF8 ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;
}

type Names = Omit<CertificateRequest, 'commonName' | 'organizations'>;

function readNames(attributes: Asn1): Names {
  const names = { dnsNames: [], emailAddresses: [], uris: [], ipAddresses: [] } as Record<keyof Names, string[]>;
  for (const attribute of childrenOf(attributes)) {
    const [type, values] = childrenOf(attribute, 2);
    if (oidOf(type) !== oids.extensionRequest) continue;
    for (const extension of childrenOf(childrenOf(values, 1)[0])) {
      const parts = childrenOf(extension, 2);
      if (oidOf(parts[0]) !== oids.subjectAltName) continue;
      const content = Buffer.from(bytesOf(parts.at(-1)), 'latin1');
      for (const name of childrenOf(decode(content))) addName(names, name);
    }
  }
  return names;
}

/** Context tags of the forms of a general name (RFC 5280, 4.2.1.6). */
function addName(names: Record<keyof Names, string[]>, name: Asn1): void {
  switch (name.type as number) {
    case 1:
      names.emailAddresses.push(bytesOf(name));
      break;
    case 2:
      names.dnsNames.push(bytesOf(name));
      break;
    case 6:
      names.uris.push(bytesOf(name));
      break;
    case 7:
      names.ipAddresses.push(ipText(Buffer.from(bytesOf(name), 'latin1')));
      break;
    default:
  }
}

function ipText(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) throw structureError();
  return Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(i * 2).toString(16)).join(':');
}
