import { X509Certificate } from 'node:crypto';
import { readPem } from '../../../base/machinery/x509/pem.js';
import type { CertificateSigningRequest } from '../../../objects/apis/certificates/v1/certificate-signing-request.types.js';
import { CertificateRequestLoop, type StoredRequest } from '../certificate-request-loop.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import type { WorkOutcome } from '../work-queue.js';

const decisions: ReadonlySet<string> = new Set(['Approved', 'Denied', 'Failed']);
const hourMs = 3_600_000;
/**
 * How long requests are kept after their last change (specification 8): first if approved, denied or failed, then if
 * pending.
 */
const decidedLifeMs = hourMs;
const pendingLifeMs = 24 * hourMs;
/** The longest wait: timers can't wait for a year. */
const longestWaitMs = 24 * hourMs;

/** Removes requests that are no longer needed (specification 3). */
export class CsrCleanerController extends CertificateRequestLoop {
  readonly name = 'certificate-cleaner';

  protected concerns(): boolean {
    return true;
  }

  protected async process(request: StoredRequest, work: ReconcileContext): Promise<WorkOutcome> {
    const dueIn = removalTime(request) - this.dependencies.timers.now();
    if (dueIn > 0) return Math.min(dueIn, longestWaitMs);
    const { name, resourceVersion = '' } = request.metadata;
    if (await this.requests.delete(work, request, { resourceVersion })) {
      this.dependencies.logger.info('an old certificate request was removed', { request: name });
    }
    return 'done';
  }
}

/** When a request has to be removed, in milliseconds since 1970. */
export function removalTime({ metadata, status }: CertificateSigningRequest): number {
  const conditions = status.conditions ?? [];
  const isDecided = conditions.some(({ type, status: is }) => decisions.has(type) && is === 'True');
  const changes = conditions.map(({ lastUpdateTime }) => Date.parse(lastUpdateTime ?? '')).filter(Number.isFinite);
  const created = Date.parse(metadata.creationTimestamp ?? '');
  const life = isDecided ? decidedLifeMs : pendingLifeMs;
  return Math.min(Math.max(created, ...changes) + life, certificateEnd(status.certificate ?? ''));
}

function certificateEnd(certificate: string): number {
  const block = readPem(Buffer.from(certificate, 'base64').toString('latin1')).find(
    ({ label }) => label === 'CERTIFICATE',
  );
  if (block === undefined) return Number.POSITIVE_INFINITY;
  try {
    return Date.parse(new X509Certificate(block.der).validTo);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
