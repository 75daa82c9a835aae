import { type FSWatcher, promises as fs } from 'node:fs';
import { join } from 'node:path';
import { pauseAfter } from '../../../base/machinery/backoff.js';
import { errorText } from '../../../base/machinery/startup-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import { GrpcConnection } from '../grpc/grpc-connection.js';
import { watchPath } from '../watch-path.js';
import { CsiDriverClient } from './csi-driver-client.js';
import type { CsiDrivers } from './csi-drivers.js';
import type { CsiNode } from './csi-node.js';
import type { CsiObjects } from './csi-objects.js';
import { emptyMessage, type PluginInfo, pluginInfo, registrationStatus } from './plugin-messages.js';

export interface PluginRegistryDependencies {
  /** Folder of the registration sockets; its subfolders count too. */
  readonly folder: string;
  readonly drivers: CsiDrivers;
  readonly csiNode: CsiNode;
  readonly objects: CsiObjects;
  readonly timers: Timers;
  readonly logger: Logger;
}

/** The plugin at a socket. */
interface Registered {
  /** Changes when the socket is created again. */
  readonly print: string;
  readonly name: string | undefined;
  readonly failures: number;
  readonly nextAt: number;
}

/** The interval at which sockets are looked for where the kernel does not report them: those in subfolders. */
const lookMs = 10_000;
/** The same while a socket does not answer, or the kernel reports nothing. */
const hurriedMs = 1000;
const settleMs = 100;
/** The interval at which the drivers' entries in the API are checked. */
const checkMs = 60_000;
const callMs = 10_000;
const retries = { firstMs: 500, longestMs: 120_000 };
const csiType = 'CSIPlugin';

/**
 * Registers the drivers whose sockets appear in a folder, and unregisters those whose sockets disappear. A failed
 * registration is tried again with growing pauses.
 */
export class PluginRegistry {
  private readonly sockets = new Map<string, Registered>();
  private checkAt = 0;

  constructor(private readonly dependencies: PluginRegistryDependencies) {}

  async run(signal: AbortSignal): Promise<void> {
    const { folder, timers, logger } = this.dependencies;
    while (!signal.aborted) {
      const woken = new AbortController();
      let watcher: FSWatcher | undefined;
      try {
        await fs.mkdir(folder, { recursive: true, mode: 0o750 });
        watcher = watchPath(folder, () => woken.abort());
        await this.look();
        await this.check();
      } catch (error) {
        if (!signal.aborted) logger.debug('could not list the drivers of the node', { error: errorText(error) });
      }
      const isHurried = watcher === undefined || [...this.sockets.values()].some(({ failures }) => failures > 0);
      await timers.wait(isHurried ? hurriedMs : lookMs, AbortSignal.any([signal, woken.signal]));
      watcher?.close();
      // Whatever changes the folder all the time must not keep this process busy.
      if (woken.signal.aborted) await timers.wait(settleMs, signal);
    }
  }

  private async look(): Promise<void> {
    const found = await socketsBelow(this.dependencies.folder);
    for (const [path, { name }] of this.sockets) if (!found.has(path)) await this.forget(path, name);
    await Promise.all([...found].map(([path, print]) => this.lookAt(path, print)));
  }

  private async lookAt(path: string, print: string): Promise<void> {
    const { timers, logger } = this.dependencies;
    const known = this.sockets.get(path);
    const isKnown = known?.print === print;
    if (isKnown && (known.failures === 0 || timers.elapsed() < known.nextAt)) return;
    try {
      this.sockets.set(path, { print, name: await this.register(path), failures: 0, nextAt: 0 });
    } catch (error) {
      const failures = (isKnown ? known.failures : 0) + 1;
      const nextAt = timers.elapsed() + pauseAfter(failures, retries);
      this.sockets.set(path, { print, name: known?.name, failures, nextAt });
      logger.warn('a driver could not be registered', { socket: path, error: errorText(error) });
    }
  }

  /** Returns the name of the driver. The driver is notified of the result. */
  private async register(path: string): Promise<string> {
    const connection = await GrpcConnection.open(`unix://${path}`, 'pluginregistration.Registration', callMs);
    const answer = (pluginRegistered: boolean, error: string) =>
      connection.call('NotifyRegistrationStatus', registrationStatus, emptyMessage, { pluginRegistered, error });
    try {
      const info = await connection.call('GetInfo', emptyMessage, pluginInfo, {});
      try {
        await this.add(path, info);
      } catch (error) {
        await answer(false, errorText(error)).catch(() => undefined);
        throw error;
      }
      await answer(true, '');
      return info.name;
    } finally {
      connection.close();
    }
  }

  private async add(path: string, info: PluginInfo): Promise<void> {
    const { drivers, csiNode, logger } = this.dependencies;
    const problem = pluginProblem(info, path);
    if (problem !== undefined) throw new Error(problem);
    const client = await CsiDriverClient.open(info.name, info.endpoint === '' ? path : info.endpoint);
    try {
      await csiNode.add(info.name, await client.info());
    } catch (error) {
      client.close();
      throw error;
    }
    drivers.add(client);
    logger.info('a volume driver was registered', { driver: info.name });
  }

  private async forget(path: string, name: string | undefined): Promise<void> {
    const { drivers, csiNode, logger } = this.dependencies;
    this.sockets.delete(path);
    const isElsewhere = [...this.sockets.values()].some((each) => each.name === name);
    if (name === undefined || isElsewhere) return;
    drivers.remove(name);
    await csiNode.remove(name);
    logger.info('a volume driver was removed', { driver: name });
  }

  /**
   * Restores entries that somebody removed from the API, and updates what drivers report differently now, if they want
   * that.
   */
  private async check(): Promise<void> {
    const { drivers, csiNode, objects, timers, logger } = this.dependencies;
    if (timers.elapsed() < this.checkAt) return;
    await csiNode.make();
    let pauseMs = checkMs;
    for (const client of drivers.all()) {
      try {
        const driver = await objects.driver(client.name);
        const seconds = driver?.spec.nodeAllocatableUpdatePeriodSeconds;
        if (seconds) pauseMs = Math.min(pauseMs, Number(seconds) * 1000);
        await csiNode.add(client.name, await client.info());
      } catch (error) {
        logger.debug('a driver could not be checked', { driver: client.name, error: errorText(error) });
      }
    }
    this.checkAt = timers.elapsed() + pauseMs;
  }
}

/** Why the plugin at a registration socket can't be used; undefined if it can. */
export function pluginProblem({ type, name, supportedVersions }: PluginInfo, path: string): string | undefined {
  if (type !== csiType) return `no handler registered for plugin type: ${type} at socket ${path}`;
  if (!/^[A-Za-z0-9]([-A-Za-z0-9.]{0,61}[A-Za-z0-9])?$/.test(name))
    return `${JSON.stringify(name)} is not a name of a driver`;
  const isUsable = supportedVersions.some((version) => /^v?1(\.\d+){0,2}$/.test(version));
  return isUsable
    ? undefined
    : `None of the versions specified ${JSON.stringify(supportedVersions)} of the CSI driver ${name} are supported`;
}

/** The sockets below a folder, each with a value that changes when the socket is created again. */
async function socketsBelow(folder: string): Promise<Map<string, string>> {
  const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true });
  const found = new Map<string, string>();
  for (const entry of entries) {
    if (!entry.isSocket() || entry.name.startsWith('.')) continue;
    const path = join(entry.parentPath, entry.name);
    const stat = await fs.stat(path).catch(() => undefined);
    if (stat !== undefined) found.set(path, `${stat.ino} ${stat.ctimeMs}`);
  }
  return found;
}
