import { formatTime } from '../../../base/machinery/clock.js';
import type { Timers } from '../../../base/machinery/timers.js';
import { podUid } from '../pods/pod-form.js';
import type { CsiDrivers } from './csi-drivers.js';
import { usageUnits, type VolumeStats } from './csi-messages.js';
import type { CsiVolumes, PublishedVolume } from './csi-volumes.js';

/** The usage of a volume, as `/stats/summary` shows it. */
export interface VolumeUse {
  readonly time: string;
  readonly name: string;
  readonly pvcRef?: { readonly name: string; readonly namespace: string };
  readonly [amount: string]: unknown;
}

interface Kept {
  readonly at: number;
  readonly use: Promise<VolumeUse | undefined>;
}

/** The interval between two requests for the usage of one volume. */
const keptMs = 60_000;
/** The longest time that a reader waits for a driver. */
const patienceMs = 2000;

/** The usage of volumes whose drivers can report it. */
export class VolumeStatistics {
  private readonly kept = new Map<string, Kept>();

  constructor(
    private readonly dependencies: {
      readonly volumes: CsiVolumes;
      readonly drivers: CsiDrivers;
      readonly timers: Timers;
    },
  ) {}

  /** The volumes of a pod whose usage is known. */
  async of(uid: string): Promise<VolumeUse[]> {
    const uses = await Promise.all(this.dependencies.volumes.of(uid).map((each) => this.useOf(each)));
    return uses.filter((use): use is VolumeUse => use !== undefined);
  }

  forget(uid: string): void {
    for (const key of this.kept.keys()) if (key.startsWith(`${uid} `)) this.kept.delete(key);
  }

  private useOf(published: PublishedVolume): Promise<VolumeUse | undefined> {
    const { timers } = this.dependencies;
    const { volume } = published;
    const key = `${podUid(volume.pod)} ${volume.name}`;
    const now = timers.elapsed();
    let known = this.kept.get(key);
    if (known === undefined || now >= known.at + keptMs) {
      known = { at: now, use: this.ask(published).catch(() => undefined) };
      this.kept.set(key, known);
    }
    const tired = timers.wait(patienceMs, new AbortController().signal).then(() => undefined);
    return Promise.race([known.use, tired]);
  }

  private async ask({ volume, path }: PublishedVolume): Promise<VolumeUse | undefined> {
    const { drivers, timers } = this.dependencies;
    const client = drivers.find(volume.source.driver);
    if (client === undefined || !(await client.can('volumeStats'))) return undefined;
    const stats = await client.stats(volume.source.handle, path);
    const { claimName, pod } = volume;
    const namespace = pod.metadata.namespace ?? '';
    return {
      time: formatTime(timers.now()),
      ...amountsOf(stats),
      name: volume.name,
      ...(claimName === undefined ? {} : { pvcRef: { name: claimName, namespace } }),
    };
  }
}

/** Amounts from a driver under the names of the summary. */
export function amountsOf({ usage }: VolumeStats): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { available, total, used, unit } of usage) {
    if (unit === usageUnits.bytes)
      Object.assign(found, { availableBytes: available, capacityBytes: total, usedBytes: used });
    else if (unit === usageUnits.inodes)
      Object.assign(found, { inodesFree: available, inodes: total, inodesUsed: used });
  }
  return found;
}
