import { promises as fs } from 'node:fs';
import { dirname } from 'node:path';
import { isMounted, unmount } from '../volumes/mounts.js';
import type { CsiDriverClient } from './csi-driver-client.js';
import { type KeptVolume, keptKey, removeData, removeEmpty, writeData } from './csi-folders.js';
import type { CsiVolume } from './csi-volume.js';
import type { CsiVolumesDependencies } from './csi-volumes-dependencies.js';
import type { Turns } from './turns.js';
import { volumeCapability } from './volume-capability.js';

/** Volumes that drivers have staged for all pods of the node. */
export class StagedVolumes {
  /** Whether volumes may be staged that no pod uses. At first this is unknown, because of earlier agents. */
  mayBeUnused = true;

  /** @param isWanted whether a pod has the volume with this key, or is about to get it */
  constructor(
    private readonly dependencies: Pick<CsiVolumesDependencies, 'folders' | 'objects' | 'drivers' | 'logger'>,
    private readonly turns: Turns,
    private readonly isWanted: (key: string) => boolean,
  ) {}

  /** Stages a volume. Returns the staging path; empty if the driver does not stage volumes. */
  async stage(
    volume: CsiVolume,
    client: CsiDriverClient,
    publishContext: Readonly<Record<string, string>>,
    attachmentID: string,
  ): Promise<string> {
    const { folders, objects } = this.dependencies;
    if (volume.lifecycle !== 'Persistent' || !(await client.can('stageVolume'))) return '';
    const path = volume.isBlock ? folders.blockStaging(volume.specName) : folders.staging(volume.source);
    if (!volume.isBlock && (await isMounted(path))) return path;
    const secrets = await objects.secretOf(volume.stageSecret);
    await fs.mkdir(path, { recursive: true, mode: 0o750 });
    const { driver, handle } = volume.source;
    const data = { specVolID: volume.specName, volumeHandle: handle, driverName: driver, attachmentID };
    await writeData(volume.isBlock ? folders.blockData(volume.specName) : dirname(path), data);
    await client.stage({
      ...{ volumeId: handle, publishContext, stagingTargetPath: path, secrets, volumeContext: volume.attributes },
      volumeCapability: await volumeCapability(volume, client),
    });
    return path;
  }

  /** Unstages volumes that no pod has or wants. Those that can't be unstaged now are tried again later. */
  async removeUnused(): Promise<void> {
    const { folders, logger } = this.dependencies;
    this.mayBeUnused = false;
    for (const kept of await folders.staged()) {
      const key = keptKey(kept);
      try {
        await this.turns.take(key, () => this.unstage(key, kept));
      } catch (error) {
        this.mayBeUnused = true;
        logger.debug('a volume could not be unstaged yet', { ...kept.data, error });
      }
    }
  }

  private async unstage(key: string, { path, data, isBlock }: KeptVolume): Promise<void> {
    const { drivers, folders } = this.dependencies;
    if (this.isWanted(key)) return;
    const users = await folders.ofPods();
    if (users.some((each) => keptKey(each) === key)) return;
    const isThere = await fs.lstat(path).catch(() => undefined);
    if (isThere !== undefined) {
      await drivers.get(data.driverName).unstage(data.volumeHandle, path);
      if (await isMounted(path)) await unmount(path);
      await removeEmpty(path);
    }
    if (!isBlock) return removeData(dirname(path));
    const name = data.specVolID ?? '';
    await removeData(folders.blockData(name));
    await removeEmpty(dirname(folders.blockData(name)));
    await removeEmpty(dirname(folders.blockTarget(name, 'any')));
  }
}
