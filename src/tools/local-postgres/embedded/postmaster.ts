import { readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode, StartupError } from '../../../base/machinery/startup-error.js';
import type { Logger } from '../../../base/observability/logger.js';

const pollMs = 20;
const fastShutdownMs = 30_000;
const immediateShutdownMs = 10_000;

/**
 * Ends a Postgres that still runs on our data because its parent was killed. The caller holds the lock of the folder,
 * so its owner is gone. Afterwards a new Postgres can start.
 */
export async function endLeftPostmaster(dataDirectory: string, logger: Logger): Promise<void> {
  const lockFile = join(dataDirectory, 'postmaster.pid');
  const pid = await readPostmasterPid(dataDirectory);
  if (pid === undefined || !isAlive(pid)) return;
  if (!(await runsOn(pid, dataDirectory))) {
    // The pid belongs to another process by now. Postgres itself would take that process for its predecessor.
    await rm(lockFile, { force: true });
    return;
  }
  logger.info('stopping a Postgres that an earlier plinth left behind', { pid });
  if (await endPostmaster(pid, dataDirectory, 'SIGINT', fastShutdownMs)) return;
  if (await endPostmaster(pid, dataDirectory, 'SIGQUIT', immediateShutdownMs)) return;
  throw new StartupError(`a Postgres of an earlier start (pid ${pid}) does not stop: end it and start again`);
}

/** The pid in `postmaster.pid`; undefined when Postgres does not run. */
export async function readPostmasterPid(dataDirectory: string): Promise<number | undefined> {
  try {
    const pid = Number((await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8')).split('\n')[0]);
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whether a process with this number exists, whatever user owns it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

async function runsOn(pid: number, dataDirectory: string): Promise<boolean> {
  // The working directory of a postmaster is its data directory. Without /proc the lock file has to do.
  if (process.platform !== 'linux') return true;
  try {
    return (await readlink(`/proc/${pid}/cwd`)) === (await realpath(dataDirectory));
  } catch (error) {
    return errorCode(error) !== 'ENOENT';
  }
}

async function endPostmaster(
  pid: number,
  dataDirectory: string,
  signal: NodeJS.Signals,
  patienceMs: number,
): Promise<boolean> {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return true;
    throw error;
  }
  for (let waited = 0; waited < patienceMs; waited += pollMs) {
    if (!(await stillRuns(pid, dataDirectory))) return true;
    await delay(pollMs);
  }
  return !(await stillRuns(pid, dataDirectory));
}

/**
 * A process that has ended may never be collected in a container: it keeps its number, but has no lock file or folder.
 */
async function stillRuns(pid: number, dataDirectory: string): Promise<boolean> {
  if (!isAlive(pid) || (await readPostmasterPid(dataDirectory)) !== pid) return false;
  return await runsOn(pid, dataDirectory);
}
