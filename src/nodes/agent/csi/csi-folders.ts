import { createHash } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CsiSource } from '../../../objects/apis/storage/csi-names.js';
import { folderName, type PodFolders } from '../pod-folders.js';
import { volumeKey } from './csi-volume.js';

const plugin = 'kubernetes.io~csi';
const dataFile = 'vol_data.json';

/** The file about a volume that is stored beside it, with the field names that other agents use. */
export interface VolumeData {
  readonly volumeHandle: string;
  readonly driverName: string;
  /** Name of the PersistentVolume, or of a volume that only the pod names. */
  readonly specVolID?: string;
  readonly nodeName?: string;
  readonly attachmentID?: string;
  readonly volumeLifecycleMode?: string;
}

/** A volume, or a part of one, on this machine. */
export interface KeptVolume {
  /** The path at which the driver was asked to publish it. */
  readonly path: string;
  readonly data: VolumeData;
  readonly isBlock: boolean;
}

/** The fields that distinguish stored volumes. */
export function keptKey({ data: { driverName, volumeHandle } }: KeptVolume): string {
  return volumeKey({ driver: driverName, handle: volumeHandle });
}

/** Paths of CSI volumes on the machine, and the files about these volumes. */
export class CsiFolders {
  constructor(
    private readonly root: string,
    private readonly pods: PodFolders,
  ) {}

  /** Folder of the registration sockets of plugins. */
  get registry(): string {
    return join(this.root, 'plugins_registry');
  }

  private get base(): string {
    return join(this.root, 'plugins', 'kubernetes.io', 'csi');
  }

  private get devices(): string {
    return join(this.base, 'volumeDevices');
  }

  /** The path at which a driver stages a volume for all pods of the node. */
  staging({ driver, handle }: CsiSource): string {
    return join(this.base, folderName(driver), createHash('sha256').update(handle).digest('hex'), 'globalmount');
  }

  /** The path at which a driver publishes a volume to a pod. */
  target(uid: string, specName: string): string {
    return join(this.pods.volume(uid, plugin, specName), 'mount');
  }

  blockStaging(specName: string): string {
    return join(this.devices, 'staging', folderName(specName));
  }

  blockTarget(specName: string, uid: string): string {
    return join(this.devices, 'publish', folderName(specName), folderName(uid));
  }

  /** The link to the block device of a pod. */
  blockLink(uid: string, specName: string): string {
    return join(this.pods.pod(uid), 'volumeDevices', plugin, folderName(specName));
  }

  blockData(specName: string): string {
    return join(this.devices, folderName(specName), 'data');
  }

  /** The volumes that are published to a pod, or whose publishing was attempted. */
  async ofPod(uid: string): Promise<KeptVolume[]> {
    const found: KeptVolume[] = [];
    const folder = dirname(this.pods.volume(uid, plugin, 'any'));
    for (const name of await namesIn(folder)) {
      const data = await readData(join(folder, name));
      if (data !== undefined) found.push({ path: join(folder, name, 'mount'), data, isBlock: false });
    }
    for (const name of await namesIn(dirname(this.blockLink(uid, 'any')))) {
      const data = await readData(this.blockData(name));
      if (data !== undefined) found.push({ path: this.blockTarget(name, uid), data, isBlock: true });
    }
    return found;
  }

  /** The volumes that are published to any pod. */
  async ofPods(): Promise<KeptVolume[]> {
    const all: KeptVolume[] = [];
    for (const uid of await this.pods.uids()) all.push(...(await this.ofPod(uid)));
    return all;
  }

  /** The volumes that may be staged. A block volume has an entry even if its driver stages nothing. */
  async staged(): Promise<KeptVolume[]> {
    const found: KeptVolume[] = [];
    for (const driver of await namesIn(this.base)) {
      if (driver === 'volumeDevices') continue;
      for (const name of await namesIn(join(this.base, driver))) {
        const folder = join(this.base, driver, name);
        const data = await readData(folder);
        if (data !== undefined) found.push({ path: join(folder, 'globalmount'), data, isBlock: false });
      }
    }
    for (const name of await namesIn(this.devices)) {
      const data = await readData(this.blockData(name));
      if (data !== undefined) found.push({ path: this.blockStaging(name), data, isBlock: true });
    }
    return found;
  }
}

/** Folders whose names the agent made; others are not touched. */
async function namesIn(folder: string): Promise<string[]> {
  return fs.readdir(folder).catch(() => []);
}

/** Writes the file about a volume atomically. */
export async function writeData(folder: string, data: VolumeData): Promise<void> {
  await fs.mkdir(folder, { recursive: true, mode: 0o750 });
  const path = join(folder, dataFile);
  await fs.writeFile(`${path}.new`, `${JSON.stringify(data)}\n`, { mode: 0o600 });
  await fs.rename(`${path}.new`, path);
}

/** Undefined if there is no file, or none that is usable. */
async function readData(folder: string): Promise<VolumeData | undefined> {
  const text = await fs.readFile(join(folder, dataFile), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const data = JSON.parse(text) as Partial<VolumeData>;
    const { volumeHandle, driverName } = data;
    return volumeHandle && driverName ? { ...data, volumeHandle, driverName } : undefined;
  } catch {
    return undefined;
  }
}

/** Removes the folder of a volume and the file about it. Anything else in the folder stays and makes this fail. */
export async function removeData(folder: string): Promise<void> {
  await fs.rm(join(folder, dataFile), { force: true });
  await removeEmpty(folder);
}

/** Removes a folder or a file that is not a mount point. Never removes the content of a folder. */
export async function removeEmpty(path: string): Promise<void> {
  try {
    const found = await fs.lstat(path);
    if (found.isDirectory()) await fs.rmdir(path);
    else await fs.unlink(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
