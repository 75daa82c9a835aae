import { readdir, readFile, readlink } from 'node:fs/promises';
import { createServer, isIP } from 'node:net';
import { errorCode, errorText, StartupError } from './startup-error.js';

/**
 * Makes sure that a port is free to listen on, before anything else is started.
 *
 * @param flag the flag that chooses another port
 *
 * @throws StartupError with the reason, and the pid of the process that has the port where the system reports it.
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
      const { pid, address: taken = address } = await findListener(address, port);
      const who = pid === undefined ? 'another process' : `process ${pid}`;
      const place = isIP(taken) === 6 ? `[${taken}]:${port}` : `${taken}:${port}`;
      return new StartupError(`${who} already listens on ${place}: stop it, or choose another ${flag}`);
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

interface Listener {
  readonly pid?: number;
  /** Where the process listens, which may be one of the requested addresses. */
  readonly address?: string;
}

/** The process that listens on a TCP port and so occupies the address; empty where the system does not report it. */
async function findListener(address: string, port: number): Promise<Listener> {
  const inodes = new Map<string, string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of (await readFile(table, 'utf8').catch(() => '')).split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/);
      const listens = fields[3] === '0A';
      const [place = '', hexPort = ''] = fields[1]?.split(':') ?? [];
      if (!listens || Number.parseInt(hexPort, 16) !== port) continue;
      const own = addressOf(place);
      if (isAny(address) || isAny(own) || own === address) inodes.set(`socket:[${fields[9]}]`, own);
    }
  }
  if (inodes.size === 0) return {};
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const folder = `/proc/${pid}/fd`;
    for (const descriptor of await readdir(folder).catch(() => [])) {
      const own = inodes.get(await readlink(`${folder}/${descriptor}`).catch(() => ''));
      if (own !== undefined) return { pid: Number(pid), address: own };
    }
  }
  const [own] = inodes.values();
  return own === undefined ? {} : { address: own };
}

function isAny(address: string): boolean {
  return address === '0.0.0.0' || address === '::';
}

/** An address from the form in which the kernel lists it: four-byte words, each in little-endian order. */
function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => (word.match(/../g) ?? []).reverse());
  if (bytes.length === 4) return bytes.map((byte) => Number.parseInt(byte, 16)).join('.');
  const groups = Array.from({ length: 8 }, (_, i) => `${bytes[2 * i]}${bytes[2 * i + 1]}`);
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
