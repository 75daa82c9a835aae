import { readdir, readFile, readlink } from 'node:fs/promises';
import { createServer, isIP } from 'node:net';
import { errorCode, errorText, StartupError } from './startup-error.js';

/**
 * Makes sure that a port is free to listen on, before anything else is started.
 *
 * @param flag the flag that chooses another port
 *
 * @throws StartupError with the reason, and the pid of the process that has the port where the system tells.
 */
export async function checkPortFree(address: string, port: number, flag = '--secure-port'): Promise<void> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host: address, port, exclusive: true }, resolve);
    });
  } catch (error) {
    throw await describeListenError(error, address, port, flag);
  }
  await new Promise((resolve) => server.close(resolve));
}

async function describeListenError(error: unknown, address: string, port: number, flag: string): Promise<StartupError> {
  const shown = isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;
  switch (errorCode(error)) {
    case 'EADDRINUSE': {
      const pid = await findListener(port);
      const who = pid === undefined ? 'another process' : `process ${pid}`;
      return new StartupError(`${who} already listens on ${shown}: stop it, or choose another ${flag}`);
    }
    case 'EACCES':
      return new StartupError(
        `not allowed to listen on ${shown}: ports below 1024 need privileges, choose another one`,
      );
    case 'EADDRNOTAVAIL':
      return new StartupError(`${address} is not an address of this machine: choose another --bind-address`);
    default:
      return new StartupError(`cannot listen on ${shown}: ${errorText(error)}`, { cause: error });
  }
}

/** The pid of a process that listens on a TCP port; undefined where the system does not tell. */
async function findListener(port: number): Promise<number | undefined> {
  const inodes = new Set<string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of (await readFile(table, 'utf8').catch(() => '')).split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/);
      const listens = fields[3] === '0A';
      if (listens && Number.parseInt(fields[1]?.split(':')[1] ?? '', 16) === port) inodes.add(`socket:[${fields[9]}]`);
    }
  }
  if (inodes.size === 0) return undefined;
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const folder = `/proc/${pid}/fd`;
    for (const descriptor of await readdir(folder).catch(() => [])) {
      if (inodes.has(await readlink(`${folder}/${descriptor}`).catch(() => ''))) return Number(pid);
    }
  }
  return undefined;
}
