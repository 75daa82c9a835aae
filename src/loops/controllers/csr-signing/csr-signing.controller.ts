import type { CertificateAuthority } from '../../../base/machinery/x509/certificate-authority.js';
import { parseCertificateRequest } from '../../../base/machinery/x509/certificate-request.js';
import { CertificateRequestError } from '../../../base/machinery/x509/certificate-request-error.js';
import { certificateUsages } from '../../../base/machinery/x509/key-usages.js';
import type { CertificateSigningRequest } from '../../../objects/apis/certificates/v1/certificate-signing-request.types.js';
import { CertificateRequestLoop, hasTrueCondition, type StoredRequest } from '../certificate-request-loop.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import type { ReconcileDependencies } from '../frame/reconcile-loop.js';
import type { WorkOutcome } from '../work-queue.js';
import { type SignerRule, signerRules } from './signer-rules.js';

/** How certificates are signed. */
export interface SigningAuthorities {
  /** The authorities by signer name. A request is ignored if its signer has none. */
  readonly authorities: ReadonlyMap<string, CertificateAuthority>;
  /** Longest validity of a certificate. */
  readonly durationMs: number;
}

export interface CsrSigningDependencies extends ReconcileDependencies {
  readonly signing: SigningAuthorities;
}

/** How far certificates are backdated, in milliseconds: the clock of a verifier may run behind ours by this much. */
const backdateMs = 300_000;
/** Certificates with a lifetime below this, in milliseconds, are not shortened by the backdating. */
const shortLifeMs = 8 * 3_600_000;
const minDurationMs = 600_000;

/**
 * Signs approved requests of the built-in signers (specification 2.7). A request that breaks a rule of its signer stays
 * unsigned; the reason is only logged.
 */
export class CsrSigningController extends CertificateRequestLoop {
  readonly name = 'certificate-controller';
  private readonly rules: ReadonlyMap<string, SignerRule>;

  /** @throws Error when the registry has no certificate signing requests. */
  constructor(private readonly own: CsrSigningDependencies) {
    super(own);
    this.rules = signerRules(own.names);
  }

  protected concerns(request: CertificateSigningRequest): boolean {
    const { spec, status } = request;
    const { authorities } = this.own.signing;
    return (
      this.rules.has(spec.signerName) &&
      authorities.has(spec.signerName) &&
      (status.certificate ?? '') === '' &&
      hasTrueCondition(request, 'Approved') &&
      !hasTrueCondition(request, 'Denied') &&
      !hasTrueCondition(request, 'Failed')
    );
  }

  protected async process(request: StoredRequest, work: ReconcileContext): Promise<WorkOutcome> {
    const { logger } = this.own;
    const { signerName: signer } = request.spec;
    const name = request.metadata.name ?? '';
    const outcome = this.sign(request);
    if ('problem' in outcome) {
      logger.warn('a certificate request cannot be signed', { request: name, signer, reason: outcome.problem });
      return 'done';
    }
    const certificate = Buffer.from(outcome.certificate, 'latin1').toString('base64');
    if (await this.changeStatus('status', request, work, (status) => ({ ...status, certificate }))) {
      logger.info('a certificate was issued', { request: name, signer });
    }
    return 'done';
  }

  private sign({ spec }: CertificateSigningRequest): { readonly certificate: string } | { readonly problem: string } {
    const { authorities, durationMs } = this.own.signing;
    const authority = authorities.get(spec.signerName);
    const rule = this.rules.get(spec.signerName);
    if (authority === undefined || rule === undefined) return { problem: 'this signer has no authority' };
    const asked = spec.usages ?? [];
    const usages = certificateUsages(asked);
    if (usages.unknown.length > 0) return { problem: `unknown usages ${usages.unknown.join(', ')}` };
    try {
      const request = parseCertificateRequest(Buffer.from(spec.request ?? '', 'base64'));
      const problem = rule(request, asked);
      if (problem !== undefined) return { problem };
      const now = this.own.timers.now();
      if (authority.notAfter <= now) throw new Error('the certificate of the signing authority has expired');
      const { subject, publicKey } = request;
      const validity = validityOf(now, lifeMs(spec.expirationSeconds, durationMs), authority.notAfter);
      return { certificate: authority.issue({ subject, publicKey, names: request, usages, ...validity }) };
    } catch (error) {
      if (error instanceof CertificateRequestError) return { problem: error.message };
      throw error;
    }
  }
}

function lifeMs(expirationSeconds: number | undefined, durationMs: number): number {
  if (expirationSeconds === undefined) return durationMs;
  return Math.min(durationMs, Math.max(expirationSeconds * 1000, minDurationMs));
}

function validityOf(
  now: number,
  life: number,
  latest: number,
): { readonly notBefore: number; readonly notAfter: number } {
  const notBefore = now - backdateMs;
  const end = (life < shortLifeMs ? now : notBefore) + life;
  return { notBefore, notAfter: Math.min(end, latest) };
}
