import { X509Certificate } from 'node:crypto';
import { atOnce, inTurns, type Steps } from '../../../base/machinery/turns.js';
import { encodeDer } from '../../../base/machinery/x509/asn1.js';
import { readCertificate } from '../../../base/machinery/x509/read-certificate.js';
import { type RevocationList, readRevocationList, serialText } from '../../../base/machinery/x509/revocation-list.js';
import { CertificatePool } from './certificate-pool.js';

/** Larger files are refused, since part of the work on a file is done in one step. */
const maxFileBytes = 24 * 1024 * 1024;
/** How far an issuer's clock may be ahead of the server's. */
const leewayMs = 300_000;

const pemBlocks = /-----BEGIN ([A-Z0-9 ]+)-----([\s\S]*?)-----END \1-----/g;
const certificateBlock = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** The relevant data of a list, and the CA that signed it. The bytes of the list are not kept. */
interface SignedList {
  readonly list: Pick<RevocationList, 'thisUpdate' | 'nextUpdate' | 'serials'>;
  readonly authority: X509Certificate;
}

/** What happens to certificates after the next update of their list was due. */
export type ExpiredListPolicy = 'Refuse' | 'Use';

/** When a list expires; used for warnings. */
export interface ListExpiry {
  readonly issuer: string;
  /** Milliseconds since the epoch. */
  readonly nextUpdate: number;
}

/**
 * The revocation lists of a file, each verified with the key of its CA. Immutable. Certificates of CAs without a list
 * are not checked.
 */
export class Revocations {
  private constructor(private readonly lists: readonly SignedList[]) {}

  /**
   * Reads lists in PEM, or one in DER. Certificates in the file are those of intermediate CAs that signed lists.
   *
   * @param authorities CA certificates of clients, in PEM
   * @throws Error when a list is malformed, not signed by any of the CAs, or from the future.
   */
  static read(content: Buffer, authorities: string, now: number): Revocations {
    return atOnce(Revocations.reading(content, authorities, now));
  }

  /** Like {@link read}, but yields to other work, however long the lists are. */
  static readInTurns(content: Buffer, authorities: string, now: number): Promise<Revocations> {
    return inTurns(Revocations.reading(content, authorities, now));
  }

  private static *reading(content: Buffer, authorities: string, now: number): Steps<Revocations> {
    if (content.length > maxFileBytes) throw new Error(`the revocation lists are larger than ${maxFileBytes} bytes`);
    const isPem = content.includes('-----BEGIN ');
    const text = isPem ? content.toString('latin1') : '';
    yield;
    const blocks = isPem ? [...text.matchAll(pemBlocks)].map(([, label, body]) => ({ label, body: body ?? '' })) : [];
    yield;
    const pool = new CertificatePool(authorities);
    const known = [...(authorities.match(certificateBlock) ?? [])].map((pem) => new X509Certificate(pem));
    const others = isPem ? (text.match(certificateBlock) ?? []).map((pem) => new X509Certificate(pem)) : [];
    for (const other of others) {
      if (!pool.trusts([other]))
        throw new Error('a certificate beside the revocation lists is from an unknown authority');
      if (other.ca) known.push(other);
    }
    yield;
    const ders = isPem
      ? blocks.filter(({ label }) => label === 'X509 CRL').map(({ body }) => Buffer.from(body, 'base64'))
      : [content];
    if (ders.length === 0) throw new Error('the file has no revocation list');
    const names = known.map((authority) => ({ authority, name: encodeDer(readCertificate(authority.raw).subject) }));
    const newest = new Map<X509Certificate, SignedList>();
    for (const [i, der] of ders.entries()) {
      const list = yield* readRevocationList(der);
      yield;
      const signer = names.find(
        ({ authority, name }) => name.equals(list.issuer) && list.isSignedBy(authority.publicKey),
      );
      const which = ders.length === 1 ? 'the revocation list' : `revocation list ${i + 1} of ${ders.length}`;
      if (signer === undefined) throw new Error(`${which} is not signed by an authority of client certificates`);
      if (list.thisUpdate > now + leewayMs) throw new Error(`${which} is not valid yet`);
      const before = newest.get(signer.authority);
      if (before === undefined || before.list.thisUpdate <= list.thisUpdate) {
        const { thisUpdate, nextUpdate, serials } = list;
        newest.set(signer.authority, { list: { thisUpdate, nextUpdate, serials }, authority: signer.authority });
      }
    }
    return new Revocations([...newest.values()]);
  }

  /** Number of revoked certificates. */
  get size(): number {
    return this.lists.reduce((sum, { list }) => sum + list.serials.size, 0);
  }

  expiries(): readonly ListExpiry[] {
    return this.lists.flatMap(({ list: { nextUpdate }, authority }) =>
      nextUpdate === undefined ? [] : [{ issuer: authority.subject.replaceAll('\n', ','), nextUpdate }],
    );
  }

  /** Whether a list revokes a certificate of the chain, and until when the lists of its CAs are valid. */
  judge(chain: readonly X509Certificate[]): { readonly isRevoked: boolean; readonly goodUntil: number } {
    let isRevoked = false;
    let goodUntil = Number.POSITIVE_INFINITY;
    for (const certificate of chain) {
      for (const { list, authority } of this.lists) {
        if (!isIssuedBy(certificate, authority)) continue;
        isRevoked ||= list.serials.has(serialText(certificate.serialNumber));
        goodUntil = Math.min(goodUntil, list.nextUpdate ?? Number.POSITIVE_INFINITY);
      }
    }
    return { isRevoked, goodUntil };
  }
}

/** A root, which is its own issuer, is not checked: trusting it is the operator's decision. */
function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  if (certificate.fingerprint256 === authority.fingerprint256) return false;
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}
