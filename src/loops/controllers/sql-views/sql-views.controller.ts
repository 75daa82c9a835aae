import type { SqlProjectionMode } from '../../../base/config/sql-projection.js';
import { errorText } from '../../../base/machinery/startup-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import type { ControlLoop } from '../control-loop.js';
import { syncViews } from './sync-views.js';

export interface SqlViewsOptions {
  readonly databaseUrl: string;
  /** Knows the resources of the process; custom resources may be added, changed and removed. */
  readonly registry: ResourceRegistry;
  /** Vendor suffix of the built-in groups. */
  readonly suffix: string;
  readonly mode: SqlProjectionMode;
  readonly timers: Timers;
  readonly logger: Logger;
}

/** How long to wait after a change, in milliseconds: definitions arrive in groups. */
const settleMs = 500;
/** How often the views are compared without a change: a process that starts may have seen older definitions. */
const checkAgainMs = 600_000;
const retryMs = 10_000;

/** Keeps the SQL views in step with the resources: one for each kind that is stored, custom ones included. */
export class SqlViewsController implements ControlLoop {
  readonly name = 'sql-views-controller';

  constructor(private readonly options: SqlViewsOptions) {}

  async run(signal: AbortSignal): Promise<void> {
    const { registry, timers } = this.options;
    let changed = new AbortController();
    const leave = registry.onChange(() => changed.abort());
    try {
      while (!signal.aborted) {
        changed = new AbortController();
        const wait = (await this.sync()) ? checkAgainMs : retryMs;
        await timers.wait(wait, AbortSignal.any([signal, changed.signal]));
        if (changed.signal.aborted) await timers.wait(settleMs, signal);
      }
    } finally {
      leave();
    }
  }

  private async sync(): Promise<boolean> {
    const { databaseUrl, registry, suffix, mode, logger } = this.options;
    try {
      const { kept } = await syncViews(databaseUrl, registry.definitions(), suffix, mode, logger);
      return kept.length === 0;
    } catch (error) {
      logger.warn('the SQL views are not up to date', { error: errorText(error) });
      return false;
    }
  }
}
