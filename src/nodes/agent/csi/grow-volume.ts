import { quantityValue } from '../../../base/machinery/values/quantity.js';
import type { CsiDriverClient } from './csi-driver-client.js';
import type { CsiVolume } from './csi-volume.js';
import type { CsiVolumesDependencies } from './csi-volumes-dependencies.js';
import { volumeCapability } from './volume-capability.js';
import { volumeEvent } from './volume-event.js';

/**
 * Expands the file system of a volume to the volume's size. A failed expansion is tried again later; the pod keeps
 * running.
 */
export async function growVolume(
  { objects, folders, events, nodeName }: Pick<CsiVolumesDependencies, 'objects' | 'folders' | 'events' | 'nodeName'>,
  volume: CsiVolume,
  client: CsiDriverClient,
  path: string,
): Promise<void> {
  if (volume.growTo === undefined) return;
  try {
    if (!(await client.can('expandVolume'))) return;
    const isStaged = await client.can('stageVolume');
    const staging = volume.isBlock ? folders.blockStaging(volume.specName) : folders.staging(volume.source);
    await client.expand({
      volumeId: volume.source.handle,
      volumePath: path,
      ...(isStaged ? { stagingTargetPath: staging } : {}),
      capacityRange: { requiredBytes: quantityValue(volume.growTo) },
      volumeCapability: await volumeCapability(volume, client),
      secrets: await objects.secretOf(volume.expandSecret),
    });
    await objects.hasGrown(volume, volume.growTo);
    const text = `MountVolume.NodeExpandVolume succeeded for volume "${volume.specName}" ${nodeName}`;
    volumeEvent(events, volume, 'Normal', 'FileSystemResizeSuccessful', text);
  } catch (error) {
    const text = `NodeExpandVolume.NodeExpandVolume failed for volume "${volume.specName}" : ${(error as Error).message}`;
    volumeEvent(events, volume, 'Warning', 'VolumeResizeFailed', text);
  }
}
