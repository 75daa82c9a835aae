import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { errorText } from '../../base/machinery/startup-error.js';
import type { Logger } from '../../base/observability/logger.js';

/** Limits for tracked connections; 0 leaves a limit unchanged. */
export interface ConntrackLimits {
  readonly conntrackMaxPerCore: number;
  readonly conntrackMin: number;
  readonly tcpEstablishedMs: number;
  readonly tcpCloseWaitMs: number;
  readonly tcpBeLiberal: boolean;
  readonly udpMs: number;
  readonly udpStreamMs: number;
}

const folder = '/proc/sys/net/netfilter';
const hashSizeFile = '/sys/module/nf_conntrack/parameters/hashsize';
/** An upper bound for any number of processors: each connection takes memory of the kernel. */
const mostConnections = 1_048_576;

/** How many connections the kernel should be able to track; 0: its limit stays. */
export function wantedConnections({ conntrackMaxPerCore, conntrackMin }: ConntrackLimits, processors: number): number {
  if (conntrackMaxPerCore === 0) return 0;
  return Math.min(mostConnections, Math.max(conntrackMaxPerCore * processors, conntrackMin));
}

/** Sets the limits of the kernel. A limit that can't be set, as in a container, is logged and left unchanged. */
export async function setConntrackLimits(limits: ConntrackLimits, logger: Logger): Promise<void> {
  const wanted = wantedConnections(limits, availableParallelism());
  if (wanted > 0) {
    await set(`${folder}/nf_conntrack_max`, wanted, logger, (present) => present < wanted);
    const places = Math.floor(wanted / 4);
    await set(hashSizeFile, places, logger, (present) => present < places);
  }
  const seconds = [
    ['nf_conntrack_tcp_timeout_established', limits.tcpEstablishedMs],
    ['nf_conntrack_tcp_timeout_close_wait', limits.tcpCloseWaitMs],
    ['nf_conntrack_udp_timeout', limits.udpMs],
    ['nf_conntrack_udp_timeout_stream', limits.udpStreamMs],
  ] as const;
  for (const [name, milliseconds] of seconds) {
    if (milliseconds > 0) await set(`${folder}/${name}`, Math.ceil(milliseconds / 1000), logger);
  }
  if (limits.tcpBeLiberal) await set(`${folder}/nf_conntrack_tcp_be_liberal`, 1, logger);
}

async function set(
  file: string,
  value: number,
  logger: Logger,
  isNeeded: (present: number) => boolean = (present) => present !== value,
): Promise<void> {
  try {
    if (isNeeded(Number(await readFile(file, 'utf8')))) await writeFile(file, `${value}`);
  } catch (error) {
    logger.warn('a limit for tracked connections cannot be set', { file, value, error: errorText(error) });
  }
}
