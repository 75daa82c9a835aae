import type { ApiObject } from '../../../../base/machinery/api-object.js';

/**
 * Which hooks are called again in the second round (specification 5.10): those that request it (`IfNeeded`), were
 * called in the first round, and have not seen a later change.
 */
export class WebhookReinvocation {
  /** Reinvocable hooks that have seen every change so far. */
  private upToDate = new Set<string>();
  private readonly outdated = new Set<string>();
  private lastOutput: string | undefined;

  /** Records the call of a hook. */
  called(id: string): void {
    this.upToDate.add(id);
  }

  /** The object changed after the earlier hooks were called. */
  changed(): void {
    for (const id of this.upToDate) this.outdated.add(id);
    this.upToDate = new Set();
  }

  /** Whether a hook is called in the second round. */
  isOutdated(id: string): boolean {
    return this.outdated.has(id);
  }

  /** Remembers the object as the webhooks left it, if a second round could need it. */
  leave(object: ApiObject | undefined): void {
    this.lastOutput = this.upToDate.size === 0 ? undefined : JSON.stringify(object);
  }

  /** Begins the second round. Other plugins may have changed the object since the webhooks ran. */
  resume(object: ApiObject | undefined): void {
    if (this.lastOutput !== undefined && JSON.stringify(object) !== this.lastOutput) this.changed();
  }
}
