import { constants } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions, type Server, type TlsOptions } from 'node:tls';
import { type Delay, FilePoll, systemDelay } from '../../../base/config/file-poll.js';
import type { SniCertificate } from '../../../base/config/sni-certificate.js';
import type { Logger } from '../../../base/observability/logger.js';
import { CertificatePool } from './certificate-pool.js';
import { certificatesOf, type Expiring } from './certificate-watch.js';
import { type NamedPair, SniContexts } from './sni-contexts.js';

const pollMs = 2_000;

/** The files of the listener's certificates and keys. */
export interface TlsFilePaths {
  readonly certificate: string;
  readonly privateKey: string;
  /** Files of client CA certificates by purpose; undefined when not configured. */
  readonly clientAuthorities: Readonly<Record<string, string | undefined>>;
  /** Further pairs, for clients that ask for other host names. */
  readonly named?: readonly SniCertificate[];
}

/** Pools of client CA certificates by purpose. */
export type ClientAuthorities = ReadonlyMap<string, CertificatePool>;

/**
 * The listener's certificates: its own, those for other host names, and the CA certificates it requests client
 * certificates for. When a file changes, new connections use the new certificates and open connections stay. Unusable files are logged, and the old
 * certificates stay in use.
 */
export class TlsFiles {
  private readonly pools: ClientAuthorities;
  private readonly paths: readonly string[];
  private readonly poolNames: readonly string[];
  private readonly named: readonly SniCertificate[];
  private contents: readonly Buffer[];
  private sni: SniContexts;
  private readonly poll: FilePoll;
  private server: Pick<Server, 'setSecureContext'> | undefined;
  private readonly listeners = new Set<() => void>();

  /**
   * Reads all files; throws when one of them is unusable.
   *
   * @param settings TLS versions and ciphers of the listener
   * @param check throws for CA certificates that must not be used together. Called at the start and for each change.
   */
  constructor(
    { certificate, privateKey, clientAuthorities, named = [] }: TlsFilePaths,
    private readonly check: (authorities: ClientAuthorities) => void,
    private readonly logger: Pick<Logger, 'info' | 'error'>,
    wait: Delay = systemDelay,
    private readonly settings: SecureContextOptions = { minVersion: 'TLSv1.2' },
  ) {
    const configured = Object.entries(clientAuthorities).filter(([, path]) => path !== undefined);
    this.poolNames = configured.map(([name]) => name);
    this.named = named;
    this.paths = [
      certificate,
      privateKey,
      ...configured.map(([, path]) => path as string),
      ...named.flatMap((pair) => [pair.certificate, pair.privateKey]),
    ];
    this.contents = this.paths.map((path) => readFileSync(path));
    this.pools = this.poolsOf(this.contents);
    this.sni = this.sniOf(this.contents);
    check(this.pools);
    const fault = (error: unknown) => logger.error('changed certificates are not used', { error });
    this.poll = new FilePoll(this.paths, (contents) => this.replace(contents), fault, pollMs, wait);
  }

  /** The pool for one purpose; undefined when it is not configured. */
  pool(name: string): CertificatePool | undefined {
    return this.pools.get(name);
  }

  /** The CA certificates for one purpose that are currently in force; undefined when not configured. */
  authorities(name: string): string | undefined {
    const i = this.poolNames.indexOf(name);
    return i < 0 ? undefined : String(this.contents[i + 2]);
  }

  /** The expiry times of the certificates in force: the listener's own and the CA certificates of each purpose. */
  expiring(): readonly Expiring[] {
    const { contents, poolNames } = this;
    return [
      ...certificatesOf('serving', String(contents[0])),
      ...this.pairsOf(contents).flatMap(({ certificate }) => certificatesOf('serving', String(certificate))),
      ...poolNames.flatMap((name, i) => certificatesOf(`${name}-ca`, String(contents[i + 2]))),
    ];
  }

  /** TLS options for creating the listener. Client certificates are requested but never required. */
  listenerOptions(): SecureContextOptions & Pick<TlsOptions, 'requestCert' | 'rejectUnauthorized' | 'SNICallback'> {
    const asks = this.pools.size > 0;
    return {
      ...this.contextOptions(this.contents),
      ...(asks ? { requestCert: true, rejectUnauthorized: false } : {}),
      // Without a context for the name, the connection keeps the listener's own.
      ...(this.named.length > 0 ? { SNICallback: (name, use) => use(null, this.sni.find(name)) } : {}),
    };
  }

  /** Applies changed files to the listener until the signal is aborted. */
  start(server: Pick<Server, 'setSecureContext'>, signal: AbortSignal): void {
    this.server = server;
    this.poll.start(this.contents, signal);
  }

  /** Calls `listener` whenever changed files have come into force. */
  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** Resolves when polling has stopped after the signal is aborted. */
  stopped(): Promise<void> {
    return this.poll.stopped();
  }

  private replace(contents: readonly Buffer[]): void {
    const options = this.contextOptions(contents);
    // Throws when certificate and key don't match, before anything is replaced.
    createSecureContext(options);
    const sni = this.sniOf(contents);
    this.check(this.poolsOf(contents));
    this.sni = sni;
    this.server?.setSecureContext(options);
    this.poolNames.forEach((name, i) => {
      const content = contents[i + 2] as Buffer;
      if (!content.equals(this.contents[i + 2] as Buffer)) this.pools.get(name)?.replace(content);
    });
    const changed = this.paths.filter((_, i) => !(contents[i] as Buffer).equals(this.contents[i] as Buffer));
    this.contents = contents;
    this.logger.info('changed certificates are in use', { files: changed.join(',') });
    for (const listener of this.listeners) listener();
  }

  private pairsOf(contents: readonly Buffer[]): readonly NamedPair[] {
    const first = 2 + this.poolNames.length;
    return this.named.map(({ names }, i) => ({
      certificate: contents[first + 2 * i] as Buffer,
      privateKey: contents[first + 2 * i + 1] as Buffer,
      names,
    }));
  }

  private sniOf(contents: readonly Buffer[]): SniContexts {
    return new SniContexts(this.pairsOf(contents), this.contextOptions(contents));
  }

  private poolsOf(contents: readonly Buffer[]): ClientAuthorities {
    return new Map(
      this.poolNames.map((name, i) => [name, poolOf(contents[i + 2] as Buffer, this.paths[i + 2] as string)]),
    );
  }

  private contextOptions(contents: readonly Buffer[]): SecureContextOptions {
    const [cert, key] = contents;
    const ca = contents.slice(2, 2 + this.poolNames.length);
    const base: SecureContextOptions = { cert, key, ...this.settings };
    if (ca.length === 0) return base;
    return {
      ...base,
      ca: ca.map((content) => content.toString('utf8')),
      // An intermediate CA may be trusted alone, without its root.
      allowPartialTrustChain: true,
      // A resumed session would keep the result of its first connection's check, and its chain would be lost.
      secureOptions: constants.SSL_OP_NO_TICKET,
    };
  }
}

function poolOf(content: Buffer, path: string): CertificatePool {
  try {
    return new CertificatePool(content);
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
  }
}
