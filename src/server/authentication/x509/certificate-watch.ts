import { X509Certificate } from 'node:crypto';
import { Gauge, type Registry } from 'prom-client';
import type { Delay } from '../../../base/config/file-poll.js';
import { systemDelay } from '../../../base/config/file-poll.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** How long before its expiry a certificate causes a warning. */
const certificateNoticeMs = 30 * dayMs;
/** How long before its expiry a revocation list causes a warning. Lists are replaced every few days or hours. */
const listNoticeMs = 6 * hourMs;
const pemBlock = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** A certificate or revocation list with an expiry date. */
export interface Expiring {
  /** `serving`, `client-ca`, `proxy-ca` or `client-crl`. */
  readonly use: string;
  /** Name of the certificate, or of the issuer of a list. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
}

/** The certificates in a PEM text. */
export function certificatesOf(use: string, pem: string): readonly Expiring[] {
  return (pem.match(pemBlock) ?? []).map((block) => {
    const { subject, validTo } = new X509Certificate(block);
    return { use, name: subject.replaceAll('\n', ','), endsAt: Date.parse(validTo) };
  });
}

/** Dependencies of a {@link CertificateWatch}. */
export interface CertificateWatchDependencies {
  /** The certificates and lists currently in use. */
  readonly inUse: () => readonly Expiring[];
  readonly now: () => number;
  readonly logger: { warn(text: string, fields?: object): void; error(text: string, fields?: object): void };
  readonly metrics: Registry;
  readonly wait?: Delay;
}

/**
 * Reports when the server's certificate, the client CA certificates and the revocation lists expire: in a metric, and
 * once a day in the log from 30 days before (lists: six hours).
 */
export class CertificateWatch {
  private loop: Promise<void> | undefined;
  private readonly loggedAt = new Map<string, number>();

  constructor(private readonly dependencies: CertificateWatchDependencies) {
    const { inUse } = dependencies;
    new Gauge({
      name: 'plinth_certificate_expiration_timestamp_seconds',
      help: 'When a certificate or revocation list in use ends: of serving, client-ca, proxy-ca, client-crl.',
      labelNames: ['use', 'name'],
      registers: [dependencies.metrics],
      collect() {
        this.reset();
        for (const { use, name, endsAt } of inUse()) this.set({ use, name }, endsAt / 1000);
      },
    });
  }

  start(signal: AbortSignal): void {
    this.loop = this.run(signal);
  }

  /** Resolves when the watch has stopped after the signal is aborted. */
  async stopped(): Promise<void> {
    await this.loop;
  }

  private async run(signal: AbortSignal): Promise<void> {
    const wait = this.dependencies.wait ?? systemDelay;
    while (!signal.aborted) {
      this.look();
      try {
        await wait(hourMs, signal);
      } catch {
        return;
      }
    }
  }

  private look(): void {
    const now = this.dependencies.now();
    for (const { use, name, endsAt } of this.dependencies.inUse()) {
      const left = endsAt - now;
      const hasEnded = left <= 0;
      // The expiry itself is logged at once, however recent the last warning was.
      const key = `${use}\n${name}\n${endsAt}\n${hasEnded}`;
      const isDue = left < (use === 'client-crl' ? listNoticeMs : certificateNoticeMs);
      if (!isDue || now - (this.loggedAt.get(key) ?? Number.NEGATIVE_INFINITY) < dayMs) continue;
      this.loggedAt.set(key, now);
      const fields = { use, name, end: new Date(endsAt).toISOString() };
      if (hasEnded) this.dependencies.logger.error('a certificate or revocation list has expired', fields);
      else this.dependencies.logger.warn('a certificate or revocation list expires soon', fields);
    }
  }
}
