import { resolve } from 'node:path';
import { DatabaseOptions } from '../../../base/config/database.options.js';
import { LoggingOptions } from '../../../base/config/logging.options.js';
import { parseOptions } from '../../../base/config/parse-options.js';
import { type Running, stopAll, stopLimit } from '../../../base/machinery/lifecycle.js';
import { makeFolder } from '../../../base/machinery/make-folder.js';
import { lockDirectory } from '../../local-postgres/directory-lock.js';
import { type Command, openLog, parseRequest } from '../command.js';
import { startOwnPostgres } from '../own-postgres.js';

const groups = { database: DatabaseOptions, logging: LoggingOptions } as const;

export const databaseCommand: Command = {
  name: 'database',
  summary: 'Run a PostgreSQL for the servers of this machine, from the optional package that brings its programs.',
  groups,
  defaults: {},
  async run(context) {
    const request = parseRequest(groups, {}, context);
    const { database, logging } = parseOptions(request);
    const logger = openLog(request, logging);
    context.lastResort.logTo(logger);
    const directory = resolve(database.dataDir);
    // The user that runs Postgres passes through root's folder; secret files inside have a mode of their own.
    makeFolder(directory, process.getuid?.() === 0 ? 0o711 : 0o700);
    const lock = await lockDirectory(directory);
    const started: Running[] = [{ stop: () => lock.release() }];
    try {
      const url = await startOwnPostgres(directory, database.postgresPort, logger, started);
      context.print(`The database answers at ${url}`);
      await context.signals.wait();
      context.signals.endWithin(stopLimit());
    } finally {
      await stopAll(started);
    }
  },
};
