import { promises as fs } from 'node:fs';
import { arch, availableParallelism, networkInterfaces, release, totalmem } from 'node:os';

/** The properties of the machine that nodes report. */
export interface MachineInfo {
  readonly machineID: string;
  readonly systemUUID: string;
  readonly bootID: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly architecture: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly hugePages: Readonly<Record<string, number>>;
  readonly hasSwap: boolean;
  readonly isInUserNamespace: boolean;
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64', arm: 'arm', ia32: '386' };

export async function readMachine(): Promise<MachineInfo> {
  const read = async (path: string) => (await fs.readFile(path, 'utf8').catch(() => '')).trim();
  const machineID = await read('/etc/machine-id');
  const os = await read('/etc/os-release');
  const swaps = (await read('/proc/swaps')).split('\n').slice(1);
  return {
    machineID,
    systemUUID: (await read('/sys/class/dmi/id/product_uuid')) || machineID,
    bootID: await read('/proc/sys/kernel/random/boot_id'),
    kernelVersion: release(),
    osImage: /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(os)?.[1] ?? 'Linux',
    architecture: architectures[arch()] ?? arch(),
    cpus: availableParallelism(),
    memoryBytes: totalmem(),
    hugePages: await readHugePages(),
    hasSwap: swaps.some((line) => line.trim() !== '' && !line.includes('/dev/zram')),
    // Kernels without user namespaces have no such file; outside of them, all users are mapped to themselves.
    isInUserNamespace: !/^$|^0 0 4294967295$/.test((await read('/proc/self/uid_map')).replace(/\s+/g, ' ')),
  };
}

/** Reserved bytes, by the name of the resource. */
async function readHugePages(): Promise<Record<string, number>> {
  const folder = '/sys/kernel/mm/hugepages';
  const found: Record<string, number> = {};
  for (const name of await fs.readdir(folder).catch(() => [] as string[])) {
    const kilobytes = Number(/^hugepages-(\d+)kB$/.exec(name)?.[1]);
    if (!Number.isInteger(kilobytes)) continue;
    const count = Number(await fs.readFile(`${folder}/${name}/nr_hugepages`, 'utf8').catch(() => '0'));
    const size = kilobytes >= 2 ** 20 ? `${kilobytes / 2 ** 20}Gi` : `${kilobytes / 2 ** 10}Mi`;
    found[`hugepages-${size}`] = count * kilobytes * 1024;
  }
  return found;
}

/** The address of the interface of the default route; otherwise the first one that is not a loopback address. */
export async function ownAddresses(): Promise<string[]> {
  const routes = await fs.readFile('/proc/net/route', 'utf8').catch(() => '');
  const main = routes
    .split('\n')
    .map((line) => line.split('\t'))
    .find(([, destination]) => destination === '00000000')?.[0];
  const all = Object.entries(networkInterfaces());
  const ordered = [...all.filter(([name]) => name === main), ...all.filter(([name]) => name !== main)];
  for (const [, addresses] of ordered) {
    const found = addresses?.find(({ family, internal }) => family === 'IPv4' && !internal);
    if (found !== undefined) return [found.address];
  }
  return ['127.0.0.1'];
}

/** Size of the file system that contains a folder, in bytes. */
export async function fileSystem(folder: string): Promise<FileSystem> {
  const { bsize, blocks, bavail, files, ffree } = await fs.statfs(folder);
  return { capacity: bsize * blocks, available: bsize * bavail, inodes: files, inodesFree: ffree };
}

export interface FileSystem {
  readonly capacity: number;
  readonly available: number;
  readonly inodes: number;
  readonly inodesFree: number;
}
