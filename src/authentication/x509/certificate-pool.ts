import { createHash, X509Certificate } from 'node:crypto';

const pemBlock = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * The authorities that client certificates are accepted from. Can be replaced while the server runs: `generation` tells
 * whether it was. An authority is its name and its key, so renewing its certificate changes nothing for clients.
 */
export class CertificatePool {
  private anchors: ReadonlySet<string>;
  private current = 0;

  /** @param pem one or more certificates; throws when there is none or one can't be read. */
  constructor(pem: string | Buffer) {
    this.anchors = readAnchors(pem);
  }

  /** Counts the replacements. */
  get generation(): number {
    return this.current;
  }

  /** Throws and stays as it is when the certificates can't be used. */
  replace(pem: string | Buffer): void {
    this.anchors = readAnchors(pem);
    this.current++;
  }

  /** Whether one of the certificates is an authority of the pool; `ids` are from {@link anchorId}. */
  hasAny(ids: readonly string[]): boolean {
    return ids.some((id) => this.anchors.has(id));
  }
}

/** What an authority is known by: its subject and its public key. */
export function anchorId(certificate: X509Certificate): string {
  const key = certificate.publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(key).update(certificate.subject).digest('base64');
}

function readAnchors(pem: string | Buffer): ReadonlySet<string> {
  const blocks = String(pem).match(pemBlock) ?? [];
  if (blocks.length === 0) throw new Error('the file has no certificate in PEM');
  return new Set(blocks.map((block) => anchorId(new X509Certificate(block))));
}
