import { randomInt } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { checkPortFree } from '../../../base/machinery/port-check.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import type { Logger } from '../../../base/observability/logger.js';
import { changeNote, readNote } from './note.js';

/** The address where other roles log in. */
export const loopback = '127.0.0.1';

/**
 * The range of ports to choose from: below the ports that systems give to outgoing connections, so the port is still
 * free at the next start.
 */
const choices = { from: 20_000, to: 32_768 } as const;
const mostTries = 50;

export interface LoopbackPortOptions {
  /** The data folder, which remembers the port. */
  readonly directory: string;
  /** The port that the user asked for; undefined: the one from before, or any. */
  readonly wanted: number | undefined;
  readonly logger: Logger;
  /** The address where other roles log in. */
  readonly address?: string;
}

/**
 * The TCP port of an embedded Postgres. It is the same at every start, so addresses that people have noted stay right.
 * Undefined on a machine that speaks IPv6 only: its socket is enough for everything but roles of other users.
 *
 * @throws StartupError when the port that the user asked for can't be had.
 */
export async function chooseLoopbackPort(options: LoopbackPortOptions): Promise<number | undefined> {
  const { directory, wanted, logger, address = loopback } = options;
  if (wanted !== undefined) {
    await checkPortFree(loopback, wanted, '--postgres-port');
    return wanted;
  }
  if (!isOurs(address)) {
    logger.warn('roles can log in to the embedded database through its socket only', { missing: address });
    return undefined;
  }
  const { port: remembered } = await readNote(directory);
  if (remembered !== undefined && (await isPortFree(remembered))) return remembered;
  const port = await anyFreePort();
  if (remembered !== undefined) {
    logger.warn('the port of the embedded database is taken: it gets another one', { taken: remembered, port });
  }
  await changeNote(directory, { port });
  return port;
}

/** Whether Postgres could listen on a port of loopback at this moment. */
export async function isPortFree(port: number): Promise<boolean> {
  try {
    await checkPortFree(loopback, port);
    return true;
  } catch (error) {
    if (error instanceof StartupError) return false;
    throw error;
  }
}

function isOurs(address: string): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some((own) => own.address === address));
}

async function anyFreePort(): Promise<number> {
  for (let attempt = 0; attempt < mostTries; attempt++) {
    const port = randomInt(choices.from, choices.to);
    if (await isPortFree(port)) return port;
  }
  throw new StartupError(`no port of ${loopback} is free for the embedded database: choose one with --postgres-port`);
}
