import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';

/** A certificate for some host names, as its files contain it. */
export interface NamedPair {
  readonly certificate: Buffer;
  readonly privateKey: Buffer;
  /** Host names in lower case, perhaps with `*.` in front. None: the names of the certificate. */
  readonly names: readonly string[];
}

/**
 * The contexts that a listener uses for clients that ask for certain host names (server name indication). Whole names
 * count before patterns, names that were given count before names of certificates, and the first pair counts before the
 * next one. A pattern stands for names with one more label.
 */
export class SniContexts {
  private readonly byName = new Map<string, SecureContext>();

  /**
   * @param settings what all contexts have in common: versions, ciphers, authorities of clients
   * @throws Error when a certificate and its key are unusable or don't belong together.
   */
  constructor(pairs: readonly NamedPair[], settings: SecureContextOptions) {
    const contexts = pairs.map(({ certificate, privateKey }) =>
      createSecureContext({ ...settings, cert: certificate, key: privateKey }),
    );
    const assign = (names: readonly string[], i: number) => {
      for (const name of names) {
        if (!this.byName.has(name)) this.byName.set(name, contexts[i] as SecureContext);
      }
    };
    pairs.forEach(({ names }, i) => {
      assign(names, i);
    });
    pairs.forEach(({ names, certificate }, i) => {
      if (names.length === 0) assign(namesOf(certificate), i);
    });
  }

  /** The context for a host name; undefined for names that have none. */
  find(name: string): SecureContext | undefined {
    const lower = name.toLowerCase().replace(/\.$/, '');
    return this.byName.get(lower) ?? this.byName.get(lower.replace(/^[^.]*/, '*'));
  }
}

/** The DNS names of a certificate, or its common name when it has none. */
function namesOf(pem: Buffer): readonly string[] {
  const { subjectAltName, subject } = new X509Certificate(pem);
  const names = [...(subjectAltName ?? '').matchAll(/(?:^|, )DNS:([^,\s"]+)/g)].map((match) => match[1] as string);
  const common = /^CN=(\S+)$/m.exec(subject)?.[1];
  return (names.length > 0 || common === undefined ? names : [common]).map((name) => name.toLowerCase());
}
