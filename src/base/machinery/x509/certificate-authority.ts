import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import {
  type Asn1,
  bitString,
  certificateTime,
  childrenOf,
  decodeDer,
  encodeDer,
  explicit,
  implicit,
  namedBits,
  oid,
  primitive,
  sequence,
  tags,
  wholeBytesOf,
} from './asn1.js';
import { Asn1Error } from './asn1-error.js';
import { CertificateAuthorityError } from './certificate-authority-error.js';
import type { AlternativeNames } from './certificate-request.js';
import { generalNames } from './general-names.js';
import type { CertificateUsages } from './key-usages.js';
import { encodePem } from './pem.js';
import { readCertificate } from './read-certificate.js';
import { type SignatureMethod, signatureMethod } from './signature-method.js';

/** The content of a certificate. Times are milliseconds since 1970, cut to whole seconds. */
export interface CertificateContent {
  /** Name in DER. */
  readonly subject: Buffer;
  /** SubjectPublicKeyInfo in DER, of any algorithm. */
  readonly publicKey: Buffer;
  readonly names: AlternativeNames;
  readonly usages: CertificateUsages;
  readonly notBefore: number;
  readonly notAfter: number;
  /** Whether it may itself sign certificates. Default: no. */
  readonly isAuthority?: boolean;
}

const oids = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const;

/** Serial numbers are positive and of at most 20 bytes (RFC 5280, 4.1.2.2). */
const serialBytes = 16;

/** The issuer, in the form that certificates contain. */
interface Issuer {
  readonly name: Asn1;
  readonly keyIdentifier: Buffer;
}

/** Signs certificates (RFC 5280, version 3) with an RSA, ECDSA or Ed25519 key. */
export class CertificateAuthority {
  /** When the authority's certificate expires: no certificate that it signs should be valid longer. */
  readonly notAfter: number;
  private readonly method: SignatureMethod;

  private constructor(
    notAfter: number,
    private readonly issuer: Issuer,
    private readonly key: KeyObject,
    private readonly randomSerial: () => Buffer,
  ) {
    this.notAfter = notAfter;
    this.method = methodOf(key);
  }

  /** An authority for self-signed certificates: it has a name and a key, but no certificate yet. */
  static selfSigned(subject: Buffer, key: KeyObject, notAfter: number): CertificateAuthority {
    const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
    const issuer = { name: decodeDer(subject), keyIdentifier: keyIdentifierOf(decodeDer(publicKey)) };
    return new CertificateAuthority(notAfter, issuer, key, () => randomBytes(serialBytes));
  }

  /**
   * Creates an authority from PEM; the first certificate counts.
   *
   * @throws CertificateAuthorityError when they can't be read, do not match or do not belong to an authority.
   */
  static fromPem(
    certificatePem: string,
    keyPem: string,
    randomSerial: () => Buffer = () => randomBytes(serialBytes),
  ): CertificateAuthority {
    let certificate: X509Certificate;
    let key: KeyObject;
    try {
      certificate = new X509Certificate(certificatePem);
    } catch {
      throw new CertificateAuthorityError('the certificate of the signing authority cannot be read');
    }
    try {
      key = createPrivateKey(keyPem);
    } catch {
      throw new CertificateAuthorityError('the private key of the signing authority cannot be read');
    }
    if (!certificate.checkPrivateKey(key)) {
      throw new CertificateAuthorityError(
        'certificate and private key of the signing authority do not belong together',
      );
    }
    try {
      if (!certificate.ca && !isOldRoot(certificate))
        throw new CertificateAuthorityError('the signing certificate is not that of an authority');
      return new CertificateAuthority(Date.parse(certificate.validTo), issuerOf(certificate), key, randomSerial);
    } catch (error) {
      if (!(error instanceof Asn1Error)) throw error;
      throw new CertificateAuthorityError(`the signing certificate cannot be read: ${error.message}`);
    }
  }

  /** Signs a certificate and returns it as PEM text. */
  issue(content: CertificateContent): string {
    const { algorithm, hash } = this.method;
    const tbs = sequence(
      explicit(0, primitive(tags.integer, Buffer.of(2))),
      primitive(tags.integer, this.serial()),
      algorithm,
      this.issuer.name,
      sequence(certificateTime(content.notBefore), certificateTime(content.notAfter)),
      decodeDer(content.subject),
      decodeDer(content.publicKey),
      explicit(3, sequence(...this.extensions(content))),
    );
    const signature = sign(hash ?? null, encodeDer(tbs), this.key);
    return encodePem('CERTIFICATE', encodeDer(sequence(tbs, algorithm, bitString(signature))));
  }

  private serial(): Buffer {
    const bytes = Buffer.from(this.randomSerial());
    // Make the number positive, without a leading zero byte, which DER does not allow.
    bytes[0] = ((bytes[0] as number) & 0x7f) | 0x40;
    return bytes;
  }

  private extensions({ subject, publicKey, names, usages, isAuthority = false }: CertificateContent): Asn1[] {
    const extensions: Asn1[] = [];
    if (usages.bits.length > 0) extensions.push(extension(oids.keyUsage, true, namedBits(usages.bits)));
    if (usages.purposes.length > 0) {
      extensions.push(extension(oids.extendedKeyUsage, false, sequence(...usages.purposes.map(oid))));
    }
    // cA is false by default and then omitted (X.690, 11.5).
    const constraints = isAuthority ? [primitive(tags.boolean, Buffer.of(0xff))] : [];
    extensions.push(extension(oids.basicConstraints, true, sequence(...constraints)));
    if (isAuthority) {
      const identifier = primitive(tags.octetString, keyIdentifierOf(decodeDer(publicKey)));
      extensions.push(extension(oids.subjectKeyIdentifier, false, identifier));
    }
    extensions.push(extension(oids.authorityKeyIdentifier, false, sequence(implicit(0, this.issuer.keyIdentifier))));
    const general = generalNames(names);
    // Without a subject, only these names identify the holder, so the extension is critical (RFC 5280, 4.2.1.6).
    const isSubjectEmpty = childrenOf(decodeDer(subject)).length === 0;
    if (general.length > 0) extensions.push(extension(oids.subjectAltName, isSubjectEmpty, sequence(...general)));
    return extensions;
  }
}

function extension(id: string, critical: boolean, value: Asn1): Asn1 {
  const content = primitive(tags.octetString, encodeDer(value));
  return critical ? sequence(oid(id), primitive(tags.boolean, Buffer.of(0xff)), content) : sequence(oid(id), content);
}

function methodOf(key: KeyObject): SignatureMethod {
  const method = signatureMethod(key);
  if (method !== undefined) return method;
  throw new CertificateAuthorityError('the key of the signing authority is none of RSA, ECDSA P-256/384/521, Ed25519');
}

/** Whether this is a root of the first versions of X.509, which have no extension that marks authorities. */
function isOldRoot(certificate: X509Certificate): boolean {
  const { extensions } = readCertificate(certificate.raw);
  return extensions.size === 0 && certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey);
}

function issuerOf(certificate: X509Certificate): Issuer {
  const { subject, publicKey, extensions } = readCertificate(certificate.raw);
  const identifier = extensions.get(oids.subjectKeyIdentifier);
  // The value is an octet string inside the octet string, preceded by two bytes for tag and length.
  return { name: subject, keyIdentifier: identifier?.subarray(2) ?? keyIdentifierOf(publicKey) };
}

/** Method 1 of RFC 5280, 4.2.1.2. */
function keyIdentifierOf(publicKey: Asn1): Buffer {
  return createHash('sha1')
    .update(wholeBytesOf(childrenOf(publicKey, 2)[1]))
    .digest();
}
