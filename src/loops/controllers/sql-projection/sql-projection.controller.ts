import type { SqlProjectionMode } from '../../../base/config/sql-projection.js';
import { errorText } from '../../../base/machinery/startup-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import { SqlRowTables } from '../../../storage/postgres/sql-row-tables.js';
import { rowsIn } from '../../../storage/postgres/sql-views.js';
import type { ControlLoop } from '../control-loop.js';
import { syncViews, viewsOf } from '../sql-views/sync-views.js';

export interface SqlProjectionOptions {
  readonly databaseUrl: string;
  readonly registry: ResourceRegistry;
  /** Vendor suffix of the built-in groups. */
  readonly suffix: string;
  readonly mode: SqlProjectionMode;
  readonly timers: Timers;
  readonly logger: Logger;
}

/**
 * How often the log is read, even while much changes: processing changes together costs less than the same changes one
 * by one, and only the last state of an object that changes often becomes a row.
 */
const pauseMs = 400;
/** While there is more to do, the loop pauses after each step for as long as it took, but at most this long. */
const longestTurnMs = 100;
const retryMs = 2_000;

/**
 * Keeps the rows behind the SQL views in step with the log: fills the missing tables, then applies changes in big
 * batches. The database does the work; this process only triggers it.
 */
export class SqlProjectionController implements ControlLoop {
  readonly name = 'sql-projection-controller';

  constructor(private readonly options: SqlProjectionOptions) {}

  async run(signal: AbortSignal): Promise<void> {
    const { registry, timers, databaseUrl, logger } = this.options;
    const tables = new SqlRowTables(databaseUrl);
    let isShapeKnown = false;
    const leave = registry.onChange(() => {
      isShapeKnown = false;
    });
    try {
      while (!signal.aborted) {
        try {
          if (!isShapeKnown) {
            isShapeKnown = true;
            await this.fill(tables, signal);
          }
          const began = timers.elapsed();
          const { outcome, isBehind } = await tables.step();
          const tookMs = timers.elapsed() - began;
          if (outcome === 'lost') {
            isShapeKnown = false;
            logger.warn('the log does not continue from the rows behind the SQL views: they are filled again');
            await this.sync();
            await tables.forget();
            continue;
          }
          const rest = isBehind ? Math.min(tookMs, longestTurnMs) : pauseMs;
          await timers.wait(outcome === 'busy' ? retryMs : rest, signal);
        } catch (error) {
          isShapeKnown = false;
          logger.warn('the rows behind the SQL views could not be updated', { error: errorText(error) });
          await timers.wait(retryMs, signal);
        }
      }
    } finally {
      leave();
      await tables.close();
    }
  }

  private async fill(tables: SqlRowTables, signal: AbortSignal): Promise<void> {
    const { registry, suffix, mode } = this.options;
    const rows = viewsOf(registry.definitions(), suffix)
      .map((form) => rowsIn(form, mode.of(form.storageResource)))
      .filter((table) => table !== undefined);
    if (await tables.fill(rows, signal)) await this.sync();
  }

  private async sync(): Promise<void> {
    const { databaseUrl, registry, suffix, mode, logger } = this.options;
    await syncViews(databaseUrl, registry.definitions(), suffix, mode, logger);
  }
}
