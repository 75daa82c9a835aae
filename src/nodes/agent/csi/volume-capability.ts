import type { CsiDriverClient } from './csi-driver-client.js';
import type { VolumeCapability } from './csi-messages.js';
import type { CsiVolume } from './csi-volume.js';

/** How a driver should give a volume. A driver that knows groups of volumes gets that of the pod. */
export async function volumeCapability(volume: CsiVolume, client: CsiDriverClient): Promise<VolumeCapability> {
  const accessMode = { mode: await client.accessMode(volume.accessModes[0] ?? 'ReadWriteOnce') };
  if (volume.isBlock) return { accessMode, block: {} };
  const { fsGroup } = volume.pod.spec.securityContext ?? {};
  const hasGroup = fsGroup !== undefined && fsGroup !== null && (await client.can('volumeMountGroup'));
  const group = hasGroup ? { volumeMountGroup: String(fsGroup) } : {};
  return { accessMode, mount: { fsType: volume.fsType, mountFlags: [...volume.mountOptions], ...group } };
}
