import { readFile, statfs } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import { memoryLimits } from '../../../base/machinery/memory-limits.js';
import { checkPortFree } from '../../../base/machinery/port-check.js';
import { errorText } from '../../../base/machinery/startup-error.js';
import { bytesText, error, type Finding, ok, skipped, warning } from './finding.js';

/** The resources of the machine; injected so that tests can use others. */
export interface Machine {
  /** `v26.1.0` */
  readonly nodeVersion: string;
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  /** Bytes that this process may use, by the limit of its container or the memory of the machine. */
  readonly memoryBytes: number;
  readonly cores: number;
  /** The most files and sockets that a process may open; undefined where the system does not report it. */
  readonly openFiles: number | undefined;
}

/** What the options require of the machine. */
export interface MachineNeeds {
  readonly watchCacheMaxBytes: number;
  readonly workers: number;
  /** Where files are written while the server runs, by the flag that names the folder. */
  readonly folders: readonly { readonly flag: string; readonly path: string }[];
  /** The address and port to listen on. */
  readonly port: { readonly address: string; readonly port: number };
}

const oldestNode = 24;
const leastFiles = 4096;
const plentyOfFiles = 65_536;
/** The memory that a process needs besides its watch cache, in bytes. */
const baseBytes = 512 * 2 ** 20;
const leastDiskBytes = 2 ** 30;
const tested: readonly NodeJS.Platform[] = ['linux', 'darwin'];

export async function thisMachine(): Promise<Machine> {
  return {
    nodeVersion: process.version,
    platform: process.platform,
    arch: process.arch,
    memoryBytes: memoryLimits().machine,
    cores: availableParallelism(),
    openFiles: await openFiles(),
  };
}

async function openFiles(): Promise<number | undefined> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const [, soft] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  return soft === undefined ? undefined : soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Checks Node, memory, limits, disk and port. */
export async function machineFindings(machine: Machine, needs: MachineNeeds): Promise<Finding[]> {
  return [
    nodeFinding(machine),
    platformFinding(machine),
    memoryFinding(machine, needs),
    filesFinding(machine),
    ...(await Promise.all(needs.folders.map(diskFinding))),
    await portFinding(needs.port),
  ];
}

function nodeFinding({ nodeVersion }: Machine): Finding {
  const major = Number(/^v?(\d+)/.exec(nodeVersion)?.[1] ?? 0);
  if (major < oldestNode) return error('node', `Node ${nodeVersion} is too old`, `install Node ${oldestNode} or newer`);
  if (major % 2 === 1) {
    return warning('node', `Node ${nodeVersion} is of a line without long-term support`, 'use an even release');
  }
  return ok('node', nodeVersion);
}

function platformFinding({ platform, arch, cores }: Machine): Finding {
  const text = `${platform} on ${arch}, ${cores} ${cores === 1 ? 'core' : 'cores'}`;
  if (tested.includes(platform)) return ok('platform', text);
  return warning('platform', `${text} is not tested`, 'serve from Linux, or in a container');
}

function memoryFinding({ memoryBytes }: Machine, { watchCacheMaxBytes, workers }: MachineNeeds): Finding {
  const wanted = baseBytes + watchCacheMaxBytes * Math.max(1, workers);
  const has = `${bytesText(memoryBytes)} of memory`;
  if (memoryBytes < baseBytes) {
    return error('memory', `${has} is too little for one process`, `give it ${bytesText(baseBytes)} or more`);
  }
  if (memoryBytes < wanted) {
    return warning(
      'memory',
      `${has}, and full watch caches take up to ${bytesText(wanted)}`,
      'lower --watch-cache-max-bytes, or give it more memory',
    );
  }
  return ok('memory', has);
}

function filesFinding({ openFiles: files }: Machine): Finding {
  if (files === undefined) return skipped('open files', 'the system does not report the limit');
  const text = `at most ${files} open files and connections (ulimit -n)`;
  const remedy = `raise it to ${plentyOfFiles}: ulimit -n, or LimitNOFILE= of the unit`;
  return files < leastFiles ? warning('open files', text, remedy) : ok('open files', text);
}

async function diskFinding({ flag, path }: MachineNeeds['folders'][number]): Promise<Finding> {
  const check = `disk of --${flag}`;
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    try {
      const { bavail, bsize } = await statfs(folder);
      const text = `${bytesText(bavail * bsize)} free in ${folder}`;
      return bavail * bsize < leastDiskBytes
        ? warning(check, text, 'make room, or name another folder')
        : ok(check, text);
    } catch (fault) {
      // The folder is made when it is needed.
      if (folder === dirname(folder)) return error(check, errorText(fault), `name another folder by --${flag}`);
    }
  }
}

async function portFinding({ address, port }: MachineNeeds['port']): Promise<Finding> {
  try {
    await checkPortFree(address, port);
    return ok('port', `${address}:${port} is free`);
  } catch (fault) {
    const [text = '', remedy = 'choose another --secure-port'] = errorText(fault).split(/: (?=[^:]*$)/);
    return warning('port', text, `${remedy} (nothing is wrong if that is your server)`);
  }
}
