import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withClient } from '../../../../base/database/with-client.js';
import type { Running } from '../../../../base/machinery/lifecycle.js';
import { makeFolder } from '../../../../base/machinery/make-folder.js';
import { errorText, StartupError } from '../../../../base/machinery/startup-error.js';
import { systemTimers } from '../../../../base/machinery/timers.js';
import type { Logger } from '../../../../base/observability/logger.js';
import { lockDirectory } from '../../../local-postgres/directory-lock.js';
import { migrateDatabase } from '../../commands/migrate.command.js';
import { databaseUrlName, startOwnPostgres } from '../../own-postgres.js';
import { formatEnvironment, parseEnvironment } from '../environment-file.js';
import type { MadeHere } from '../made-here.js';
import { Systemd, type Unit } from '../systemd.js';
import type { InitSettings } from './init-settings.js';
import { databaseFile } from './server-commands.js';

/** The database of a control plane, as variables of the processes that use it. */
export interface InitDatabase {
  readonly databaseUrl: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the program made it. */
  readonly isEmbedded: boolean;
}

export interface DatabaseDependencies {
  readonly settings: InitSettings;
  readonly made: MadeHere;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Receives the functions that stop what this process has started. */
  readonly started: Running[];
  /** Whether systemd runs the embedded database, or this process does. */
  readonly usesSystemd: boolean;
}

export const databaseUnitName = 'plinth-database';
const urlVariable = 'PLINTH_DATABASE_URL';
const listenVariable = 'PLINTH_LISTEN_DATABASE_URL';
const pollMs = 200;

/** The database that the user named, now or in an earlier run; undefined for an embedded one. */
export async function givenDatabase({ options, configDir, dataDir }: InitSettings): Promise<InitDatabase | undefined> {
  const { databaseUrl, listenDatabaseUrl } = options.storage;
  if (databaseUrl !== undefined) {
    const environment: Record<string, string> = { [urlVariable]: databaseUrl };
    if (listenDatabaseUrl !== undefined) environment[listenVariable] = listenDatabaseUrl;
    return { databaseUrl, environment, isEmbedded: false };
  }
  const environment = parseEnvironment(await readFile(databaseFile(configDir), 'utf8').catch(() => ''));
  const kept = environment[urlVariable];
  const own = (await readFile(join(dataDir, databaseUrlName), 'utf8').catch(() => '')).trim();
  const isEmbedded = kept === undefined || kept === own || (own === '' && isSocketBelow(dataDir, kept));
  return isEmbedded ? undefined : { databaseUrl: kept, environment, isEmbedded: false };
}

/** Whether a URL leads to a socket in the folder, as that of an embedded database does, also when the file with its URL is gone. */
function isSocketBelow(folder: string, url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).searchParams.get('host') : null;
  return host?.startsWith(`${folder.replace(/\/$/, '')}/`) === true;
}

/**
 * Makes sure that the database exists and has the schema of this program. Its URL is kept in a file that only its owner
 * reads, for the servers and for the next run.
 *
 * @throws StartupError or MigrationError when the database can't be used
 */
export async function prepareDatabase(dependencies: DatabaseDependencies): Promise<InitDatabase> {
  const { settings, made, logger } = dependencies;
  const database = (await givenDatabase(settings)) ?? (await ownDatabase(dependencies));
  await keepDatabase(settings, made, database);
  await migrateDatabase(database.databaseUrl, logger);
  return database;
}

/** Keeps the URL of a database for the servers and for the next run, in a file that only its owner reads. */
export async function keepDatabase({ configDir }: InitSettings, made: MadeHere, database: InitDatabase): Promise<void> {
  const file = databaseFile(configDir);
  const text = formatEnvironment(database.environment);
  if ((await made.files.read(file)) !== text) await made.files.write(file, text, 0o600);
}

async function ownDatabase(dependencies: DatabaseDependencies): Promise<InitDatabase> {
  const { settings, made, started, logger, usesSystemd } = dependencies;
  const { dataDir } = settings;
  await made.tree(dataDir);
  const databaseUrl = usesSystemd ? await runUnit(dependencies) : await runHere(dataDir, logger, started);
  return { databaseUrl, environment: { [urlVariable]: databaseUrl }, isEmbedded: true };
}

async function runHere(dataDir: string, logger: Logger, started: Running[]): Promise<string> {
  // The user that runs Postgres must be able to enter root's folder; secret files inside have a mode of their own.
  makeFolder(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
  const lock = await lockDirectory(dataDir);
  started.push({ stop: () => lock.release() });
  return startOwnPostgres(dataDir, undefined, logger, started);
}

async function runUnit({ settings, made, logger, signal }: DatabaseDependencies): Promise<string> {
  const { dataDir, configDir, options } = settings;
  const unit: Unit = {
    name: databaseUnitName,
    description: 'Database of Plinth',
    command: ['database', `--data-dir=${dataDir}`],
    environmentFile: join(configDir, 'more-database.env'),
  };
  const systemd = new Systemd(made, logger);
  const began = systemTimers.now();
  await systemd.run([unit]);
  const deadline = systemTimers.elapsed() + options.init.timeoutMs;
  for (;;) {
    const url = (await readFile(join(dataDir, databaseUrlName), 'utf8').catch(() => '')).trim();
    const problem = url === '' ? 'it has not started yet' : await problemOf(url);
    if (problem === undefined) return url;
    if (signal.aborted)
      throw new StartupError('stopped while the database started: the same command goes on from there');
    if (systemTimers.elapsed() > deadline) {
      const explanation = await systemd.explanation(databaseUnitName, began);
      throw new StartupError(`the database does not answer (${problem})${explanation}`);
    }
    await systemTimers.wait(pollMs, signal);
  }
}

async function problemOf(url: string): Promise<string | undefined> {
  try {
    await withClient(url, (client) => client.query('select 1'), 2000);
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}
