import type { ContainerRuntime } from '../cri/container-runtime.js';
import type { FileSystem } from '../node/machine.js';

export interface ImageCleanupSettings {
  readonly highPercent: number;
  readonly lowPercent: number;
  readonly youngestMs: number;
}

/** Removes images that no container uses when the disk is too full; the one unused for the longest goes first. */
export class ImageCleanup {
  private readonly seen = new Map<string, { firstSeen: number; lastUsed: number }>();

  constructor(
    private readonly runtime: ContainerRuntime,
    private readonly settings: ImageCleanupSettings,
  ) {}

  /**
   * Records which images are in use, and removes some if the disk is too full.
   *
   * @param disk the file system of the images
   * @returns the bytes that had to be freed and those that were; undefined when the disk is not too full
   */
  async look(disk: FileSystem, now: number, mustFree = false): Promise<{ wanted: number; freed: number } | undefined> {
    const [images, containers] = await Promise.all([this.runtime.listImages(), this.runtime.listContainers()]);
    const used = new Set(containers.flatMap(({ imageRef, image }) => [imageRef, image?.image ?? '']));
    for (const { id } of images) {
      const known = this.seen.get(id) ?? { firstSeen: now, lastUsed: 0 };
      if (used.has(id)) known.lastUsed = now;
      this.seen.set(id, known);
    }
    const present = new Set(images.map(({ id }) => id));
    for (const id of this.seen.keys()) if (!present.has(id)) this.seen.delete(id);
    const { highPercent, lowPercent, youngestMs } = this.settings;
    const usedPercent = 100 - Math.floor((disk.available * 100) / disk.capacity);
    if (!mustFree && (highPercent >= 100 || usedPercent < highPercent)) return undefined;
    const wanted = Math.floor((disk.capacity * (100 - lowPercent)) / 100) - disk.available;
    let freed = 0;
    const removable = images
      .filter(
        ({ id, pinned, repoTags, repoDigests }) =>
          !pinned && ![id, ...repoTags, ...repoDigests].some((name) => used.has(name)),
      )
      .sort((a, b) => (this.seen.get(a.id)?.lastUsed ?? 0) - (this.seen.get(b.id)?.lastUsed ?? 0));
    for (const { id, size } of removable) {
      if (freed >= wanted && !mustFree) break;
      if (now - (this.seen.get(id)?.firstSeen ?? now) < youngestMs) continue;
      await this.runtime.removeImage(id);
      freed += size;
    }
    return { wanted, freed };
  }
}
