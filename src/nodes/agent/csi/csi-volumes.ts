import { promises as fs } from 'node:fs';
import { dirname } from 'node:path';
import { attachmentName } from '../../../objects/apis/storage/csi-names.js';
import type { CSIDriver } from '../../../objects/apis/storage/v1/csi-driver.types.js';
import { grpcCodes } from '../grpc/grpc-connection.js';
import { GrpcError } from '../grpc/grpc-error.js';
import { podUid } from '../pods/pod-form.js';
import { isMounted, unmount } from '../volumes/mounts.js';
import type { ReadyVolume } from '../volumes/pod-volumes.js';
import { giveToGroup } from '../volumes/volume-group.js';
import type { CsiDriverClient } from './csi-driver-client.js';
import { type KeptVolume, keptKey, removeData, removeEmpty, type VolumeData, writeData } from './csi-folders.js';
import { type CsiVolume, checkLifecycle, isGivenToGroup, volumeKey } from './csi-volume.js';
import type { CsiVolumesDependencies } from './csi-volumes-dependencies.js';
import { growVolume } from './grow-volume.js';
import { StagedVolumes } from './staged-volumes.js';
import { Turns } from './turns.js';
import { volumeCapability } from './volume-capability.js';
import { volumeEvent } from './volume-event.js';

/** A volume that is published to a pod now. */
export interface PublishedVolume {
  readonly volume: CsiVolume;
  readonly path: string;
  publishedAt: number;
}

/** Drivers that ask for republishing get it at this interval. */
const republishMs = 60_000;
const sweepMs = 30_000;
/** After these errors, nobody knows whether the driver has done anything. */
const unsureCodes: ReadonlySet<number> = new Set([
  ...[grpcCodes.canceled, grpcCodes.deadlineExceeded, grpcCodes.unavailable, grpcCodes.aborted],
]);

/**
 * The CSI volumes of the node. Each request to a driver is recorded beside the volume before it is sent, so a restarted
 * agent continues. Requests about one volume never run at the same time.
 */
export class CsiVolumes {
  private readonly published = new Map<string, PublishedVolume>();
  /** Volumes that pods have or wait for, which must not be unstaged. */
  private readonly wanted = new Map<string, Set<string>>();
  private readonly turns = new Turns();
  private readonly staged: StagedVolumes;

  constructor(private readonly dependencies: CsiVolumesDependencies) {
    const isWanted = (key: string) => [...this.wanted.values()].some((keys) => keys.has(key));
    this.staged = new StagedVolumes(dependencies, this.turns, isWanted);
  }

  /**
   * Publishes a volume to a pod, or does nothing if that was done already.
   *
   * @throws VolumeProblem or GrpcError for a volume that can't be published, VolumePending for one that is not attached
   * yet
   */
  async publish(volume: CsiVolume): Promise<ReadyVolume> {
    const uid = podUid(volume.pod);
    const key = volumeKey(volume.source);
    this.wanted.set(uid, (this.wanted.get(uid) ?? new Set()).add(key));
    const driver = await this.dependencies.objects.driver(volume.source.driver);
    const path = await this.turns.take(key, async () => {
      const known = await this.present(volume);
      return known === undefined ? this.begin(volume, driver) : this.renew(known, volume, driver);
    });
    return { path, isReadOnly: volume.isReadOnly, ...(volume.isBlock ? { isDevice: true } : {}) };
  }

  /** The volumes of a pod. */
  of(uid: string): PublishedVolume[] {
    return [...this.published.values()].filter(({ volume }) => podUid(volume.pod) === uid);
  }

  /** Unpublishes all volumes of a pod, and unstages those that no other pod uses. @throws if a driver fails */
  async release(uid: string): Promise<void> {
    for (const kept of await this.dependencies.folders.ofPod(uid)) {
      await this.turns.take(keptKey(kept), () => this.unpublish(uid, kept));
    }
    for (const [key, { volume }] of this.published) if (podUid(volume.pod) === uid) this.published.delete(key);
    if (!this.wanted.delete(uid) && !this.staged.mayBeUnused) return;
    await this.staged.removeUnused();
    await this.dependencies.inUse.release(uid);
  }

  /** Unstages volumes whose unstaging failed when their last pod went. */
  async run(signal: AbortSignal): Promise<void> {
    const { timers, inUse } = this.dependencies;
    while (!signal.aborted) {
      await timers.wait(sweepMs, signal);
      if (signal.aborted || !this.staged.mayBeUnused) continue;
      await this.staged.removeUnused();
      await inUse.refresh();
    }
  }

  /** The record of the pod's volume; an earlier agent may have published it. */
  private async present(volume: CsiVolume): Promise<PublishedVolume | undefined> {
    const { folders, timers } = this.dependencies;
    const uid = podUid(volume.pod);
    const key = `${uid} ${volume.specName}`;
    const known = this.published.get(key);
    if (known !== undefined) return known;
    const kept = (await folders.ofPod(uid)).find(({ data }) => data.specVolID === volume.specName);
    if (kept === undefined || !(await isMounted(kept.path))) return undefined;
    const adopted = { volume, path: kept.path, publishedAt: timers.now() };
    this.published.set(key, adopted);
    return adopted;
  }

  private async begin(volume: CsiVolume, driver: CSIDriver | undefined): Promise<string> {
    const { drivers, inUse, folders, timers } = this.dependencies;
    checkLifecycle(volume, driver);
    const isAttached = needsAttachment(volume, driver);
    if (isAttached) await inUse.claim(podUid(volume.pod), volume.source);
    const context = await this.contextOf(volume, driver);
    const client = drivers.get(volume.source.driver);
    const attachmentID = isAttached ? attachmentName(volume.source, this.dependencies.nodeName) : '';
    const staging = await this.staged.stage(volume, client, context, attachmentID);
    const uid = podUid(volume.pod);
    const path = volume.isBlock ? folders.blockTarget(volume.specName, uid) : folders.target(uid, volume.specName);
    const data: VolumeData = {
      ...{ specVolID: volume.specName, volumeHandle: volume.source.handle, driverName: volume.source.driver },
      ...{ nodeName: this.dependencies.nodeName, volumeLifecycleMode: volume.lifecycle, attachmentID },
    };
    await writeData(volume.isBlock ? folders.blockData(volume.specName) : dirname(path), data);
    if (volume.isBlock) await this.link(path, folders.blockLink(uid, volume.specName));
    try {
      await this.callPublish({ volume, client, driver, context, staging, path });
    } catch (error) {
      // Only a driver that has finally refused a volume has nothing to undo.
      if (error instanceof GrpcError && !unsureCodes.has(error.code)) await this.forgetTry(volume, path);
      throw error;
    }
    const { fsGroup, fsGroupChangePolicy } = volume.pod.spec.securityContext ?? {};
    const isForAgent = isGivenToGroup(volume, driver) && !(await client.can('volumeMountGroup'));
    if (fsGroup !== undefined && fsGroup !== null && isForAgent) {
      await giveToGroup(path, Number(fsGroup), fsGroupChangePolicy === 'OnRootMismatch');
    }
    const made = { volume, path, publishedAt: timers.now() };
    this.published.set(`${uid} ${volume.specName}`, made);
    await growVolume(this.dependencies, volume, client, path);
    return path;
  }

  /** The attachment's metadata from the driver's attacher. @throws VolumePending while the volume is not attached */
  private async contextOf(volume: CsiVolume, driver: CSIDriver | undefined): Promise<Readonly<Record<string, string>>> {
    const { objects, inUse } = this.dependencies;
    return needsAttachment(volume, driver) ? objects.attachment(volume.source, inUse.nameOf(volume.source)) : {};
  }

  private async forgetTry(volume: CsiVolume, path: string): Promise<void> {
    if (volume.isBlock || (await isMounted(path))) return;
    await removeEmpty(path);
    await removeData(dirname(path));
  }

  /** If this fails, the pod keeps its present volume. */
  private async renew(known: PublishedVolume, volume: CsiVolume, driver: CSIDriver | undefined): Promise<string> {
    const { drivers, folders, timers } = this.dependencies;
    const { path } = known;
    const client = drivers.find(volume.source.driver);
    if (client === undefined) return path;
    if (driver?.spec.requiresRepublish === true && timers.now() >= known.publishedAt + republishMs) {
      known.publishedAt = timers.now();
      try {
        const context = await this.contextOf(volume, driver);
        const isStaged = volume.lifecycle === 'Persistent' && (await client.can('stageVolume'));
        const staging = isStaged ? folders.staging(volume.source) : '';
        await this.callPublish({ volume, client, driver, context, staging, path });
      } catch (error) {
        const text = `MountVolume.SetUp failed for volume "${volume.name}" : ${(error as Error).message}`;
        volumeEvent(this.dependencies.events, volume, 'Warning', 'FailedMount', text);
      }
    }
    await growVolume(this.dependencies, volume, client, path);
    return path;
  }

  private async callPublish(request: {
    readonly volume: CsiVolume;
    readonly client: CsiDriverClient;
    readonly driver: CSIDriver | undefined;
    readonly context: Readonly<Record<string, string>>;
    readonly staging: string;
    readonly path: string;
  }): Promise<void> {
    const { volume, client, driver, context, staging, path } = request;
    const { volumeContext, secrets } = await this.dependencies.objects.publishWords(volume, driver);
    // The driver makes the target path itself.
    await fs.mkdir(dirname(path), { recursive: true, mode: 0o750 });
    await client.publish({
      volumeId: volume.source.handle,
      publishContext: context,
      ...(staging === '' ? {} : { stagingTargetPath: staging }),
      targetPath: path,
      volumeCapability: await volumeCapability(volume, client),
      readonly: volume.isReadOnly,
      secrets,
      volumeContext,
    });
  }

  private async link(target: string, link: string): Promise<void> {
    await fs.mkdir(dirname(link), { recursive: true, mode: 0o750 });
    await fs.rm(link, { force: true });
    await fs.symlink(target, link);
  }

  private async unpublish(uid: string, { path, data, isBlock }: KeptVolume): Promise<void> {
    const { drivers, folders } = this.dependencies;
    await drivers.get(data.driverName).unpublish(data.volumeHandle, path);
    if (await isMounted(path)) await unmount(path);
    await removeEmpty(path);
    if (isBlock) await removeEmpty(folders.blockLink(uid, data.specVolID ?? ''));
    else await removeData(dirname(path));
    this.staged.mayBeUnused = true;
  }
}

function needsAttachment({ lifecycle }: CsiVolume, driver: CSIDriver | undefined): boolean {
  return lifecycle === 'Persistent' && driver?.spec.attachRequired !== false;
}
