import { constants } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '../../../base/database/with-client.js';
import { Backoff } from '../../../base/machinery/backoff.js';
import { type Clock, systemClock } from '../../../base/machinery/clock.js';
import { errorCode, errorText, StartupError } from '../../../base/machinery/startup-error.js';
import type { Logger } from '../../../base/observability/logger.js';
import { locateBinaries, type PostgresBinaries } from './binaries.js';
import { initialiseCluster, postgresEnvironment, roleName, writeAccessRules } from './cluster.js';
import { type PostgresHome, preparePostgresHome } from './home.js';
import { chooseLoopbackPort, isPortFree } from './loopback-port.js';
import { databasesRoot } from './orphans.js';
import { endLeftPostmaster, readPostmasterPid } from './postmaster.js';
import { chooseServiceUser, type ServiceUser } from './service-user.js';
import { disposableSettings, serverSettings } from './settings.js';
import { type SupervisedProcess, startSupervised } from './supervised-process.js';

export interface EmbeddedPostgresOptions {
  /** Absolute folder of the data; the caller holds its lock. */
  readonly directory: string;
  readonly logger: Logger;
  /** Port on loopback for roles with a password; 0: none. Unset: any port, the same at every start. */
  readonly port?: number | undefined;
  /** Where data and programs go when the user that runs Postgres cannot reach `directory`. */
  readonly fallbackRoot?: string;
  readonly binaries?: PostgresBinaries;
  readonly clock?: Clock;
  /** The data may be lost when the machine crashes: no write waits until it is on disk. */
  readonly disposable?: boolean;
  /** How long an orderly shutdown may take before it is cut short. Default 30,000. */
  readonly stopPatienceMs?: number;
}

const databaseName = 'plinth';
/** Stands in the name of the socket when there is no TCP port. */
const socketOnlyPort = 5432;
const readyPollMs = 15;
const connectMs = 5_000;
const shortestPauseMs = 100;
const longestPauseMs = 10_000;
/** A failure after a run of this length counts as a new incident: the pause starts from the shortest again. */
const stableMs = 60_000;
const startAttempts = 20;
const defaultStopPatienceMs = 30_000;
/**
 * How long an immediate shutdown may take, in milliseconds; it usually takes moments. A process that does not react is
 * stopped or stuck in the kernel.
 */
const abortPatienceMs = 5_000;
const largestLogBytes = 10 * 1024 * 1024;

/** How the database server of one folder runs. */
interface RunSettings {
  readonly home: PostgresHome;
  readonly user: ServiceUser;
  /** Never changes, because it is part of the URL. */
  readonly port: number;
  /** Whether the server listens on the port, and not on its socket alone. */
  readonly listens: boolean;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly stopPatienceMs: number;
  readonly disposable: boolean;
}

/**
 * A real Postgres of our own, on this machine. The user of this process reaches it through a unix socket (peer
 * authentication, without a password to keep). Other roles log in with their passwords there or on a port of loopback.
 *
 * It lives exactly as long as this process: `starting` until it answers, then `running`. When it ends by itself it is
 * started again, after a pause that doubles with each failure. `stop` ends the restarts and shuts it down in order.
 */
export class EmbeddedPostgres {
  private stopping = false;
  private readonly stopped = new AbortController();
  private supervision: Promise<void> = Promise.resolve();
  private current: SupervisedProcess | undefined;

  private constructor(private readonly settings: RunSettings) {}

  /**
   * Prepares the data on the first start, ends a Postgres that an earlier killed process left behind, starts and waits
   * until queries are answered.
   *
   * @throws StartupError with the last lines of the Postgres log when it does not come up.
   */
  static async start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
    const { directory, logger, clock = systemClock } = options;
    // An owner of a folder without data has not run Postgres yet.
    const user = await chooseServiceUser(await ownerOf(join(directory, 'postgres', 'PG_VERSION')));
    const home = await preparePostgresHome({
      directory,
      user,
      clock,
      fallbackRoot: options.fallbackRoot ?? databasesRoot,
      binaries: options.binaries ?? locateBinaries(),
    });
    if (dirname(home.dataDirectory) !== directory) {
      logger.info('the embedded database is kept outside the data folder, which its user cannot reach', {
        directory: dirname(home.dataDirectory),
        user: user.name,
      });
    }
    await endLeftPostmaster(home.dataDirectory, logger);
    await initialiseCluster(home, user, options.disposable === true ? ['--no-sync'] : []);
    await writeAccessRules(home, user);
    const wanted = options.port;
    const port = wanted === 0 ? undefined : await chooseLoopbackPort({ directory, wanted, logger });
    const postgres = new EmbeddedPostgres({
      home,
      user,
      port: port ?? socketOnlyPort,
      listens: port !== undefined,
      logger,
      clock,
      stopPatienceMs: options.stopPatienceMs ?? defaultStopPatienceMs,
      disposable: options.disposable ?? false,
    });
    await postgres.launchPatiently();
    await postgres.ensureDatabase();
    postgres.supervision = postgres.supervise();
    return postgres;
  }

  /** The URL for pg and for libpq programs such as psql. It holds no secret. */
  get databaseUrl(): string {
    return this.connectionUrl(databaseName);
  }

  /**
   * Shuts down in order: sessions are ended, everything is written. Returns when the process is gone or given up. A
   * process that does not react is killed; it recovers at the next start.
   */
  async stop(): Promise<void> {
    this.stopping = true;
    this.stopped.abort();
    const { current } = this;
    if (current !== undefined) {
      current.stop();
      if (!(await endsWithin(current, this.settings.stopPatienceMs))) await this.endAtOnce(current);
    }
    await this.supervision;
  }

  private async endAtOnce(current: SupervisedProcess): Promise<void> {
    const pid = await readPostmasterPid(this.settings.home.dataDirectory);
    this.settings.logger.warn('the embedded Postgres does not shut down: ending it at once', { pid });
    if (pid === undefined) return;
    signalIfThere(pid, 'SIGQUIT');
    if (await endsWithin(current, abortPatienceMs)) return;
    this.settings.logger.warn('the embedded Postgres does not stop: killing it', { pid });
    signalIfThere(pid, 'SIGKILL');
    await endsWithin(current, abortPatienceMs);
  }

  private async supervise(): Promise<void> {
    const backoff = new Backoff({ firstMs: shortestPauseMs, longestMs: longestPauseMs });
    let pauseMs = backoff.next();
    while (!this.stopping && this.current !== undefined) {
      const startedAt = this.settings.clock.now();
      const end = await this.current.ended;
      if (this.stopping) return;
      if (this.settings.clock.now() - startedAt > stableMs) {
        backoff.reset();
        pauseMs = backoff.next();
      }
      this.settings.logger.error('the embedded Postgres ended by itself: starting it again', { ...end, pauseMs });
      this.current = undefined;
      while (!this.stopping && this.current === undefined) {
        await delay(pauseMs, undefined, { signal: this.stopped.signal }).catch(() => undefined);
        pauseMs = backoff.next();
        if (this.stopping) return;
        try {
          await endLeftPostmaster(this.settings.home.dataDirectory, this.settings.logger);
          await this.launch();
          this.settings.logger.info('the embedded Postgres is running again');
        } catch (error) {
          this.settings.logger.error('the embedded Postgres did not start', { error: errorText(error), pauseMs });
        }
      }
    }
  }

  /**
   * Starts Postgres, again while the sessions of a killed one hold its shared memory: they take a moment to notice that
   * it is gone.
   */
  private async launchPatiently(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.launch();
        return;
      } catch (error) {
        // The shared memory is still in use, or another process took the port after the check.
        const passing = error instanceof StartupError && /shared memory block|TCP\/IP socket/.test(error.message);
        if (!passing || attempt === startAttempts) throw error;
        await delay(shortestPauseMs * 5);
      }
    }
  }

  private async launch(): Promise<void> {
    const { home, user } = this.settings;
    await limitLog(home.logFile);
    const logStart = await sizeOf(home.logFile);
    // A Postgres without its port does not start at all, but only other roles need the port.
    const listens = this.settings.listens && (await isPortFree(this.settings.port));
    if (listens !== this.settings.listens) {
      this.settings.logger.error(
        'the port of the embedded database is taken: roles can log in through the socket only',
        {
          port: this.settings.port,
        },
      );
    }
    const settings = [
      ...serverSettings(home.socketDirectory, { port: this.settings.port, listens }),
      ...(this.settings.disposable ? disposableSettings : []),
    ].flatMap((setting) => ['-c', setting]);
    const started = await startSupervised(home.binaries.postgres, ['-D', home.dataDirectory, ...settings], {
      user,
      logFile: home.logFile,
      environment: postgresEnvironment(),
    });
    // Set now, so that stop() during a long recovery reaches it.
    this.current = started;
    let end: unknown;
    void started.ended.then((reason) => {
      end = reason;
    });
    while (!(await answers(this.connectionUrl('postgres')))) {
      if (end === undefined && this.stopping) started.stop();
      if (end === undefined) {
        await delay(readyPollMs);
        continue;
      }
      this.current = undefined;
      throw new StartupError(`the embedded Postgres did not start:${await logTail(home.logFile, logStart)}`);
    }
  }

  private async ensureDatabase(): Promise<void> {
    await withClient(this.connectionUrl('postgres'), async (client) => {
      const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [databaseName]);
      if (rowCount === 0) await client.query(`create database ${databaseName}`);
    });
  }

  private connectionUrl(database: string): string {
    const host = encodeURIComponent(this.settings.home.socketDirectory);
    return `postgresql://${roleName}@localhost:${this.settings.port}/${database}?host=${host}`;
  }
}

/** False when the process still exists after the given number of milliseconds. */
async function endsWithin({ ended }: SupervisedProcess, ms: number): Promise<boolean> {
  const patience = new AbortController();
  const late = delay(ms, false, { signal: patience.signal }).catch(() => false);
  const isOver = await Promise.race([ended.then(() => true), late]);
  patience.abort();
  return isOver;
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    await withClient(url, (client) => client.query('select 1'), connectMs);
    return true;
  } catch {
    return false;
  }
}

async function limitLog(path: string): Promise<void> {
  if ((await sizeOf(path)) > largestLogBytes) await rename(path, `${path}.1`);
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 0;
    throw error;
  }
}

async function ownerOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).uid;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function logTail(path: string, from: number): Promise<string> {
  // As root, we must not show what the user that runs Postgres could not read.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { buffer, bytesRead } = await file.read({ position: from, buffer: Buffer.alloc(4096) });
    const lines = buffer.subarray(0, bytesRead).toString('utf8').trim().split('\n').slice(-4);
    return ` ${lines.join(' | ')} (log: ${path})`;
  } finally {
    await file.close();
  }
}
