import { X509Certificate } from 'node:crypto';

const pemBlock = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * The CAs that client certificates are accepted from. They can be replaced while the server runs; `generation` shows
 * whether they were. A CA is identified by its name and key, so renewing its certificate changes nothing for clients.
 */
export class CertificatePool {
  private anchors: Anchors;
  private current = 0;
  private verdicts = new WeakMap<readonly X509Certificate[], boolean>();

  /** @param pem one or more certificates; throws when there is none or one can't be read. */
  constructor(pem: string | Buffer) {
    this.anchors = readAnchors(pem);
  }

  /** The number of replacements so far. */
  get generation(): number {
    return this.current;
  }

  /** Replaces the CA certificates. If the new ones are unusable, throws and changes nothing. */
  replace(pem: string | Buffer): void {
    this.anchors = readAnchors(pem);
    this.verdicts = new WeakMap();
    this.current++;
  }

  /**
   * Whether one of the certificates is a CA of the pool or signed by one. The result is cached by the array.
   *
   * @param chain each certificate signed by the next, as {@link signedChain} ensures.
   */
  trusts(chain: readonly X509Certificate[]): boolean {
    let verdict = this.verdicts.get(chain);
    if (verdict === undefined) {
      verdict = chain.some((certificate) => this.vouchesFor(certificate));
      this.verdicts.set(chain, verdict);
    }
    return verdict;
  }

  /** Whether the other pool trusts a CA of this pool: it contains the CA itself or one that signed it. */
  isVouchedForBy(other: CertificatePool): boolean {
    for (const anchors of this.anchors.values()) {
      if (anchors.some((anchor) => other.vouchesFor(anchor))) return true;
    }
    return false;
  }

  private vouchesFor(certificate: X509Certificate): boolean {
    const { anchors } = this;
    if (anchors.get(certificate.subject)?.some((anchor) => isSameKey(anchor, certificate))) return true;
    return anchors.get(certificate.issuer)?.some((anchor) => isSigned(certificate, anchor)) ?? false;
  }
}

/** CAs by name; several may share one name. */
type Anchors = ReadonlyMap<string, readonly X509Certificate[]>;

/**
 * The beginning of a chain as far as its signatures are verified. It ends before the first certificate that didn't sign
 * its predecessor or is not allowed to. The peer's chain is linked only by names, and TLS may have found another path
 * to a CA.
 */
export function signedChain(chain: readonly X509Certificate[]): readonly X509Certificate[] {
  const broken = chain.findIndex((certificate, i) => {
    const subject = chain[i - 1];
    return subject !== undefined && !(isAuthority(certificate) && isSigned(subject, certificate));
  });
  return broken < 0 ? chain : chain.slice(0, broken);
}

/**
 * Whether a certificate belongs to a CA. Old roots lack the extension that marks CAs: they count if self-signed, and
 * only matter in a pool. Equal names of subject and issuer are not enough.
 */
function isAuthority(certificate: X509Certificate): boolean {
  return certificate.ca || isSigned(certificate, certificate);
}

function isSigned(certificate: X509Certificate, by: X509Certificate): boolean {
  return certificate.checkIssued(by) && certificate.verify(by.publicKey);
}

function isSameKey(a: X509Certificate, b: X509Certificate): boolean {
  return a.publicKey.equals(b.publicKey);
}

function readAnchors(pem: string | Buffer): Anchors {
  const blocks = String(pem).match(pemBlock) ?? [];
  if (blocks.length === 0) throw new Error('the file has no certificate in PEM');
  return Map.groupBy(
    blocks.map((block) => new X509Certificate(block)),
    ({ subject }) => subject,
  );
}
