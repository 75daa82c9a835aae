import { ClusterOptions } from '../../../base/config/cluster.options.js';
import { LoggingOptions } from '../../../base/config/logging.options.js';
import { OptionsError } from '../../../base/config/options-error.js';
import { parseOptions } from '../../../base/config/parse-options.js';
import type { ServerOptions } from '../../../base/config/server-options.js';
import { sqlProjectionMode } from '../../../base/config/sql-projection.js';
import { StorageOptions } from '../../../base/config/storage.options.js';
import { VENDOR_NAMES, type VendorNames } from '../../../base/machinery/vendor.js';
import type { Logger } from '../../../base/observability/logger.js';
import { type Command, openLog, parseRequest } from '../command.js';

const groups = { storage: StorageOptions, cluster: ClusterOptions, logging: LoggingOptions } as const;

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Bring the schema of the database to the version of this program, and exit.',
  groups,
  defaults: {},
  async run(context) {
    const request = parseRequest(groups, {}, context);
    const { storage, cluster, logging } = parseOptions(request);
    const databaseUrl = requireDatabaseUrl(storage.databaseUrl);
    const logger = openLog(request, logging);
    const hasChanged = await migrateDatabase(databaseUrl, logger);
    await updateViews({ storage: { ...storage, databaseUrl }, cluster }, logger);
    if (!hasChanged) logger.info('database schema is up to date');
  },
};

/** Applies missing migrations and changed functions, and logs them. Returns whether there were any. */
export async function migrateDatabase(databaseUrl: string, logger: Logger): Promise<boolean> {
  const { migrate } = await import('../../../storage/postgres/migrate.js');
  const { applied, functions, version } = await migrate(databaseUrl);
  const hasChanged = applied.length + functions.length > 0;
  if (hasChanged) {
    logger.info('database schema migrated', { version, applied: applied.length, functions: functions.length });
  }
  return hasChanged;
}

/** Brings the SQL views in line with the resources of this program. */
async function updateViews(options: Pick<ServerOptions, 'storage' | 'cluster'>, logger: Logger): Promise<void> {
  const { openApplicationContext } = await import('../../../base/process/application-context.js');
  const { ResourcesAppModule } = await import('../../../resources-app.module.js');
  const { ResourceRegistry } = await import('../../../objects/registry/resource-registry.js');
  const { syncViews } = await import('../../../loops/controllers/sql-views/sync-views.js');
  const resources = await openApplicationContext(ResourcesAppModule.of(options, logger), logger);
  try {
    const definitions = resources.get(ResourceRegistry).definitions();
    const { databaseUrl, sqlProjection, sqlProjectionOverrides } = options.storage;
    const { suffix } = resources.get<VendorNames>(VENDOR_NAMES);
    await syncViews(databaseUrl, definitions, suffix, sqlProjectionMode(sqlProjection, sqlProjectionOverrides), logger);
  } finally {
    await resources.close();
  }
}

/** @throws OptionsError when no database is named. */
export function requireDatabaseUrl(databaseUrl: string | undefined): string {
  if (databaseUrl !== undefined) return databaseUrl;
  throw new OptionsError([
    'no database: set --database-url or PLINTH_DATABASE_URL to postgresql://user:password@host:5432/database ' +
      '(plinth dev brings a database of its own)',
  ]);
}
