import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, readFile, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readFileIfPresent, writeFileAtomically } from '../../../base/machinery/files.js';
import { errorText, StartupError } from '../../../base/machinery/startup-error.js';
import type { Logger } from '../../../base/observability/logger.js';
import { lockDirectory } from '../directory-lock.js';
import { EmbeddedPostgres } from '../embedded/embedded-postgres.js';
import { dropDatabases } from './databases.js';
import { dropHalfMade, dropUnnamed, folderPrefix } from './folder-databases.js';
import type { KeeperPlace } from './keeper-place.js';
import { received, send, sharedPrefix, type UserLine } from './keeper-protocol.js';

export interface KeeperOptions {
  readonly place: KeeperPlace;
  readonly logger: Logger;
  /** How long the keeper stays after its last user, and waits for the first one. */
  readonly lingerMs: number;
  /** Stops the keeper when it is aborted. */
  readonly signal: AbortSignal;
}

const firstUserMs = 30_000;
/** How long the end of an earlier keeper may take. */
const takeOverMs = 60_000;
const pollMs = 20;
/**
 * How long after the end of a user to look for removed folders, in milliseconds: users remove the folders of their
 * databases soon afterwards.
 */
const sweepAfterMs = 500;
/**
 * Up to which age data are used, in milliseconds: systems remove temporary files that were not touched for ten days,
 * even single files.
 */
const oldestDataMs = 5 * 24 * 60 * 60 * 1000;

/**
 * Runs the shared Postgres for as long as somebody uses it, that is, holds a connection to the socket. The end of a
 * connection, however the process at its other end dies, drops the databases of that user. Resolves when everything has
 * ended.
 *
 * @throws StartupError when Postgres does not start, or when an earlier keeper does not end.
 */
export async function runKeeper({ place, logger, lingerMs, signal }: KeeperOptions): Promise<void> {
  const lock = await takeLock(place);
  try {
    const mark = new DataMark(place);
    if (!(await mark.areDataSound())) await removeData(place);
    await mark.begin();
    const postgres = await startPostgres(place, logger);
    try {
      await dropDatabases(postgres.databaseUrl, sharedPrefix);
      await dropHalfMade(postgres.databaseUrl);
      await dropUnnamed(postgres.databaseUrl);
      await serveUsers(postgres, { place, logger, lingerMs, signal });
    } finally {
      await postgres.stop();
    }
    await mark.end();
  } finally {
    await lock.release();
  }
}

async function takeLock(place: KeeperPlace): Promise<{ release(): Promise<void> }> {
  for (const deadline = performance.now() + takeOverMs; ; ) {
    try {
      return await lockDirectory(place.keeperLock);
    } catch (error) {
      if (!(error instanceof StartupError) || performance.now() > deadline) throw error;
      await delay(pollMs);
    }
  }
}

/** The data are worthless: when they can't be used, new ones are made. */
async function startPostgres(place: KeeperPlace, logger: Logger): Promise<EmbeddedPostgres> {
  const { directory, binaries } = place;
  const options = { directory, binaries, logger, port: 0, disposable: true };
  try {
    return await EmbeddedPostgres.start(options);
  } catch (error) {
    logger.warn('the shared Postgres did not start: starting it with new data', { error: errorText(error) });
    await removeData(place);
    return await EmbeddedPostgres.start(options);
  }
}

async function removeData({ directory }: KeeperPlace): Promise<void> {
  for (const name of ['postgres', 'postgres.unfinished']) {
    await rm(join(directory, name), { recursive: true, force: true });
  }
}

/**
 * Whether the data are intact. Nothing is synced to disk, so the data survive the end of any process, but not a crash
 * of the machine.
 */
class DataMark {
  constructor(private readonly place: KeeperPlace) {}

  async areDataSound(): Promise<boolean> {
    const text = await readFileIfPresent(this.path);
    if (text === undefined) return true;
    const [state, at, boot] = text.trim().split(' ');
    if (!(Date.now() - Number(at) < oldestDataMs)) return false;
    return state === 'ended' || (boot !== '' && boot === (await bootId()));
  }

  async begin(): Promise<void> {
    await this.write('runs');
  }

  async end(): Promise<void> {
    await this.write('ended');
  }

  private async write(state: string): Promise<void> {
    await writeFileAtomically(this.path, `${state} ${Date.now()} ${await bootId()}\n`, 0o600);
  }

  private get path(): string {
    return join(this.place.directory, 'data-state');
  }
}

/** An identifier that differs after a restart of the machine; empty where the system does not report it. */
async function bootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')).trim();
}

async function serveUsers(postgres: EmbeddedPostgres, options: KeeperOptions): Promise<void> {
  const { place, logger, lingerMs, signal } = options;
  const adminUrl = postgres.databaseUrl;
  const users = new Set<Socket>();
  const over = new AbortController();
  const drops: Promise<void>[] = [];
  let patience = setTimeout(() => over.abort(), firstUserMs);

  const inBackground = (work: Promise<void>, start: string): void => {
    const dropping = work.catch((error: unknown) =>
      logger.warn('a database was not dropped', { start, error: errorText(error) }),
    );
    drops.push(dropping);
    void dropping.then(() => drops.splice(drops.indexOf(dropping), 1));
  };
  const drop = (start: string, exact: boolean): void => inBackground(dropDatabases(adminUrl, start, exact), start);
  const sweep = (): void => inBackground(dropUnnamed(adminUrl), folderPrefix);
  let sweeper: NodeJS.Timeout | undefined;
  const serve = async (socket: Socket): Promise<void> => {
    clearTimeout(patience);
    users.add(socket);
    const prefix = `${sharedPrefix}${randomBytes(5).toString('hex')}_`;
    send(socket, { adminUrl, prefix });
    try {
      for await (const line of received<UserLine>(socket)) if (line.drop.startsWith(prefix)) drop(line.drop, true);
    } finally {
      users.delete(socket);
      socket.destroy();
      if (users.size === 0) {
        clearTimeout(patience);
        patience = setTimeout(() => over.abort(), lingerMs);
      }
      drop(prefix, false);
      clearTimeout(sweeper);
      sweeper = setTimeout(sweep, sweepAfterMs);
    }
  };

  const server = createServer((socket) => {
    serve(socket).catch((error: unknown) =>
      logger.warn('a client of the shared Postgres was disconnected', { error: errorText(error) }),
    );
  });
  await listen(server, place.socket);
  logger.info('the shared Postgres started');
  if (!signal.aborted) await Promise.race([once(signal, 'abort'), once(over.signal, 'abort')]);
  clearTimeout(patience);
  // No new users from here on: the next one starts another keeper, which waits until this one has ended.
  const closed = once(server, 'close');
  server.close();
  for (const socket of users) socket.destroy();
  await closed;
  clearTimeout(sweeper);
  sweep();
  await Promise.all(drops);
  logger.info('the shared Postgres stops');
}

async function listen(server: Server, path: string): Promise<void> {
  await rm(path, { force: true });
  server.listen(path);
  await once(server, 'listening');
  await chmod(path, 0o600);
}
