import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '../../src/storage/postgres/migrate.js';
import { schemaFingerprint } from '../../src/storage/postgres/schema-texts.js';
import { locateBinaries } from '../../src/tools/local-postgres/embedded/binaries.js';
import { usableBinaries } from '../../src/tools/local-postgres/embedded/home.js';
import { chooseServiceUser, identity, type ServiceUser } from '../../src/tools/local-postgres/embedded/service-user.js';
import { endWithUs, forgetFolder, removeWithUs } from './child-guard.js';
import { answers, freePort } from './ports.js';
import { copyData, prepareData } from './postgres-data.js';
import { TcpProxy } from './tcp-proxy.js';

/** A database server that belongs to one test process. */
export interface TestPostgres {
  /** Superuser URL of the maintenance database `postgres`. */
  readonly adminUrl: string;
  readonly port: number;
  /** Makes an empty, migrated database and returns its URL. */
  createTestDatabase(): Promise<string>;
  /** `fast` ends sessions and writes a checkpoint; `immediate` is a crash: the next start replays the log. */
  shutDown(mode: 'fast' | 'immediate'): Promise<void>;
  /** Starts again after `shutDown`, on the same port and data. */
  startAgain(): Promise<void>;
  /** Makes a standby that follows this server. */
  createStandby(): Promise<TestStandby>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

/** A server that replays what its primary writes, until it is promoted. */
export interface TestStandby extends TestPostgres {
  /** Resolves when everything that the primary has written so far was replayed. */
  caughtUp(): Promise<void>;
  /** Cuts the stream from the primary: from now on the standby lags. */
  detach(): void;
  /** Promotes the standby to a primary with a timeline of its own. */
  promote(): Promise<void>;
}

export interface TestPostgresOptions {
  /** Whether writes are durable, for tests that crash the server and for measurements. Default: off. */
  readonly fsync?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
  /** Folder of the programs of another PostgreSQL, which then runs with its default settings; empty for ours. */
  readonly programs?: string;
  /** PEM texts; if set, the server offers TLS. */
  readonly tls?: { readonly certificate: string; readonly privateKey: string };
}

/**
 * Folder of the programs of another PostgreSQL, such as /usr/lib/postgresql/15/bin. Servers of that PostgreSQL keep its
 * default settings, including durability, except for settings of the test.
 */
const stockPrograms = process.env.PLINTH_TEST_POSTGRES_BIN ?? '';

/**
 * Programs are copied to this folder when the user that runs them can't reach them (a checkout below a private home).
 */
const copyRoot = '/var/lib/plinth';

/**
 * Starts a fresh Postgres from the installed binaries on a free port, as an unprivileged user if the tests run as root.
 * When PLINTH_TEST_POSTGRES holds an admin URL and no options are given, that server is used instead and left running.
 * Test files that run in one process one after the other get the same server, unless they ask for options.
 */
export async function startTestPostgres(options: TestPostgresOptions = {}): Promise<TestPostgres> {
  const shared = process.env.PLINTH_TEST_POSTGRES;
  const isPlain = Object.values(options).every((value) => value === undefined || value === false);
  if (shared !== undefined && shared !== '' && isPlain) return sharedServer(shared);
  return isPlain && process.env.PLINTH_TEST_GROUP === '1' ? processServer() : startOwnPostgres(options);
}

/** The server of this process, and the number of its current users. */
let kept: { readonly server: Promise<TestPostgres>; users: number } | undefined;

/**
 * Returns the server of this process. A server that was shut down, or that has a standby, is not kept for the next
 * user.
 */
async function processServer(): Promise<TestPostgres> {
  kept ??= { server: startOwnPostgres({}), users: 0 };
  const mine = kept;
  mine.users++;
  const server = await mine.server;
  (globalThis as Record<symbol, unknown>)[Symbol.for('plinth.test.endShared')] = async () =>
    (await kept?.server)?.stop();
  const forOneUser = () => {
    if (kept === mine) kept = undefined;
  };
  return {
    ...server,
    shutDown: (mode) => {
      forOneUser();
      return server.shutDown(mode);
    },
    createStandby: () => {
      forOneUser();
      return server.createStandby();
    },
    stop: async () => {
      mine.users--;
      if (kept !== mine && mine.users === 0) await server.stop();
    },
  };
}

async function startOwnPostgres(options: TestPostgresOptions): Promise<TestPostgres & { readonly data: string }> {
  const user = await chooseServiceUser();
  const { initdb, postgres } = await programs(user, options);
  const directory = mkdtempSync(join(tmpdir(), 'plinth-pg-'));
  removeWithUs(directory);
  giveTo(user, directory);
  const data = join(directory, 'data');

  try {
    prepareData({ data, initdb, user, cwd: directory, locale: foreignPrograms(options) === '' ? 'C' : 'C.UTF-8' });
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
  return serve({ directory, data, user, postgres, options });
}

/**
 * Makes a data directory from which each process of a test run copies one server (PLINTH_TEST_POSTGRES_TEMPLATES). It
 * includes the template for test databases.
 *
 * @param path is created
 */
export async function makeDataTemplate(path: string): Promise<void> {
  const server = await startOwnPostgres({});
  try {
    await asAdmin(server.adminUrl, (admin) => ensureTemplateDatabase(admin, server.adminUrl));
    await server.shutDown('fast');
    copyData(server.data, path);
  } finally {
    await server.stop();
  }
}

function foreignPrograms(options: TestPostgresOptions): string {
  return options.programs ?? stockPrograms;
}

async function programs(
  user: ServiceUser,
  options: TestPostgresOptions,
): Promise<{ readonly initdb: string; readonly postgres: string }> {
  const folder = foreignPrograms(options);
  if (folder === '') return await usableBinaries(locateBinaries(), user, copyRoot);
  return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
}

interface DataDirectory {
  readonly directory: string;
  readonly data: string;
  readonly user: ServiceUser;
  /** Path of the program. */
  readonly postgres: string;
  readonly options: TestPostgresOptions;
}

/** Runs a server on prepared data. */
async function serve(home: DataDirectory): Promise<TestPostgres & { readonly data: string }> {
  const { directory, data, user, postgres, options } = home;
  const own = (path: string) => giveTo(user, path);
  const run = runEnvironment(user, directory);
  const port = await freePort();
  const adminUrl = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const durable = options.fsync === true ? 'on' : 'off';
  const ours = {
    listen_addresses: '127.0.0.1',
    fsync: durable,
    full_page_writes: durable,
    // Tests with many servers need more than the default of 100.
    max_connections: '200',
  };
  const settings: Record<string, string> = {
    ...(foreignPrograms(options) === '' ? ours : {}),
    unix_socket_directories: '',
    ...options.settings,
  };
  if (options.tls !== undefined) {
    settings.ssl = 'on';
    for (const [name, pem] of [
      ['server.crt', options.tls.certificate],
      ['server.key', options.tls.privateKey],
    ] as const) {
      writeFileSync(join(data, name), pem, { mode: 0o600 });
      own(join(data, name));
    }
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

  let server: ChildProcess | undefined;
  const killWithUs = (): void => {
    server?.kill('SIGQUIT');
    rmSync(directory, { recursive: true, force: true, maxRetries: 20 });
  };
  const exitOrderly = (): void => process.exit(143);
  process.once('exit', killWithUs);
  process.once('SIGTERM', exitOrderly);

  const launch = async (): Promise<void> => {
    let log = '';
    const child = spawn(postgres, ['-D', data, '-p', String(port), ...flags], {
      ...run,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    endWithUs(child, 'QUIT');
    child.stderr?.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-4000);
    });
    server = child;
    const deadline = performance.now() + 120_000;
    while (!(await answers(adminUrl))) {
      if (child.exitCode !== null || performance.now() > deadline) throw new Error(`postgres did not start: ${log}`);
      await sleep(20);
    }
  };
  const shutDown = async (mode: 'fast' | 'immediate'): Promise<void> => {
    const child = server;
    server = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await ended;
  };

  await launch();
  return {
    adminUrl,
    port,
    data,
    createTestDatabase: () => createTestDatabase(adminUrl),
    createStandby: () => createStandby(home, port, adminUrl),
    shutDown,
    startAgain: launch,
    stop: async () => {
      await shutDown('immediate');
      process.off('exit', killWithUs);
      process.off('SIGTERM', exitOrderly);
      rmSync(directory, { recursive: true, force: true, maxRetries: 20 });
      forgetFolder(directory);
    },
  };
}

function giveTo({ uid, gid }: ServiceUser, path: string): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

function runEnvironment(user: ServiceUser, cwd: string) {
  return { ...identity(user), cwd, env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' } };
}

/** Copies the data of the running server, as a base backup does. */
async function createStandby(home: DataDirectory, port: number, adminUrl: string): Promise<TestStandby> {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-pg-'));
  removeWithUs(directory);
  giveTo(home.user, directory);
  const data = join(directory, 'data');
  // The backup ends with this connection.
  const primary = new pg.Client({ connectionString: adminUrl });
  primary.on('error', () => {});
  await primary.connect();
  try {
    const version = await primary.query<{ server_version_num: string }>('show server_version_num');
    const isOld = Number(version.rows[0]?.server_version_num) < 150_000;
    await primary.query(
      `select ${isOld ? `pg_start_backup('standby', true, false)` : `pg_backup_start('standby', true)`}`,
    );
    copyRunning(home.data, data);
    const stop = isOld ? 'pg_stop_backup' : 'pg_backup_stop';
    const { rows } = await primary.query<{ labelfile: string }>(`select labelfile from ${stop}(false)`);
    writeFileSync(join(data, 'backup_label'), rows[0]?.labelfile ?? '');
    writeFileSync(join(data, 'standby.signal'), '');
  } finally {
    await primary.end();
  }
  if (home.user.uid !== undefined) spawnSync('chown', ['-R', `${home.user.uid}:${home.user.gid}`, data]);
  spawnSync('chmod', ['0700', data]);
  const stream = await TcpProxy.start(port);
  const options = {
    ...home.options,
    settings: {
      ...home.options.settings,
      primary_conninfo: `host=127.0.0.1 port=${stream.port} user=postgres`,
      wal_retrieve_retry_interval: '100ms',
    },
  };
  const server = await serve({ ...home, directory, data, options });
  const ask = async (url: string, sql: string): Promise<string> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      const { rows } = await client.query({ text: sql, rowMode: 'array' });
      return String(rows[0]?.[0]);
    } finally {
      await client.end();
    }
  };
  return {
    ...server,
    caughtUp: async () => {
      const written = await ask(adminUrl, 'select pg_current_wal_insert_lsn()');
      const deadline = performance.now() + 120_000;
      while ((await ask(server.adminUrl, `select pg_last_wal_replay_lsn() >= '${written}'`)) !== 'true') {
        if (performance.now() > deadline) throw new Error('the standby does not catch up');
        await sleep(20);
      }
    },
    detach: () => stream.cut(true),
    promote: async () => {
      if ((await ask(server.adminUrl, 'select pg_promote(true, 30)')) !== 'true') throw new Error('not promoted');
    },
    stop: async () => {
      await stream.stop();
      await server.stop();
    },
  };
}

/** Copies the files of a running server. Some files disappear during the copy: a backup does not need them. */
function copyRunning(from: string, to: string): void {
  mkdirSync(to);
  for (const entry of ifThere(() => readdirSync(from, { withFileTypes: true })) ?? []) {
    const { name } = entry;
    if (name === 'postmaster.pid' || name === 'postmaster.opts') continue;
    if (entry.isDirectory()) copyRunning(join(from, name), join(to, name));
    else ifThere(() => copyFileSync(join(from, name), join(to, name)));
  }
}

function ifThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Makes an empty, migrated database on the server and returns its URL; the first call prepares a template. */
export async function createTestDatabase(adminUrl: string): Promise<string> {
  const name = `plinth_test_${randomBytes(8).toString('hex')}`;
  await asAdmin(adminUrl, async (admin) => {
    const template = await ensureTemplateDatabase(admin, adminUrl);
    // The default strategy also writes the copy to the server's log, which takes three times as long.
    await admin.query(`create database ${name} template ${template} ${await fileCopy(admin)}`);
  });
  return databaseUrl(adminUrl, name);
}

/** The clause that makes the server copy a database file by file; releases before 15 have no other strategy. */
async function fileCopy(admin: pg.Client): Promise<string> {
  const { rows } = await admin.query<{ server_version_num: string }>('show server_version_num');
  return Number(rows[0]?.server_version_num) < 150_000 ? '' : 'strategy file_copy';
}

/** Makes the migrated template for test databases if it does not exist; resolves with its name. */
async function ensureTemplateDatabase(admin: pg.Client, adminUrl: string): Promise<string> {
  const template = `plinth_template_${schemaFingerprint()}`;
  // With a session lock, only one process builds the template, and no process copies it half built.
  await admin.query('select pg_advisory_lock(7811071)');
  const known = await admin.query('select from pg_database where datname = $1', [template]);
  if (known.rowCount === 0) {
    const building = `${template}_${randomBytes(4).toString('hex')}`;
    await admin.query(`create database ${building} template template0`);
    await migrate(databaseUrl(adminUrl, building));
    await admin.query(`alter database ${building} rename to ${template}`);
  }
  return template;
}

async function asAdmin(adminUrl: string, work: (admin: pg.Client) => Promise<unknown>): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}

function databaseUrl(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}

function sharedServer(adminUrl: string): TestPostgres {
  const refuse = (): Promise<void> => Promise.reject(new Error('this server is shared with other tests'));
  return {
    adminUrl,
    port: Number(new URL(adminUrl).port || 5432),
    createTestDatabase: () => createTestDatabase(adminUrl),
    createStandby: () => Promise.reject(new Error('this server is shared with other tests')),
    shutDown: refuse,
    startAgain: refuse,
    stop: async () => {},
  };
}
