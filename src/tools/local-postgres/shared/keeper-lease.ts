import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, stat } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { environment } from '../../../base/config/environment.js';
import { errorCode, StartupError } from '../../../base/machinery/startup-error.js';
import { lockDirectory } from '../directory-lock.js';
import { type KeeperPlace, keeperPlace } from './keeper-place.js';
import { type KeeperLine, received, send } from './keeper-protocol.js';

/**
 * The right to use the shared Postgres, which runs at least as long as the lease. The end of the process ends the lease
 * in any case.
 */
export interface KeeperLease {
  readonly adminUrl: string;
  /** The prefix of the names of this user's databases. */
  readonly prefix: string;
  /** Resolves when the lease ends, by `end` or because the keeper is gone. */
  readonly ended: Promise<void>;
  /** Has a database of ours dropped, without waiting for it. */
  drop(name: string): void;
  /** Has all databases of ours dropped. Resolves when the keeper knows. */
  end(): Promise<void>;
}

/**
 * How long the keeper stays after its last user, in milliseconds: long enough to go from one test process to the next.
 */
const usualLingerMs = 1000;
const pollMs = 10;
const startMs = 120_000;
const largestLog = 1024 * 1024;

/**
 * Finds this user's shared Postgres, or starts it.
 *
 * @throws StartupError with the last lines of its log when it does not start.
 */
export async function leaseKeeper(lingerMs: number = usualLingerMs): Promise<KeeperLease> {
  const place = await keeperPlace();
  for (const deadline = performance.now() + startMs; performance.now() < deadline; ) {
    const lease = await tryLease(place);
    if (lease !== undefined) return lease;
    const lock = await tryLock(place);
    if (lock === undefined) {
      await delay(pollMs);
      continue;
    }
    try {
      const started = (await tryLease(place)) ?? (await startKeeper(place, lingerMs));
      if (started !== undefined) return started;
    } finally {
      await lock.release();
    }
  }
  throw new StartupError(`the shared Postgres does not answer (log: ${place.log})`);
}

/** Takes a lease; undefined when no keeper listens, or the keeper is about to exit. */
async function tryLease(place: KeeperPlace): Promise<KeeperLease | undefined> {
  const socket = connect(place.socket);
  try {
    await once(socket, 'connect');
  } catch (error) {
    socket.destroy();
    if (['ENOENT', 'ECONNREFUSED', 'ECONNRESET'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
  const lines = received<KeeperLine>(socket);
  const first = await lines.next();
  if (first.done === true) return undefined;
  // The connection holds the lease, but does not keep a process alive that has nothing else to do.
  socket.unref();
  return new SocketLease(socket, first.value);
}

class SocketLease implements KeeperLease {
  readonly adminUrl: string;
  readonly prefix: string;
  readonly ended: Promise<void>;

  constructor(
    private readonly socket: Socket,
    { adminUrl, prefix }: KeeperLine,
  ) {
    this.adminUrl = adminUrl;
    this.prefix = prefix;
    this.ended = new Promise((resolve) => socket.once('close', () => resolve()));
    // The end of the connection is noticed only while it is read.
    socket.resume();
  }

  drop(name: string): void {
    send(this.socket, { drop: name });
  }

  async end(): Promise<void> {
    if (this.socket.destroyed) return;
    const closed = once(this.socket, 'close');
    this.socket.ref();
    this.socket.end();
    await closed;
  }
}

/** Takes the lock for starting the keeper; undefined while another process starts it. */
async function tryLock(place: KeeperPlace): Promise<{ release(): Promise<void> } | undefined> {
  try {
    return await lockDirectory(place.startLock);
  } catch (error) {
    if (error instanceof StartupError) return undefined;
    throw error;
  }
}

async function startKeeper(place: KeeperPlace, lingerMs: number): Promise<KeeperLease | undefined> {
  const size = await sizeOf(place.log);
  const log = await open(place.log, size > largestLog ? 'w' : 'a', 0o600);
  const from = size > largestLog ? 0 : size;
  const program = fileURLToPath(new URL('./keeper-main.js', import.meta.url));
  // A session of its own: a Ctrl-C in the terminal must not end it before its users.
  const child = spawn(process.execPath, [program, String(lingerMs)], {
    cwd: '/',
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    env: { ...keptEnvironment() },
  });
  try {
    let ended = false;
    child.once('exit', () => {
      ended = true;
    });
    await once(child, 'spawn');
    child.unref();
    for (const deadline = performance.now() + startMs; performance.now() < deadline; ) {
      const lease = await tryLease(place);
      if (lease !== undefined) return lease;
      if (ended) throw new StartupError(`the shared Postgres did not start: ${await lastLines(place.log, from)}`);
      await delay(pollMs);
    }
    return undefined;
  } finally {
    await log.close();
  }
}

/** Settings of the test's Node, such as coverage or a debugger, must not reach the keeper. */
function keptEnvironment(): Record<string, string | undefined> {
  const { PATH, HOME, TMPDIR, TMP, TEMP, LANG } = environment;
  return { PATH, HOME, TMPDIR, TMP, TEMP, LANG };
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 0;
    throw error;
  }
}

async function lastLines(path: string, from: number): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read({ position: from, buffer: Buffer.alloc(16_384) });
    return `${buffer.subarray(0, bytesRead).toString('utf8').trim().split('\n').slice(-4).join(' | ')} (log: ${path})`;
  } finally {
    await file.close();
  }
}
