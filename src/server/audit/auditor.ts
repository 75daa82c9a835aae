import { randomUUID } from 'node:crypto';
import { noRequest } from '../../base/machinery/internal-context.js';
import { internalError } from '../../base/machinery/status-error.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import { AuditEvent, type AuditInfo } from './audit-event.js';
import type { AuditMetrics } from './audit-metrics.js';
import type { AuditPolicy, AuditPolicyRule, AuditSubject } from './audit-policy.js';
import type { AuditBackend } from './backends/backend.js';
import { type AuditedRequest, maxUserAgentLength, RequestAudit, type RequestAuditor } from './request-audit.js';
import { sourceAddresses } from './source-addresses.js';

/** Injection token of the {@link Auditor}; undefined when no requests are audited. */
export const AUDITOR = Symbol('Auditor');

/** Dependencies of an {@link Auditor}. */
export interface AuditorDependencies {
  readonly names: VendorNames;
  /** The policy in force, which changes with its file. */
  readonly policy: () => AuditPolicy;
  readonly backends: readonly AuditBackend[];
  readonly metrics: AuditMetrics;
}

/**
 * Decides by the policy how much of a request is recorded, and passes its events to the backends (specification 6.2).
 */
export class Auditor implements RequestAuditor {
  constructor(private readonly dependencies: AuditorDependencies) {}

  get names(): VendorNames {
    return this.dependencies.names;
  }

  /** The trail of a new request. */
  begin(request: AuditedRequest): RequestAudit {
    return new RequestAudit(this, request);
  }

  /** The rule for a request; undefined if nothing of it is recorded. */
  ruleFor(subject: AuditSubject): AuditPolicyRule | undefined {
    const rule = this.dependencies.policy().ruleFor(subject);
    this.dependencies.metrics.level(rule?.level ?? 'None');
    return rule;
  }

  /**
   * Passes an event to all backends. The promise resolves when the blocking backends have accepted it.
   *
   * @throws (or rejects with) a 500 when `mustSucceed` and a strict backend did not accept it.
   */
  emit(info: AuditInfo, mustSucceed: boolean): Promise<void> | undefined {
    const { backends, metrics, names } = this.dependencies;
    const event = new AuditEvent(info, names);
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
    if (pending !== undefined)
      return Promise.all(pending).then((outcomes) => check(isNoted && outcomes.every(Boolean)));
    check(isNoted);
    return undefined;
  }

  /**
   * Records a request that could not be parsed: its path is invalid, or its bytes are not an HTTP request. It has no
   * user and no resource, so only rules that restrict neither match.
   */
  unread({ raw, verb, code, reason }: UnreadRequest): void {
    const { url = '', headers = {}, socket } = raw;
    const [path = ''] = url.split('?', 1);
    const requestInfo = { ...noRequest, path, verb };
    const rule = this.ruleFor({ user: undefined, requestInfo });
    if (rule === undefined || rule.omitStages.has('ResponseComplete')) return;
    const now = Date.now();
    void this.emit(
      {
        level: rule.level,
        stage: 'ResponseComplete',
        auditID: randomUUID(),
        requestURI: url,
        user: undefined,
        impersonatedUser: undefined,
        sourceIPs: sourceAddresses(headers, socket?.remoteAddress),
        userAgent: String(headers['user-agent'] ?? '').slice(0, maxUserAgentLength),
        requestInfo,
        name: '',
        namespace: '',
        uid: '',
        resourceVersion: '',
        response: { code, status: 'Failure', reason, message: '', details: '' },
        requestObject: undefined,
        responseObject: undefined,
        receivedAt: now,
        at: now,
        annotations: [],
        written: [],
      },
      false,
    );
  }
}

/** A request that could not be parsed, and so has no context. */
export interface UnreadRequest {
  /** The known parts of the request. */
  readonly raw: Partial<AuditedRequest['raw']>;
  readonly verb: string;
  readonly code: number;
  readonly reason: string;
}
