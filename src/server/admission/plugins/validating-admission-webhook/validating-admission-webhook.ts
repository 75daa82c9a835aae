import { noteWait } from '../../../../base/machinery/request-context.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes } from '../../attributes.js';
import type { AdmissionWebhook } from '../../webhooks/admission-webhook.js';
import { isExemptResource } from '../../webhooks/exempt-resources.js';
import { ReviewWriter } from '../../webhooks/review-writer.js';
import type { Invocation } from '../../webhooks/webhook-caller.js';
import type { WebhookRuntime } from '../../webhooks/webhook-runtime.js';

/**
 * Calls the webhooks of ValidatingWebhookConfigurations with the object to be written, all at the same time
 * (specification 5.10). When several refuse, the response reports the first, by configuration name and then by the
 * order within the configuration.
 */
export class ValidatingAdmissionWebhook implements AdmissionPlugin {
  readonly name = 'ValidatingAdmissionWebhook';

  constructor(private readonly runtime: WebhookRuntime) {}

  stop(): void {
    this.runtime.hooks.stop();
  }

  handles(): boolean {
    return true;
  }

  validate(attributes: AdmissionAttributes): Promise<void> | undefined {
    const hooks = this.runtime.hooks.present;
    if (hooks.length === 0 || isExemptResource(attributes.resource, this.runtime.configurationGroup)) return undefined;
    return this.askAll(hooks, attributes);
  }

  private async askAll(hooks: readonly AdmissionWebhook[], attributes: AdmissionAttributes): Promise<void> {
    const writer = new ReviewWriter(attributes, this.runtime.versions, this.runtime.reviewGroup);
    const invocations: Invocation[] = [];
    for (const [index, hook] of hooks.entries()) {
      const matching = hook.match(attributes);
      const matched = matching instanceof Promise ? await matching : matching;
      if (matched === undefined) continue;
      await writer.objects.prepare(matched);
      if ((await hook.fulfils(attributes, matched, writer.objects)) === false) continue;
      invocations.push({ hook, index, matched, attributes, writer, round: 0 });
    }
    if (invocations.length === 0) return;
    const begin = performance.now();
    const calls = invocations.map((invocation) => this.runtime.caller.call(invocation, () => undefined));
    const settled = await Promise.allSettled(calls);
    noteWait(attributes.context, begin);
    for (const call of settled) if (call.status === 'rejected') throw call.reason;
  }
}
