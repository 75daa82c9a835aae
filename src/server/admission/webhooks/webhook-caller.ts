import { remoteCall } from '../../../base/machinery/remote-call.js';
import { addWarning } from '../../../base/machinery/request-context.js';
import type { Logger } from '../../../base/observability/logger.js';
import { traced } from '../../../base/observability/trace-scope.js';
import { WebhookFault } from '../../../base/outgoing/webhook-fault.js';
import type { AdmissionAttributes } from '../attributes.js';
import { addForeignAnnotations } from '../foreign-annotations.js';
import type { ResourceAndKind } from '../matching/resource-versions.js';
import type { AdmissionWebhook } from './admission-webhook.js';
import { type AdmissionReviewAnswer, readAnswer } from './review-answer.js';
import type { ReviewWriter } from './review-writer.js';
import { WebhookCallError } from './webhook-call-error.js';
import { dryRunError, type WebhookErrorType, WebhookRefusal } from './webhook-errors.js';
import type { WebhookCallCounter } from './webhook-metrics.js';
import { hookRefusal } from './webhook-refusal.js';

/** One hook that applies to a request. */
export interface Invocation {
  readonly hook: AdmissionWebhook;
  /** Position of the hook among all hooks of its kind. */
  readonly index: number;
  /** The version and kind in which the hook expects the request. */
  readonly matched: ResourceAndKind;
  readonly attributes: AdmissionAttributes;
  readonly writer: ReviewWriter;
  /** 0, or 1 in the second round of the mutating phase. */
  readonly round: number;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/;

/** Calls hooks, and handles the part of their responses that does not depend on the kind of the hook. */
export class WebhookCaller {
  constructor(
    private readonly dependencies: {
      readonly metrics: WebhookCallCounter;
      readonly logger: Pick<Logger, 'warn'>;
      /** Name of the group of AdmissionReview. */
      readonly group: string;
    },
  ) {}

  /**
   * Calls a hook and passes its response to `use` if it allows the request. Returns undefined when there was no usable
   * response and the hook's failure policy is `Ignore`.
   *
   * @throws WebhookRefusal when the hook refuses, WebhookCallError when it gave no usable response, other status errors when
   *   the request fails for another reason
   */
  async call<T>(
    invocation: Invocation,
    use: (answer: AdmissionReviewAnswer) => T | Promise<T>,
  ): Promise<T | undefined> {
    const { hook, attributes } = invocation;
    const begin = performance.now();
    let failure: unknown;
    try {
      return await use(await this.ask(invocation));
    } catch (error) {
      failure = error instanceof WebhookFault ? new WebhookCallError(hook.name, error) : error;
    } finally {
      const { operation } = attributes;
      const seconds = (performance.now() - begin) / 1000;
      const isIgnored = failure instanceof WebhookCallError && hook.isIgnored;
      const rejection = failure === undefined || isIgnored ? undefined : errorTypeOf(failure);
      const { name, kind } = hook;
      this.dependencies.metrics.count({ hook: { name, kind }, operation, seconds, code: codeOf(failure), rejection });
    }
    if (!(failure instanceof WebhookCallError) || !hook.isIgnored) throw failure;
    this.failOpen(invocation, failure);
    return undefined;
  }

  private async ask({ hook, matched, attributes, writer }: Invocation): Promise<AdmissionReviewAnswer> {
    const { context, dryRun } = attributes;
    if (dryRun && !hook.allowsDryRun) throw dryRunError(hook.name);
    const { version } = hook;
    if (version === undefined) {
      throw new WebhookFault('webhook does not accept known AdmissionReview versions (v1, v1beta1)');
    }
    let uid = '';
    const write = () => {
      const review = writer.write(version, matched);
      uid = review.uid;
      return review.body;
    };
    const text = await traced(`webhook ${hook.name}`, { configuration: hook.configuration }, () =>
      remoteCall(context, async () => hook.ask(write, context.signal)),
    );
    const answer = await readAnswer(text, { uid, version, group: this.dependencies.group, hook: hook.kind });
    this.annotate(attributes, hook, answer.auditAnnotations);
    for (const warning of answer.warnings) {
      // Like other warnings, it can't be sent in a response if it contains control characters.
      if (warning === '' || controlCharacters.test(warning)) continue;
      if (!addWarning(context, warning)) break;
    }
    if (!answer.allowed) throw hookRefusal(hook.name, answer.status);
    return answer;
  }

  /** Keys get the name of the hook as their prefix, so that hooks can't overwrite the annotations of others. */
  private annotate(
    { context }: AdmissionAttributes,
    hook: AdmissionWebhook,
    annotations: Readonly<Record<string, string>>,
  ): void {
    const leftOut = addForeignAnnotations(context.auditAnnotations, hook.name, annotations);
    if (leftOut === undefined) return;
    const fields = { hook: hook.name, configuration: hook.configuration, ...leftOut };
    this.dependencies.logger.warn('audit annotations of an admission webhook are left out', fields);
  }

  private failOpen({ hook, attributes, round, index }: Invocation, error: WebhookCallError): void {
    this.dependencies.metrics.countFailedOpen({ name: hook.name, kind: hook.kind });
    const key = `failed-open.${hook.kind}.webhook.${this.dependencies.group}/round_${round}_index_${index}`;
    attributes.context.auditAnnotations.set(key, hook.name);
    const fields = { hook: hook.name, configuration: hook.configuration, problem: error.fault.message };
    this.dependencies.logger.warn(
      'an admission webhook did not answer, and the request continues without its review',
      fields,
    );
  }
}

function errorTypeOf(error: unknown): WebhookErrorType {
  if (error instanceof WebhookCallError) return 'calling_webhook_error';
  return error instanceof WebhookRefusal ? 'no_error' : 'apiserver_internal_error';
}

function codeOf(error: unknown): number {
  if (error === undefined) return 200;
  if (error instanceof WebhookCallError) return error.fault.status;
  return error instanceof WebhookRefusal ? error.hookCode : 0;
}
