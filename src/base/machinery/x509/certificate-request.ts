import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import {
  type Asn1,
  bytesOf,
  childrenOf,
  decodeDer,
  encodeDer,
  isContext,
  oidOf,
  sequenceOf,
  setOf,
  wholeBytesOf,
} from './asn1.js';
import { Asn1Error } from './asn1-error.js';
import { CertificateRequestError } from './certificate-request-error.js';
import { readName } from './distinguished-name.js';
import { readExtensions } from './extensions.js';
import { readPem } from './pem.js';
import { ia5TextOf } from './text.js';

/** Names of a subjectAltName extension by form (RFC 5280, 4.2.1.6). */
export interface AlternativeNames {
  readonly dnsNames: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly uris: readonly string[];
  /** Text form; IPv6 uncompressed. */
  readonly ipAddresses: readonly string[];
}

/** The content of a PKCS#10 certification request (RFC 2986). */
export interface CertificateRequest extends AlternativeNames {
  /** Empty when there is none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** The number of names in other forms than these four. */
  readonly otherNames: number;
  /** The subject as the request contains it, in DER. */
  readonly subject: Buffer;
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: Buffer;
  /** `rsa`, `ec` or `ed25519`. */
  readonly keyType: string;
}

const pemLabel = 'CERTIFICATE REQUEST';

const oids = {
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
 * Reads the first PEM block of a request and verifies that the requester holds the private key.
 *
 * @throws CertificateRequestError
 */
export function parseCertificateRequest(pem: Buffer): CertificateRequest {
  const [block] = readPem(pem.toString('latin1'));
  if (block?.label !== pemLabel) throw new CertificateRequestError(`PEM block type must be ${pemLabel}`);
  try {
    const [info, algorithm, signature] = sequenceOf(decodeDer(block.der), 3) as [Asn1, Asn1, Asn1];
    const [, subject, publicKey, attributes] = sequenceOf(info, 4) as [Asn1, Asn1, Asn1, Asn1];
    const publicKeyDer = encodeDer(publicKey);
    const key = checkSignature(encodeDer(info), algorithm, signature, publicKeyDer);
    return {
      ...readSubject(subject),
      ...readNames(attributes),
      subject: encodeDer(subject),
      publicKey: publicKeyDer,
      keyType: key.asymmetricKeyType ?? '',
    };
  } catch (error) {
    if (error instanceof Asn1Error) throw new CertificateRequestError(error.message, { cause: error });
    throw error;
  }
}

function checkSignature(signed: Buffer, algorithm: Asn1, signature: Asn1, publicKeyDer: Buffer): KeyObject {
  const [oidNode, parameters] = childrenOf(algorithm, 1);
  const oid = oidOf(oidNode);
  const bytes = wholeBytesOf(signature);
  let key: KeyObject;
  try {
    key = createPublicKey({ key: publicKeyDer, format: 'der', type: 'spki' });
  } catch {
    throw new CertificateRequestError('x509: the public key cannot be used');
  }
  const failure = verifyWith(oid, parameters, key, signed, bytes);
  if (failure !== undefined) throw new CertificateRequestError(failure);
  return key;
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
    if (error instanceof Asn1Error) throw error;
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
  const { commonNames, organizations } = readName(subject);
  // Programs differ in which common name they use.
  if (commonNames.length > 1) throw new CertificateRequestError('x509: the subject has more than one common name');
  return { commonName: commonNames[0] ?? '', organizations };
}

type Names = Omit<CertificateRequest, 'commonName' | 'organizations' | 'subject' | 'publicKey' | 'keyType'>;
type Writable<T> = { -readonly [K in keyof T]: T[K] extends readonly string[] ? string[] : T[K] };

function readNames(attributes: Asn1): Names {
  const names: Writable<Names> = { dnsNames: [], emailAddresses: [], uris: [], ipAddresses: [], otherNames: 0 };
  const alternatives = requestedExtensions(attributes).get(oids.subjectAltName);
  if (alternatives === undefined) return names;
  for (const name of sequenceOf(decodeDer(alternatives))) addName(names, name);
  return names;
}

/** The requested extensions, all from the single attribute for them. */
function requestedExtensions(attributes: Asn1): ReadonlyMap<string, Buffer> {
  if (!isContext(attributes, 0)) throw new Asn1Error('asn1: structure error: no attributes');
  let requested: Asn1 | undefined;
  for (const attribute of childrenOf(attributes)) {
    const [type, values] = sequenceOf(attribute, 2);
    if (oidOf(type) !== oids.extensionRequest) continue;
    const [list, ...more] = setOf(values, 1);
    if (requested !== undefined || more.length > 0) {
      throw new CertificateRequestError('x509: extensions are requested more than once');
    }
    requested = list;
  }
  return requested === undefined ? new Map() : readExtensions(requested);
}

/** Adds a general name to the list for its form (context tags from RFC 5280, 4.2.1.6). */
function addName(names: Writable<Names>, name: Asn1): void {
  if (isContext(name, 1)) names.emailAddresses.push(ia5TextOf(name));
  else if (isContext(name, 2)) names.dnsNames.push(ia5TextOf(name));
  else if (isContext(name, 6)) names.uris.push(ia5TextOf(name));
  else if (isContext(name, 7)) names.ipAddresses.push(ipText(bytesOf(name)));
  else names.otherNames++;
}

function ipText(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) throw new Asn1Error('asn1: structure error: an IP address of odd length');
  return Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(i * 2).toString(16)).join(':');
}
