import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import * as x509 from '@peculiar/x509';

/** The properties of a test's certificate; missing ones are those of a good client certificate. */
export interface TestCertificate {
  /** Attributes of the subject in order, e.g. `[{ O: ['a'] }, { CN: ['b'] }]`. */
  readonly subject: x509.JsonName;
  readonly authority?: boolean;
  /** Extended key usages. Undefined: the usage of clients; empty: no such extension. */
  readonly usages?: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /**
   * Whether the certificate identifies its key and the signing key, which is necessary for authorities with the same
   * name.
   */
  readonly keyIdentifiers?: boolean;
  /** Names or addresses of a server. */
  readonly names?: readonly x509.JsonGeneralName[];
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
/** The usage of a server's certificate. */
export const serverAuth = '1.3.6.1.5.5.7.3.1';

const dayMs = 86_400_000;
const serialBytes = 16;

/** A serial number in hex. The library's own ones may begin with a zero byte too many, which OpenSSL refuses (illegal padding). */
export function randomSerial(): string {
  return `4${randomBytes(serialBytes).toString('hex').slice(1)}`;
}

/** A certificate with its key, which may sign further certificates. */
export class TestIdentity {
  private constructor(
    private readonly certificate: x509.X509Certificate,
    private readonly keys: { readonly publicKey: CryptoKey; readonly privateKey: CryptoKey },
    /** The certificate and those of its authorities, without the root. */
    readonly chain: string,
    readonly key: string,
  ) {}

  /** The certificate without its authorities. */
  get cert(): string {
    return `${this.certificate.toString('pem')}\n`;
  }

  /** A self-signed authority. */
  static root(name: string, keyIdentifiers = false): Promise<TestIdentity> {
    return TestIdentity.make({ subject: [{ CN: [name] }], authority: true, keyIdentifiers }, undefined);
  }

  /** Signs a certificate for a new key. */
  issue(request: TestCertificate): Promise<TestIdentity> {
    return TestIdentity.make(request, this);
  }

  /** Signs one more certificate for the key of another identity. */
  issueFor(owner: TestIdentity, request: TestCertificate): Promise<TestIdentity> {
    return TestIdentity.make(request, this, owner.keys);
  }

  /** The revocation list of this authority, in DER. */
  async revocationList(
    revoked: readonly TestIdentity[],
    times: { readonly thisUpdate?: Date; readonly nextUpdate?: Date; readonly serials?: readonly string[] } = {},
    extensions: x509.Extension[] = [],
  ): Promise<Buffer> {
    const serials = [...revoked.map(({ certificate }) => certificate.serialNumber), ...(times.serials ?? [])];
    const list = await x509.X509CrlGenerator.create({
      issuer: this.certificate.subject,
      thisUpdate: times.thisUpdate ?? new Date(Date.now() - dayMs),
      nextUpdate: times.nextUpdate ?? new Date(Date.now() + dayMs),
      signingKey: this.keys.privateKey,
      signingAlgorithm: algorithm,
      entries: serials.map((serialNumber) => ({ serialNumber, revocationDate: new Date(Date.now() - dayMs) })),
      extensions,
    });
    return Buffer.from(list.rawData);
  }

  private static async make(
    request: TestCertificate,
    issuer: TestIdentity | undefined,
    owned?: TestIdentity['keys'],
  ): Promise<TestIdentity> {
    const keys = owned ?? (await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']));
    const isAuthority = request.authority === true;
    const usages = request.usages ?? (isAuthority ? [] : [x509.ExtendedKeyUsage.clientAuth]);
    const flags = x509.KeyUsageFlags;
    const extensions: x509.Extension[] = [
      new x509.BasicConstraintsExtension(isAuthority, undefined, true),
      new x509.KeyUsagesExtension(isAuthority ? flags.keyCertSign : flags.digitalSignature, true),
    ];
    if (usages.length > 0) extensions.push(new x509.ExtendedKeyUsageExtension([...usages]));
    if (request.names !== undefined) extensions.push(new x509.SubjectAlternativeNameExtension([...request.names]));
    if (request.keyIdentifiers === true) {
      const signer = (issuer?.keys ?? keys).publicKey;
      extensions.push(await x509.SubjectKeyIdentifierExtension.create(keys.publicKey));
      extensions.push(await x509.AuthorityKeyIdentifierExtension.create(signer));
    }
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: randomSerial(),
      subject: request.subject,
      issuer: issuer === undefined ? request.subject : issuer.certificate.subjectName,
      notBefore: request.notBefore ?? new Date(Date.now() - dayMs),
      notAfter: request.notAfter ?? new Date(Date.now() + dayMs),
      publicKey: keys.publicKey,
      signingKey: (issuer?.keys ?? keys).privateKey,
      signingAlgorithm: algorithm,
      extensions,
    });
    const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
    const pem = `${certificate.toString('pem')}\n`;
    const isRoot = issuer === undefined;
    return new TestIdentity(
      certificate,
      keys,
      isRoot ? '' : `${pem}${issuer.chain}`,
      `${x509.PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`,
    );
  }
}
