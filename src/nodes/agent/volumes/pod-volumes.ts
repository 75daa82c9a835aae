import { promises as fs } from 'node:fs';
import { quantityValue } from '../../../base/machinery/values/quantity.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { Volume } from '../../../objects/apis/core/v1/volume.types.js';
import { podAmounts } from '../containers/resources.js';
import { type ClaimedVolume, type CsiVolume, inlineCsiVolume, persistentCsiVolume } from '../csi/csi-volume.js';
import type { PodFolders } from '../pod-folders.js';
import { podUid } from '../pods/pod-form.js';
import { type Payload, writeAtomically } from './atomic-writer.js';
import { prepareHostPath } from './host-path.js';
import { hasFileSystem, isMounted, mountMemory, mountNfs } from './mounts.js';
import { giveToGroup } from './volume-group.js';
import { VolumePending } from './volume-pending.js';
import { VolumeProblem } from './volume-problem.js';
import { downwardFiles, entriesOf, projectedFiles, type SourceInput } from './volume-sources.js';

/** The path of a pod's volume on the machine. */
export interface ReadyVolume {
  readonly path: string;
  /** Whether only the agent writes there. */
  readonly isReadOnly: boolean;
  /** Whether the volume is a block device. */
  readonly isDevice?: boolean;
}

/** The volume behind a claim. */
export type ResolvedClaim =
  | {
      /** The source in the form of a pod volume. */
      readonly volume: Volume;
      /** Whether it is a local volume, whose files get the group of the pod. */
      readonly isLocal: boolean;
      readonly csi?: undefined;
    }
  | { readonly csi: ClaimedVolume };

export type ClaimResolver = (pod: Pod, claimName: string, isOwn: boolean) => Promise<ResolvedClaim>;

export interface VolumeInput extends SourceInput {
  readonly folders: PodFolders;
  readonly resolveClaim: ClaimResolver;
  /** Publishes the CSI volume to the pod. */
  readonly publish: (volume: CsiVolume) => Promise<ReadyVolume>;
}

const emptyDirPlugin = 'kubernetes.io~empty-dir';

/**
 * Prepares the volumes of a pod, or brings them up to date. Volumes with content from the API are written again when
 * that content has changed.
 *
 * @throws VolumeProblem for the first volume that can't be prepared, VolumePending for the first that waits for other
 * components
 */
export async function preparePodVolumes(input: VolumeInput): Promise<ReadonlyMap<string, ReadyVolume>> {
  const ready = new Map<string, ReadyVolume>();
  for (const volume of input.pod.spec.volumes ?? []) {
    // Image volumes are mounted together with their containers.
    if (volume.image) continue;
    try {
      ready.set(volume.name, await prepare(input, volume));
    } catch (error) {
      if (error instanceof VolumePending) throw error;
      const text = error instanceof Error ? error.message : String(error);
      throw new VolumeProblem(`MountVolume.SetUp failed for volume "${volume.name}" : ${text}`);
    }
  }
  return ready;
}

async function prepare(input: VolumeInput, volume: Volume): Promise<ReadyVolume> {
  const { pod, folders } = input;
  const { name, emptyDir, hostPath, configMap, secret, downwardAPI, projected, nfs } = volume;
  const { persistentVolumeClaim, ephemeral, csi } = volume;
  const folderOf = (plugin: string) => folders.volume(podUid(pod), plugin, name);
  if (emptyDir) {
    const size = emptyDir.sizeLimit ? quantityValue(emptyDir.sizeLimit) : undefined;
    return prepareEmptyDir(pod, folderOf(emptyDirPlugin), emptyDir.medium ?? '', memorySize(input, size));
  }
  if (hostPath) {
    await prepareHostPath(hostPath.path, hostPath.type ?? '');
    return { path: hostPath.path, isReadOnly: false };
  }
  if (configMap) {
    const mode = configMap.defaultMode ?? undefined;
    const files = await entriesOf(input, 'configmap', configMap.name ?? '', configMap, mode);
    return project(pod, folderOf('kubernetes.io~configmap'), files, false);
  }
  if (secret) {
    const mode = secret.defaultMode ?? undefined;
    const files = await entriesOf(input, 'secret', secret.secretName ?? '', secret, mode);
    return project(pod, await inMemory(input, folderOf('kubernetes.io~secret')), files, true);
  }
  if (downwardAPI) {
    const files = downwardFiles(input, downwardAPI.items, downwardAPI.defaultMode ?? undefined);
    return project(pod, await inMemory(input, folderOf('kubernetes.io~downward-api')), files, true);
  }
  if (projected) {
    const files = new Map();
    for (const source of projected.sources ?? []) {
      const some = await projectedFiles(input, source, projected.defaultMode ?? undefined);
      for (const [path, file] of some) files.set(path, file);
    }
    return project(pod, await inMemory(input, folderOf('kubernetes.io~projected')), files, true);
  }
  if (persistentVolumeClaim) {
    const { claimName, readOnly } = persistentVolumeClaim;
    return prepareClaimed(input, name, await input.resolveClaim(pod, claimName, false), readOnly === true);
  }
  if (ephemeral) {
    const claimName = `${pod.metadata.name}-${name}`;
    return prepareClaimed(input, name, await input.resolveClaim(pod, claimName, true), false);
  }
  if (csi) return input.publish(inlineCsiVolume(pod, volume));
  if (nfs) {
    const folder = folderOf('kubernetes.io~nfs');
    await fs.mkdir(folder, { recursive: true });
    if (!(await isMounted(folder))) await mountNfs(nfs.server, nfs.path, folder, nfs.readOnly === true);
    return { path: folder, isReadOnly: nfs.readOnly === true };
  }
  const [type] = Object.keys(volume).filter((key) => key !== 'name');
  throw new VolumeProblem(`volumes of the type ${type} are not supported by this node agent`);
}

/** @param name the volume's name in the pod */
async function prepareClaimed(
  input: VolumeInput,
  name: string,
  resolved: ResolvedClaim,
  isReadOnly: boolean,
): Promise<ReadyVolume> {
  const { pod, folders } = input;
  if (resolved.csi) return input.publish(persistentCsiVolume(pod, name, resolved.csi, isReadOnly));
  const ready = await prepare(input, { ...resolved.volume, name });
  if (resolved.isLocal)
    await giveOnce(pod, ready.path, folders.volume(podUid(pod), 'kubernetes.io~local-volume', name));
  return { ...ready, isReadOnly: ready.isReadOnly || isReadOnly };
}

/**
 * Created once, so files that containers wrote stay. What is there was made as a whole, with its mode and its group: the
 * agent may be killed at any moment.
 */
async function prepareEmptyDir(
  pod: Pod,
  folder: string,
  medium: string,
  size: number | undefined,
): Promise<ReadyVolume> {
  if (medium !== '' && medium !== 'Memory') throw new VolumeProblem(`the medium ${medium} is not supported`);
  const group = groupOf(pod);
  const mode = folderMode(group, medium === 'Memory');
  if (medium === 'Memory') {
    await fs.mkdir(folder, { recursive: true });
    if (!(await hasFileSystem(folder))) await mountMemory(folder, { size, mode, group });
  } else if (!(await isThere(folder))) {
    // Names of volumes have no dots.
    const unfinished = `${folder}.new`;
    await fs.mkdir(unfinished, { recursive: true });
    if (group !== undefined) await fs.chown(unfinished, 0, group);
    // The umask of this process clears bits.
    await fs.chmod(unfinished, mode);
    await fs.rename(unfinished, folder);
  }
  return { path: folder, isReadOnly: false };
}

function isThere(path: string): Promise<boolean> {
  return fs.stat(path).then(
    () => true,
    () => false,
  );
}

/** The sticky bit: in file systems in memory, users may remove only their own files. */
function folderMode(group: number | undefined, isInMemory: boolean): number {
  return 0o777 | (group === undefined ? 0 : 0o2000) | (isInMemory ? 0o1000 : 0);
}

/** The size limit of a file system in memory: at most the pod's memory limit and the node's allocatable memory. */
function memorySize({ pod, allocatable }: VolumeInput, size: number | undefined): number | undefined {
  const { memoryLimit } = podAmounts(pod);
  const ofNode = allocatable.memory === undefined ? undefined : quantityValue(allocatable.memory);
  const limits = [size, memoryLimit, ofNode].filter((each): each is number => each !== undefined && each > 0);
  return limits.length === 0 ? undefined : Math.min(...limits);
}

/**
 * Changes that containers make to the files later stay. @param mark a folder whose existence records that the group was
 * set
 */
async function giveOnce(pod: Pod, path: string, mark: string): Promise<void> {
  const group = groupOf(pod);
  if (group === undefined || (await fs.stat(mark).catch(() => undefined))) return;
  await giveToGroup(path, group, pod.spec.securityContext?.fsGroupChangePolicy === 'OnRootMismatch');
  await fs.mkdir(mark, { recursive: true });
}

/** Files with secrets are kept in memory, never on a disk. */
async function inMemory(input: VolumeInput, folder: string): Promise<string> {
  await fs.mkdir(folder, { recursive: true });
  if (!(await hasFileSystem(folder))) {
    const group = groupOf(input.pod);
    await mountMemory(folder, { size: memorySize(input, undefined), mode: folderMode(group, true), group });
  }
  return folder;
}

async function project(pod: Pod, folder: string, files: Payload, isInMemory: boolean): Promise<ReadyVolume> {
  const group = groupOf(pod);
  await fs.mkdir(folder, { recursive: true });
  if (group !== undefined) await fs.chown(folder, 0, group);
  // The umask of this process clears bits.
  await fs.chmod(folder, folderMode(group, isInMemory));
  await writeAtomically(folder, files, group);
  return { path: folder, isReadOnly: true };
}

function groupOf({ spec }: Pod): number | undefined {
  const group = spec.securityContext?.fsGroup;
  return group === undefined || group === null ? undefined : Number(group);
}
