import { randomUUID } from 'node:crypto';
import type { RequestInfo } from '../machinery/request-context.js';
import { internalError } from '../machinery/status-error.js';
import type { VendorNames } from '../machinery/vendor.js';
import { AuditEvent, type AuditFacts } from './audit-event.js';
import type { AuditMetrics } from './audit-metrics.js';
import type { AuditBackend } from './backends/backend.js';
import type { AuditPolicy, AuditSubject, PolicyRule } from './policy.js';
import { type AuditedRequest, RequestAudit } from './request-audit.js';

/** Injection token of the {@link Auditor}; undefined when no requests are noted. */
export const AUDITOR = Symbol('Auditor');

/** What an {@link Auditor} consists of. */
export interface AuditorParts {
  readonly names: VendorNames;
  /** The policy in force, which changes with its file. */
  readonly policy: () => AuditPolicy;
  readonly backends: readonly AuditBackend[];
  readonly metrics: AuditMetrics;
}

/** Decides by the policy what is noted of a request, and hands its events to the backends (specification 6.2). */
export class Auditor {
  constructor(private readonly parts: AuditorParts) {}

  get names(): VendorNames {
    return this.parts.names;
  }

  /** The trail of a new request. */
  begin(request: AuditedRequest): RequestAudit {
    return new RequestAudit(this, request);
  }

  /** The rule for a request; undefined: nothing of it is noted. */
  ruleFor(subject: AuditSubject): PolicyRule | undefined {
    const rule = this.parts.policy().ruleFor(subject);
    this.parts.metrics.level(rule?.level ?? 'None');
    return rule;
  }

  /**
   * Hands an event to all backends. Its promise resolves when those that are waited for have it.
   *
   * @throws (or rejects with) a 500 when `mustSucceed` and a strict backend did not take it.
   */
  emit(facts: AuditFacts, mustSucceed: boolean): Promise<void> | undefined {
    const { backends, metrics, names } = this.parts;
    const event = new AuditEvent(facts, names);
    metrics.made();
    let pending: Promise<boolean>[] | undefined;
    let isNoted = true;
    for (const backend of backends) {
      const outcome = backend.take(event);
      if (outcome === false && backend.isStrict) isNoted = false;
      if (!(outcome instanceof Promise)) continue;
      pending ??= [];
      pending.push(backend.isStrict ? outcome : outcome.then(() => true));
    }
    const check = (areNoted: boolean) => {
      if (areNoted || !mustSucceed) return;
      metrics.refusedRequest();
      throw internalError(new Error('the request could not be written to the audit trail'));
    };
    if (pending !== undefined) return Promise.all(pending).then((outcomes) => check(isNoted && outcomes.every(Boolean)));
    check(isNoted);
    return undefined;
  }

  /** Notes a connection whose bytes are no HTTP request: it has no path and no user, so only rules for everything match. */
  malformed(remote: string | undefined, code: number, reason: string): void {
    const rule = this.ruleFor({ user: undefined, requestInfo: noRequest });
    if (rule === undefined || rule.omitStages.has('ResponseComplete')) return;
    const now = Date.now();
    void this.emit(
      {
        level: rule.level,
        stage: 'ResponseComplete',
        auditID: randomUUID(),
        requestURI: '',
        user: undefined,
        impersonatedUser: undefined,
        sourceIPs: remote === undefined ? [] : [remote],
        userAgent: '',
        requestInfo: noRequest,
        name: '',
        namespace: '',
        uid: '',
        resourceVersion: '',
        response: { code, status: 'Failure', reason, message: '' },
        requestObject: undefined,
        responseObject: undefined,
        receivedAt: now,
        at: now,
        annotations: [],
        written: undefined,
      },
      false,
    );
  }
}

const noRequest: RequestInfo = Object.freeze({
  isResourceRequest: false,
  path: '',
  verb: '',
  apiPrefix: '',
  apiGroup: '',
  apiVersion: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  parts: [],
});
