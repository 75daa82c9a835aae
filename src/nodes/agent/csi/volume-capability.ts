import type { CsiDriverClient } from './csi-driver-client.js';
import type { VolumeCapability } from './csi-messages.js';
import type { CsiVolume } from './csi-volume.js';

/**
 * The access mode and type that a driver gets for a volume. A driver that can set the group of a volume gets the pod's
 * group.
 */
export async function volumeCapability(volume: CsiVolume, client: CsiDriverClient): Promise<VolumeCapability> {
  const accessMode = { mode: await client.accessMode(volume.accessModes[0] ?? 'ReadWriteOnce') };
  if (volume.isBlock) return { accessMode, block: {} };
  const { fsGroup } = volume.pod.spec.securityContext ?? {};
  const hasGroup = fsGroup !== undefined && fsGroup !== null && (await client.can('volumeMountGroup'));
  const group = hasGroup ? { volumeMountGroup: String(fsGroup) } : {};
  return { accessMode, mount: { fsType: volume.fsType, mountFlags: [...volume.mountOptions], ...group } };
}
