import { Counter, Histogram, type Registry } from 'prom-client';
import type { ConversionCall } from '../../../base/outgoing/conversion-transports.js';
import type { AdmissionOperation } from '../attributes.js';
import type { AdmissionWebhook } from './admission-webhook.js';
import type { WebhookErrorType } from './webhook-errors.js';

const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];
/** Higher codes are reported as this one, so that webhooks can't create an unlimited number of series. */
const maxCode = 600;

/** One call of a webhook, as recorded in the metrics. */
export interface WebhookCall {
  readonly hook: Pick<AdmissionWebhook, 'name' | 'kind'>;
  readonly operation: AdmissionOperation;
  readonly seconds: number;
  /** HTTP code of the response, or for a refusal the webhook's own code; 0: none. */
  readonly code: number;
  /** Why the call ended the write; undefined if the write continued. */
  readonly rejection: WebhookErrorType | undefined;
}

/** Counts calls of webhooks. A thread that serves requests reports its calls to the counter of its process. */
export interface WebhookCallCounter {
  count(call: WebhookCall): void;
  countFailedOpen(hook: WebhookCall['hook']): void;
  countConversion(call: ConversionCall): void;
}

/** Injection token of the {@link WebhookCallCounter}. */
export const WEBHOOK_CALL_COUNTER = Symbol('WebhookCallCounter');

/** Metrics of hooks, under the names that operators of API servers know (specification 6.3). */
export class WebhookMetrics implements WebhookCallCounter {
  private readonly durations: Histogram<'name' | 'type' | 'operation' | 'rejected'>;
  private readonly requests: Counter<'name' | 'type' | 'operation' | 'code' | 'rejected'>;
  private readonly rejections: Counter<'name' | 'type' | 'operation' | 'error_type' | 'rejection_code'>;
  private readonly failedOpen: Counter<'name' | 'type'>;

  private readonly conversions: Counter<'result' | 'failure_type'>;
  private readonly conversionTimes: Histogram<'result' | 'failure_type'>;
  private readonly conversionTimesByKind: Histogram<'crd_name' | 'from_version' | 'to_version' | 'succeeded'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.conversions = new Counter({
      name: 'apiserver_conversion_webhook_request_total',
      help: 'Calls of conversion webhooks, by whether they gave a usable answer and why not.',
      labelNames: ['result', 'failure_type'],
      registers,
    });
    this.conversionTimes = new Histogram({
      name: 'apiserver_conversion_webhook_duration_seconds',
      help: 'Time of calls of conversion webhooks, by whether they gave a usable answer and why not.',
      labelNames: ['result', 'failure_type'],
      buckets,
      registers,
    });
    this.conversionTimesByKind = new Histogram({
      name: 'apiserver_crd_conversion_webhook_duration_seconds',
      help: 'Time of calls of conversion webhooks, by definition, versions and whether they gave a usable answer.',
      labelNames: ['crd_name', 'from_version', 'to_version', 'succeeded'],
      buckets,
      registers,
    });
    this.durations = new Histogram({
      name: 'apiserver_admission_webhook_admission_duration_seconds',
      help: 'Time of calls of admission webhooks, by operation, kind of webhook and whether the request was refused.',
      labelNames: ['name', 'type', 'operation', 'rejected'],
      buckets,
      registers,
    });
    this.requests = new Counter({
      name: 'apiserver_admission_webhook_request_total',
      help: 'Calls of admission webhooks, by operation, kind of webhook, code and whether the request was refused.',
      labelNames: ['name', 'type', 'operation', 'code', 'rejected'],
      registers,
    });
    this.rejections = new Counter({
      name: 'apiserver_admission_webhook_rejection_count',
      help: 'Requests that ended at an admission webhook, by the reason and the code.',
      labelNames: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
      registers,
    });
    this.failedOpen = new Counter({
      name: 'apiserver_admission_webhook_fail_open_count',
      help: 'Calls without a usable answer that were ignored, as the failure policy of the webhook demands.',
      labelNames: ['name', 'type'],
      registers,
    });
  }

  count({ hook: { name, kind }, operation, seconds, code, rejection }: WebhookCall): void {
    const type = typeOf(kind);
    const shownCode = String(Math.min(code, maxCode));
    const rejected = String(rejection !== undefined);
    this.durations.observe({ name, type, operation, rejected }, seconds);
    this.requests.inc({ name, type, operation, code: shownCode, rejected });
    if (rejection === undefined) return;
    this.rejections.inc({ name, type, operation, error_type: rejection, rejection_code: shownCode });
  }

  countFailedOpen({ name, kind }: WebhookCall['hook']): void {
    this.failedOpen.inc({ name, type: typeOf(kind) });
  }

  countConversion({ definition, fromVersion, toVersion, seconds, failure }: ConversionCall): void {
    const isFailed = failure !== undefined;
    const labels = {
      result: isFailed ? 'failure' : 'success',
      failure_type: isFailed ? `conversion_webhook_${failure}_failure` : '',
    };
    this.conversions.inc(labels);
    this.conversionTimes.observe(labels, seconds);
    this.conversionTimesByKind.observe(
      { crd_name: definition, from_version: fromVersion, to_version: toVersion, succeeded: String(!isFailed) },
      seconds,
    );
  }
}

function typeOf(kind: AdmissionWebhook['kind']): string {
  return kind === 'mutating' ? 'admit' : 'validating';
}
