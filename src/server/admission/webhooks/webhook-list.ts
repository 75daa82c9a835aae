import type { CountingLister } from '../../../objects/registry/informers/shared-listers.js';
import type { AdmissionWebhook, WebhookCompiler, WebhookConfiguration } from './admission-webhook.js';

const none: readonly AdmissionWebhook[] = [];

/**
 * The hooks of one kind that are in force: those of all configurations, sorted by the names of the configurations, and
 * within one by its own order. The list is rebuilt only after a change.
 */
export class WebhookList {
  private hooks = none;
  private madeAt = -1;

  constructor(
    private readonly configurations: CountingLister<WebhookConfiguration>,
    private readonly compiler: Pick<WebhookCompiler, 'compile' | 'retire'>,
  ) {}

  get present(): readonly AdmissionWebhook[] {
    const { changes } = this.configurations;
    if (changes !== this.madeAt) {
      this.madeAt = changes;
      const sorted = [...this.configurations.all()].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
      this.hooks = this.compiler.compile(sorted);
    }
    return this.hooks;
  }

  /** Closes the connections of all hooks, at the end of the process. */
  stop(): void {
    this.compiler.retire();
  }
}

function nameOf({ metadata }: WebhookConfiguration): string {
  return metadata.name ?? '';
}
