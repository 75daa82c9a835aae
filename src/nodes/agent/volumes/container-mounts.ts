import { promises as fs } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import type { Container, EphemeralContainer, VolumeMount } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { ContainerConfigError } from '../containers/container-config-error.js';
import { expand } from '../containers/expand.js';
import { type Device, type ImageSpec, type Mount, mountPropagations } from '../cri/container-messages.js';
import type { PodFolders } from '../pod-folders.js';
import { podUid } from '../pods/pod-form.js';
import { openInside } from './inside.js';
import { bindMount, isMounted } from './mounts.js';
import { PathEscape } from './path-escape.js';
import type { ReadyVolume } from './pod-volumes.js';

export interface MountInput {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  readonly volumes: ReadonlyMap<string, ReadyVolume>;
  /** Images that are volumes of the pod, as far as the container mounts them, by the names of the volumes. */
  readonly images: ReadonlyMap<string, ImageSpec>;
  readonly environment: ReadonlyMap<string, string>;
  readonly folders: PodFolders;
}

/** The mounts of a container's volumes. @throws ContainerConfigError */
export async function containerMounts(input: MountInput): Promise<Mount[]> {
  const mounts: Mount[] = [];
  for (const [index, mount] of (input.container.volumeMounts ?? []).entries()) {
    const containerPath = isAbsolute(mount.mountPath) ? mount.mountPath : `/${mount.mountPath}`;
    const image = input.images.get(mount.name);
    if (image !== undefined) {
      mounts.push({ containerPath, readonly: true, image, imageSubPath: mount.subPath ?? '' });
      continue;
    }
    const volume = input.volumes.get(mount.name);
    if (volume === undefined) throw new ContainerConfigError(`volume ${mount.name} is not ready`);
    const path = await pathOf(input, mount, index, volume);
    mounts.push({
      containerPath,
      hostPath: path,
      readonly: mount.readOnly === true || volume.isReadOnly,
      propagation: mountPropagations[mount.mountPropagation ?? 'None'] ?? 0,
    });
  }
  return mounts;
}

/** The devices of a container's block volumes. @throws ContainerConfigError */
export function containerDevices({ container, volumes }: Pick<MountInput, 'container' | 'volumes'>): Device[] {
  return (container.volumeDevices ?? []).map(({ name, devicePath }) => {
    const volume = volumes.get(name);
    if (volume?.isDevice !== true) throw new ContainerConfigError(`volume ${name} is not a device`);
    return { containerPath: devicePath, hostPath: volume.path, permissions: volume.isReadOnly ? 'r' : 'mrw' };
  });
}

async function pathOf(
  { pod, container, environment, folders }: MountInput,
  { name, subPath = '', subPathExpr = '' }: VolumeMount,
  index: number,
  volume: ReadyVolume,
): Promise<string> {
  const wanted = subPathExpr === '' ? subPath : expandStrictly(subPathExpr, environment);
  if (wanted === '') return volume.path;
  if (isAbsolute(wanted)) throw new ContainerConfigError(`error SubPath \`${wanted}\` must not be an absolute path`);
  if (wanted.split('/').includes('..'))
    throw new ContainerConfigError(`unable to provision SubPath \`${wanted}\`: must not contain '..'`);
  try {
    // A folder that is created in a volume gets the mode of the volume, and its group: the bit hands that down.
    const mode = (await fs.stat(volume.path)).mode & 0o2777;
    await using place = await openInside(volume.path, wanted, volume.isReadOnly ? undefined : { mode });
    const target = folders.subPath(podUid(pod), name, container.name, index);
    if (await isMounted(target)) return target;
    await fs.mkdir(dirname(target), { recursive: true, mode: 0o750 });
    if (place.isFolder) await fs.mkdir(target, { recursive: true });
    else await (await fs.open(target, 'a', 0o640)).close();
    await bindMount(place.path, target);
    return target;
  } catch (error) {
    const text = error instanceof PathEscape ? error.message : problemOf(error);
    const where = `volumeMount ${JSON.stringify(name)} of container ${JSON.stringify(container.name)}`;
    throw new ContainerConfigError(`failed to prepare subPath for ${where}: ${text}`);
  }
}

/** What the kernel says, without the path on the machine, which is no business of who reads the status. */
function problemOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined ? message : message.split(', ', 1).join();
}

/** All references must have a value, and the result must be a path inside the volume. */
function expandStrictly(text: string, environment: ReadonlyMap<string, string>): string {
  const missing: string[] = [];
  const path = expand(text, (name) => {
    const value = environment.get(name);
    if (value === undefined) missing.push(name);
    return value;
  });
  if (missing.length > 0) throw new ContainerConfigError(`missing value for ${missing.join(', ')}`);
  return path;
}
