import { join } from 'node:path';
import { quantityValue } from '../../../base/machinery/values/quantity.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { PodFolders } from '../pod-folders.js';
import { podUid } from '../pods/pod-form.js';
import { containerNameOf, type PodUse } from '../server/resource-metrics.js';
import { DiskUse } from './disk-use.js';

const storage = 'ephemeral-storage';
const emptyDirPlugin = 'kubernetes.io~empty-dir';

/** The disk limits of a pod: sizes of its empty directories, and limits of its containers. */
export class DiskLimits {
  constructor(
    private readonly folders: PodFolders,
    private readonly logFolder: string,
    private readonly diskUse = new DiskUse(),
  ) {}

  /** Whether the pod has any limit. */
  concern(pod: Pod): boolean {
    return limitedVolumes(pod).length > 0 || containersOf(pod).some((container) => limitOf(container) !== undefined);
  }

  /**
   * The limit that the pod exceeds, for its status; undefined if it exceeds none. A folder whose size is not known yet
   * counts at a later call.
   */
  async problem(pod: Pod, use: PodUse | undefined): Promise<string | undefined> {
    const uid = podUid(pod);
    for (const { name, emptyDir } of limitedVolumes(pod)) {
      const limit = emptyDir?.sizeLimit ?? '';
      const used = await this.bytesOf(this.folders.volume(uid, emptyDirPlugin, name));
      if (used > quantityValue(limit)) return `Usage of EmptyDir volume "${name}" exceeds the limit "${limit}". `;
    }
    const containers = containersOf(pod);
    const limits = containers.map(limitOf);
    if (limits.every((limit) => limit === undefined)) return undefined;
    let total = 0;
    const { namespace = '', name: podName = '' } = pod.metadata;
    const logs = join(this.logFolder, `${namespace}_${podName}_${uid}`);
    for (const [index, { name }] of containers.entries()) {
      const stats = use?.containers.find((each) => containerNameOf(each) === name);
      const used = (stats?.writableLayer?.usedBytes?.value ?? 0) + (await this.bytesOf(join(logs, name)));
      total += used;
      const limit = limits[index];
      if (limit !== undefined && used > quantityValue(limit)) {
        return `Container ${name} exceeded its local ephemeral storage limit "${limit}". `;
      }
    }
    if (limits.includes(undefined)) return undefined;
    const together = limits.reduce<number>((sum, limit) => sum + quantityValue(limit ?? '0'), 0);
    for (const { name, emptyDir } of pod.spec.volumes ?? []) {
      if (emptyDir && !emptyDir.medium) total += await this.bytesOf(this.folders.volume(uid, emptyDirPlugin, name));
    }
    if (total <= together) return undefined;
    return `Pod ephemeral local storage usage exceeds the total limit of containers ${together}. `;
  }

  private async bytesOf(folder: string): Promise<number> {
    return (await this.diskUse.of(folder)) ?? 0;
  }
}

function limitedVolumes({ spec }: Pod) {
  // The kernel enforces the limits of volumes in memory.
  return (spec.volumes ?? []).filter(({ emptyDir }) => emptyDir?.sizeLimit && !emptyDir.medium);
}

function containersOf({ spec }: Pod): readonly Container[] {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...(spec.containers ?? []), ...sidecars];
}

function limitOf({ resources }: Container): string | undefined {
  return resources?.limits?.[storage] ?? undefined;
}
