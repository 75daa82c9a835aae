import { LoggingOptions } from '../../config/logging.options.js';
import { OptionsError, parseOptions } from '../../config/parse-options.js';
import { StorageOptions } from '../../config/storage.options.js';
import { Logger } from '../../observability/logger.js';
import { type Command, parseRequest } from '../command.js';

const groups = { storage: StorageOptions, logging: LoggingOptions } as const;

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Bring the schema of the database to the version of this program, then end.',
  groups,
  defaults: {},
  async run(context) {
    const { storage, logging } = parseOptions(parseRequest(groups, {}, context));
    await migrateDatabase(requireDatabaseUrl(storage.databaseUrl), new Logger(logging.logLevel, logging.logFormat));
  },
};

/** Applies what is missing and logs it. */
export async function migrateDatabase(databaseUrl: string, logger: Logger): Promise<void> {
  const { migrate } = await import('../../storage/postgres/migrate.js');
  const { applied, version } = await migrate(databaseUrl);
  const fields = { version, applied: applied.length };
  if (applied.length > 0) logger.info('database schema migrated', fields);
  else logger.debug('database schema is up to date', fields);
}

/** @throws OptionsError when no database is named. */
export function requireDatabaseUrl(databaseUrl: string | undefined): string {
  if (databaseUrl !== undefined) return databaseUrl;
  throw new OptionsError([
    'no database: set --database-url or PLINTH_DATABASE_URL to postgresql://user:password@host:5432/database ' +
      '(plinth dev brings a database of its own)',
  ]);
}
