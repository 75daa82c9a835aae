import { promises as fs } from 'node:fs';
import { errorText } from '../../../base/machinery/startup-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { EventSink } from '../agent-events.js';
import type { HousekeepingOptions } from '../agent-options.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import type { LostNetworks } from '../network/lost-networks.js';
import { fileSystem } from '../node/machine.js';
import type { Pressure } from '../node/node-status.js';
import type { PodFolders } from '../pod-folders.js';
import type { PodManager } from '../pod-manager.js';
import { podKey, podUid } from '../pods/pod-form.js';
import type { RuntimeView } from '../pods/runtime-view.js';
import { machineUse, podMemory, podsUse } from '../server/resource-metrics.js';
import { DiskLimits } from './disk-limits.js';
import { DiskWatch } from './disk-watch.js';
import { evictionMessage, type Observations, podToEvict, type Shortage } from './eviction.js';
import { ImageCleanup } from './image-cleanup.js';
import { Pressures } from './pressures.js';
import { rotateRunningLogs } from './running-logs.js';
import { Shortages } from './shortages.js';

export interface HousekeeperDependencies {
  readonly runtime: ContainerRuntime;
  readonly manager: PodManager;
  readonly view: RuntimeView;
  readonly events: EventSink;
  readonly nodeName: string;
  readonly rootFolder: string;
  readonly logFolder: string;
  readonly settings: HousekeepingOptions;
  readonly folders: PodFolders;
  readonly networks: Pick<LostNetworks, 'look'>;
  readonly memoryBytes: number;
  readonly onPressures: (pressures: ReadonlySet<Pressure>) => void;
  readonly timers: Timers;
  readonly logger: Logger;
}

const logsMs = 10_000;
const imagesMs = 300_000;
const networksMs = 60_000;
const evictionMs = 10_000;
/** Grace period of pods that end for a hard threshold, in seconds. */
const immediateGraceSeconds = 1;

/** Rotates logs, removes unused images and lost networks, and evicts pods when the machine runs short of a resource. */
export class Housekeeper {
  private readonly images: ImageCleanup;
  private readonly pressures: Pressures;
  private readonly shortages: Shortages;
  private readonly limits: DiskLimits;
  private readonly disk: DiskWatch;

  constructor(private readonly dependencies: HousekeeperDependencies) {
    const { settings } = dependencies;
    this.images = new ImageCleanup(dependencies.runtime, {
      highPercent: settings.imageHighPercent,
      lowPercent: settings.imageLowPercent,
      youngestMs: settings.imageYoungestMs,
    });
    this.pressures = new Pressures(settings.transitionMs);
    this.shortages = new Shortages(settings.thresholds);
    this.limits = new DiskLimits(dependencies.folders, dependencies.logFolder);
    const { timers, logger } = dependencies;
    this.disk = new DiskWatch({
      ...{ timers, logger },
      pods: () => this.limited(),
      check: (uid) => this.checkDisk(uid),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.repeat('logs could not be rotated', logsMs, signal, () => this.rotateLogs()),
      this.repeat('images could not be cleaned up', imagesMs, signal, () => this.cleanImages(false)),
      this.repeat('the use of the machine could not be read', evictionMs, signal, () => this.relieve()),
      this.repeat('lost networks could not be removed', networksMs, signal, () => this.dependencies.networks.look()),
      this.disk.run(signal),
    ]);
  }

  private async repeat(
    failure: string,
    everyMs: number,
    signal: AbortSignal,
    work: () => Promise<void>,
  ): Promise<void> {
    const { timers, logger } = this.dependencies;
    while (!signal.aborted) {
      await timers.wait(everyMs, signal);
      if (signal.aborted) return;
      try {
        await work();
      } catch (error) {
        if (!signal.aborted) logger.debug(failure, { error: errorText(error) });
      }
    }
  }

  private async rotateLogs(): Promise<void> {
    const { runtime, view, logFolder, settings, timers } = this.dependencies;
    await rotateRunningLogs({
      ...{ runtime, view, logFolder },
      maxBytes: settings.logMaxBytes,
      maxFiles: settings.logMaxFiles,
      now: timers.now(),
    });
  }

  private async imageDisk() {
    const [folder = this.dependencies.rootFolder] = await this.dependencies.runtime.imageFolders();
    return fileSystem(folder);
  }

  private async cleanImages(mustFree: boolean): Promise<void> {
    const { timers, events, nodeName } = this.dependencies;
    const result = await this.images.look(await this.imageDisk(), timers.now(), mustFree);
    if (result === undefined || result.freed >= result.wanted) return;
    const target = { kind: 'Node', namespace: '', name: nodeName, uid: nodeName };
    const message = `Failed to garbage collect required amount of images. Attempted to free ${result.wanted} bytes, but only found ${result.freed} bytes eligible to free.`;
    events.record(target, 'Warning', 'FreeDiskSpaceFailed', message);
  }

  private async observe(): Promise<Observations> {
    const { rootFolder, memoryBytes } = this.dependencies;
    const [{ availableBytes }, node, images] = await Promise.all([
      machineUse(),
      fileSystem(rootFolder),
      this.imageDisk(),
    ]);
    const mostProcesses = Number(await fs.readFile('/proc/sys/kernel/pid_max', 'utf8'));
    const processes = Number((await fs.readFile('/proc/loadavg', 'utf8')).split(' ')[3]?.split('/')[1]);
    return {
      'memory.available': { capacity: memoryBytes, available: availableBytes },
      'nodefs.available': node,
      'nodefs.inodesFree': { capacity: node.inodes, available: node.inodesFree },
      'imagefs.available': images,
      'imagefs.inodesFree': { capacity: images.inodes, available: images.inodesFree },
      'pid.available': { capacity: mostProcesses, available: mostProcesses - processes },
    };
  }

  /** First frees what no pod needs; if that is not enough, evicts one pod. */
  private async relieve(): Promise<void> {
    const { timers, onPressures } = this.dependencies;
    let found = this.shortages.look(await this.observe(), timers.now());
    onPressures(this.pressures.take(found, timers.now()));
    if (this.shortages.due(found, timers.now()).some(({ pressure }) => pressure === 'DiskPressure')) {
      await this.cleanImages(true);
      found = this.shortages.look(await this.observe(), timers.now());
    }
    const [first] = this.shortages.due(found, timers.now());
    if (first !== undefined) await this.evict(first);
  }

  /** Pods with disk limits that may still be evicted. */
  private limited(): string[] {
    return [...this.dependencies.manager.workersOf()]
      .filter(({ isEnding, declaration }) => !isEnding && this.limits.concern(declaration))
      .map(({ declaration }) => podUid(declaration));
  }

  /** A pod that exceeds a disk limit ends at once. */
  private async checkDisk(uid: string): Promise<void> {
    const { manager, runtime } = this.dependencies;
    const worker = manager.worker(uid);
    if (worker === undefined) return;
    const use = (await podsUse(runtime)).find((each) => each.uid === uid);
    const message = await this.limits.problem(worker.declaration, use);
    if (message !== undefined) this.end(worker.declaration, message, immediateGraceSeconds);
  }

  private async evict(shortage: Shortage): Promise<void> {
    const { manager, runtime, settings } = this.dependencies;
    const uses = new Map((await podsUse(runtime)).map((use) => [use.uid, use]));
    const workers = [...manager.workersOf()].filter((worker) => !worker.isEnding);
    // A pod that is ending already may free enough.
    if ([...manager.workersOf()].some((worker) => worker.isEnding && !worker.isOver)) return;
    const usageOf = (pod: Pod) => {
      const use = uses.get(podUid(pod));
      if (shortage.resource === 'memory') return (use && podMemory(use)) ?? 0;
      return (use?.containers ?? []).reduce(
        (sum, { writableLayer }) => sum + (writableLayer?.usedBytes?.value ?? 0),
        0,
      );
    };
    const isStatic = (pod: Pod) => manager.worker(podUid(pod))?.isStatic === true;
    const pod = podToEvict(
      workers.map(({ declaration }) => declaration),
      shortage.resource,
      usageOf,
      isStatic,
    );
    if (pod === undefined) return;
    const own = Number(pod.spec.terminationGracePeriodSeconds ?? 30);
    const grace =
      shortage.rule.graceMs === undefined ? immediateGraceSeconds : Math.min(own, settings.mostGraceSeconds);
    this.end(pod, evictionMessage(shortage), grace);
  }

  private end(pod: Pod, message: string, graceSeconds: number): void {
    const { manager, logger, events } = this.dependencies;
    logger.warn('a pod was evicted', { pod: podKey(pod), message });
    const { namespace = '', name = '', uid = '' } = pod.metadata;
    events.record({ kind: 'Pod', namespace, name, uid }, 'Warning', 'Evicted', message);
    manager.worker(uid)?.fail({ reason: 'Evicted', message, isDisruption: true }, graceSeconds);
  }
}
