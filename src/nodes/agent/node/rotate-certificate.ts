import { promises as fs } from 'node:fs';
import { Backoff } from '../../../base/machinery/backoff.js';
import { errorText } from '../../../base/machinery/startup-error.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { ApiUser } from '../../connection/api-connection.js';
import { certificateInfo } from './certificate-info.js';
import {
  type CertificatePair,
  type CertificatePurpose,
  type CertificateSource,
  certificatePath,
  keepCertificate,
  requestNodeCertificate,
} from './node-certificates.js';

/** The API as somebody who may ask for the first certificate of a node. */
export interface BootstrapApi {
  readonly api: ApiUser;
  readonly stop: () => void;
}

export interface RotationDependencies extends CertificateSource {
  readonly purpose: CertificatePurpose;
  /** The certificate in use, in PEM; undefined: there is none yet. */
  readonly present: string | undefined;
  /** Replaces the pair in use. */
  readonly use: (pair: CertificatePair) => void;
  /** Asks in place of the node when its certificate has expired; undefined: nobody does. */
  readonly bootstrap?: (() => Promise<BootstrapApi>) | undefined;
  readonly random: () => number;
  readonly logger: Logger;
}

/**
 * Certificates are renewed after this fraction of their life, plus a random delay so that nodes don't all ask at once.
 */
const usedUp = 0.7;
const spread = 0.2;
/** However short the life of a certificate is, the next one is not requested earlier than this after it. */
const leastMs = 5_000;
const pauses = { firstMs: 2_000, longestMs: 32_000 };

/** Requests a certificate if there is none, and renews it before it expires, until the abort. */
export async function rotateCertificate(dependencies: RotationDependencies, signal: AbortSignal): Promise<void> {
  const { folder, purpose, use, timers, random, logger } = dependencies;
  const backoff = new Backoff(pauses, random);
  let { present } = dependencies;
  let receivedAt = present === undefined ? undefined : await keptAt(folder, purpose, present);
  while (!signal.aborted) {
    if (present !== undefined && backoff.failures === 0) {
      await timers.wait(Math.max(0, renewalTime(present, receivedAt, random()) - timers.now()), signal);
      if (signal.aborted) return;
    }
    try {
      const pair = await request(dependencies, present, signal);
      await keepCertificate(folder, purpose.kind, pair, timers.now());
      use(pair);
      present = pair.certificate;
      receivedAt = timers.now();
      backoff.reset();
      const until = new Date(certificateInfo(present).to).toISOString();
      logger.info(`the node has a new ${purpose.kind} certificate`, { until });
    } catch (error) {
      if (signal.aborted) return;
      logger.warn(`the ${purpose.kind} certificate of the node is not there yet`, { error: errorText(error) });
      await timers.wait(backoff.next(), signal);
    }
  }
}

/**
 * When the next certificate is requested. Signers date certificates back by some minutes, for clocks that go wrong; of a short life that
 * could be the most, so what counts is what was left when the certificate came.
 *
 * @param receivedAt undefined: nobody knows
 */
function renewalTime(certificate: string, receivedAt: number | undefined, random: number): number {
  const { from, to } = certificateInfo(certificate);
  const begin = Math.max(from, receivedAt ?? from);
  const at = begin + (to - begin) * (usedUp + spread * random);
  return receivedAt === undefined ? at : Math.max(at, receivedAt + leastMs);
}

/** When a certificate was stored, in milliseconds since the epoch; undefined if it is not the one that was stored last. */
async function keptAt(folder: string, { kind }: CertificatePurpose, present: string): Promise<number | undefined> {
  const path = certificatePath(folder, kind);
  try {
    return (await fs.readFile(path, 'utf8')).startsWith(present.trimEnd()) ? (await fs.stat(path)).mtimeMs : undefined;
  } catch {
    return undefined;
  }
}

async function request(
  dependencies: RotationDependencies,
  present: string | undefined,
  signal: AbortSignal,
): Promise<CertificatePair> {
  const { bootstrap, purpose, timers } = dependencies;
  const hasExpired = present !== undefined && certificateInfo(present).to <= timers.now();
  if (!hasExpired || bootstrap === undefined) return requestNodeCertificate(dependencies, purpose, signal);
  const { api, stop } = await bootstrap();
  try {
    return await requestNodeCertificate({ ...dependencies, api }, purpose, signal);
  } finally {
    stop();
  }
}
