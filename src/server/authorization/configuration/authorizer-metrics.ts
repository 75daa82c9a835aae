import { Counter, type Registry } from 'prom-client';
import type { AuthorizationDecision, Authorizer, AuthorizerAttributes } from '../../../base/machinery/authorizer.js';

/** Counters of configured authorizers, under the names that operators of API servers know. */
export class AuthorizerMetrics {
  private readonly decisions: Counter<'type' | 'name' | 'decision'>;
  private readonly failedConditions: Counter<'type' | 'name'>;
  private readonly exclusions: Counter<'type' | 'name'>;
  private readonly open: Counter<'name'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.decisions = new Counter({
      name: 'apiserver_authorization_decisions_total',
      help: 'Requests that an authorizer allowed or denied; those without its opinion are left out.',
      labelNames: ['type', 'name', 'decision'],
      registers,
    });
    this.failedConditions = new Counter({
      name: 'apiserver_authorization_match_condition_evaluation_errors_total',
      help: 'Requests for which the match conditions of an authorizer had no value.',
      labelNames: ['type', 'name'],
      registers,
    });
    this.exclusions = new Counter({
      name: 'apiserver_authorization_match_condition_exclusions_total',
      help: 'Requests about which an authorizer was not asked because of its match conditions.',
      labelNames: ['type', 'name'],
      registers,
    });
    this.open = new Counter({
      name: 'apiserver_authorization_webhook_evaluations_fail_open_total',
      help: 'Questions without an answer that were left to the next authorizer.',
      labelNames: ['name'],
      registers,
    });
  }

  conditionFailed(name: string): void {
    this.failedConditions.inc({ type: 'Webhook', name });
  }

  excluded(name: string): void {
    this.exclusions.inc({ type: 'Webhook', name });
  }

  failedOpen(name: string): void {
    this.open.inc({ name });
  }

  /** Wraps an authorizer so that its decisions are counted, and its reasons for having no opinion begin with its name. */
  counted(type: string, name: string, inner: Authorizer): Authorizer {
    const allowed = this.decisions.labels({ type, name, decision: 'allowed' });
    const denied = this.decisions.labels({ type, name, decision: 'denied' });
    const note = (decision: AuthorizationDecision): AuthorizationDecision => {
      if (decision.decision === 'allow') allowed.inc();
      else if (decision.decision === 'deny') denied.inc();
      else if (decision.reason !== '') return { ...decision, reason: `${name}: ${decision.reason}` };
      return decision;
    };
    return {
      authorize: (attributes: AuthorizerAttributes) => {
        const asked = inner.authorize(attributes);
        return asked instanceof Promise ? asked.then(note) : note(asked);
      },
    };
  }
}
