import { noteWait } from '../../../../base/machinery/request-context.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes } from '../../attributes.js';
import type { AdmissionWebhook } from '../../webhooks/admission-webhook.js';
import { isExemptResource } from '../../webhooks/exempt-resources.js';
import type { AdmissionReviewAnswer } from '../../webhooks/review-answer.js';
import { ReviewWriter } from '../../webhooks/review-writer.js';
import type { Invocation } from '../../webhooks/webhook-caller.js';
import { applyWebhookPatch, type Patched } from '../../webhooks/webhook-patch.js';
import type { WebhookRuntime } from '../../webhooks/webhook-runtime.js';
import { WebhookReinvocation } from './webhook-reinvocation.js';

/** Longer patches (in base64) are omitted from the audit trail. */
const maxNotedPatch = 64 * 1024;

/**
 * Calls the hooks of MutatingWebhookConfigurations, one after another, and applies their patches to the object
 * (specification 5.10). A hook sees the changes of those before it.
 */
export class MutatingAdmissionWebhook implements AdmissionPlugin {
  readonly name = 'MutatingAdmissionWebhook';

  constructor(private readonly runtime: WebhookRuntime) {}

  stop(): void {
    this.runtime.hooks.stop();
  }

  handles(): boolean {
    return true;
  }

  admit(attributes: AdmissionAttributes): Promise<void> | undefined {
    const hooks = this.runtime.hooks.present;
    if (hooks.length === 0 || isExemptResource(attributes.resource, this.runtime.configurationGroup)) return undefined;
    return this.askAll(hooks, attributes);
  }

  private async askAll(hooks: readonly AdmissionWebhook[], attributes: AdmissionAttributes): Promise<void> {
    const { reinvocation } = attributes;
    const state = reinvocation.state(this.name, () => new WebhookReinvocation());
    if (reinvocation.isReinvoke) state.resume(attributes.object);
    const round = reinvocation.isReinvoke ? 1 : 0;
    let writer = this.writer(attributes);
    for (const [index, hook] of hooks.entries()) {
      if (reinvocation.isReinvoke && !state.isOutdated(hook.id)) continue;
      const matching = hook.match(attributes);
      const matched = matching instanceof Promise ? await matching : matching;
      if (matched === undefined) continue;
      await writer.objects.prepare(matched);
      if ((await hook.fulfils(attributes, matched, writer.objects)) === false) continue;
      const patched = await this.ask({ hook, index, matched, attributes, writer, round });
      if (patched !== undefined) {
        attributes.object = patched.object;
        writer = this.writer(attributes);
      }
      if (patched?.isChanged === true) {
        state.changed();
        reinvocation.request();
      }
      if (hook.isReinvocable) state.called(hook.id);
    }
    state.leave(attributes.object);
  }

  private writer(attributes: AdmissionAttributes): ReviewWriter {
    return new ReviewWriter(attributes, this.runtime.versions, this.runtime.reviewGroup);
  }

  /** The patched object; undefined when the hook leaves the object unchanged. */
  private async ask(invocation: Invocation): Promise<Patched | undefined> {
    let isChanged = false;
    const begin = performance.now();
    try {
      return await this.runtime.caller.call(invocation, async (answer) => {
        const patched = await this.patch(invocation, answer);
        isChanged = patched?.isChanged === true;
        return patched;
      });
    } finally {
      noteWait(invocation.attributes.context, begin);
      this.annotate('mutation', invocation, { mutated: isChanged });
    }
  }

  private async patch(
    invocation: Invocation,
    { patch, patchLength }: AdmissionReviewAnswer,
  ): Promise<Patched | undefined> {
    if (patch.length === 0) return undefined;
    const { hook, attributes, matched, writer } = invocation;
    const before = writer.objects.as(matched).object;
    const patched = await applyWebhookPatch(hook.name, patch, before, attributes, matched, this.runtime.versions);
    const shown = patchLength <= maxNotedPatch ? { patch } : { omittedBytes: Math.floor((patchLength / 4) * 3) };
    this.annotate('patch', invocation, { ...shown, patchType: 'JSONPatch' });
    return patched;
  }

  /** The actions of the hook, for the audit trail (specification 6.2). */
  private annotate(what: 'mutation' | 'patch', { hook, attributes, round, index }: Invocation, fields: object): void {
    const key = `${what}.webhook.${this.runtime.reviewGroup}/round_${round}_index_${index}`;
    const value = JSON.stringify({ configuration: hook.configuration, webhook: hook.name, ...fields });
    attributes.context.auditAnnotations.set(key, value);
  }
}
