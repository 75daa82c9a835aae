import { errorText } from '../../../base/machinery/startup-error.js';
import { quantityValue } from '../../../base/machinery/values/quantity.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { PodEnd } from '../pods/pod-end.js';
import { podUid } from '../pods/pod-form.js';
import type { DevicePlugin } from './device-plugin.js';
import type { DeviceEntry, DeviceStore } from './device-store.js';

/** Devices of one kind. */
interface Offered {
  readonly all: ReadonlySet<string>;
  readonly healthy: ReadonlySet<string>;
  /** Undefined while no plugin offers them. */
  readonly plugin: DevicePlugin | undefined;
}

export interface DeviceManagerDependencies {
  readonly store: Pick<DeviceStore, 'read' | 'write'>;
  /** Whether a pod may have a running container; undefined before all pods are known. */
  readonly isActive: () => ((uid: string) => boolean) | undefined;
  /** Called when the devices of the node have changed. */
  readonly onChange: () => void;
}

/**
 * Assigns devices to containers that request them as extended resources. Each device belongs to one container at a
 * time, from before the container starts until its pod has ended.
 */
export class DeviceManager {
  private readonly offers = new Map<string, Offered>();
  private entries: DeviceEntry[] = [];
  private lastTurn: Promise<unknown> = Promise.resolve();

  constructor(private readonly dependencies: DeviceManagerDependencies) {}

  /** Reads the assignments of an earlier process. */
  async open(): Promise<void> {
    this.entries = [...(await this.dependencies.store.read())];
    for (const { resource } of this.entries)
      this.offers.set(resource, { all: new Set(), healthy: new Set(), plugin: undefined });
  }

  /** Receives the list of devices from a plugin. */
  offer(
    resource: string,
    plugin: DevicePlugin,
    devices: readonly { readonly id: string; readonly isHealthy: boolean }[],
  ) {
    const healthy = devices.filter(({ isHealthy }) => isHealthy).map(({ id }) => id);
    this.offers.set(resource, { all: new Set(devices.map(({ id }) => id)), healthy: new Set(healthy), plugin });
    this.dependencies.onChange();
  }

  /** Handles the end of a plugin: its devices stay in the node's capacity, but can't be assigned. */
  withdraw(resource: string, plugin: DevicePlugin): void {
    const present = this.offers.get(resource);
    if (present?.plugin !== plugin) return;
    this.offers.set(resource, { all: present.all, healthy: new Set(), plugin: undefined });
    this.dependencies.onChange();
  }

  /** Handles a plugin that has not come back: the node no longer has the devices, and its status shows 0. */
  forget(resource: string): void {
    if (this.offers.get(resource)?.plugin !== undefined) return;
    this.offers.set(resource, { all: new Set(), healthy: new Set(), plugin: undefined });
    this.dependencies.onChange();
  }

  /** Numbers of devices by resource. */
  capacity(): Record<string, string> {
    return Object.fromEntries([...this.offers].map(([name, { all }]) => [name, String(all.size)]));
  }

  allocatable(): Record<string, string> {
    return Object.fromEntries([...this.offers].map(([name, { healthy }]) => [name, String(healthy.size)]));
  }

  /** The settings of a container for its devices. */
  allocationsOf(uid: string, container: string): readonly DeviceEntry['allocation'][] {
    return this.entriesOf(uid, container).map(({ allocation }) => allocation);
  }

  /** Makes the plugins prepare the devices of a container before its start. @throws GrpcError */
  async preStart(uid: string, container: string): Promise<void> {
    for (const { resource, ids } of this.entriesOf(uid, container))
      await this.offers.get(resource)?.plugin?.preStart(ids);
  }

  /** Assigns devices to a pod that has none yet. Returns the reason if that is not possible. */
  prepare(pod: Pod): Promise<PodEnd | undefined> {
    if (!containersOf(pod).some(([container]) => this.wantedBy(container).length > 0))
      return Promise.resolve(undefined);
    const turn = this.lastTurn.then(() => this.allocate(pod));
    this.lastTurn = turn.catch(() => undefined);
    return turn;
  }

  private entriesOf(uid: string, container: string): DeviceEntry[] {
    return this.entries.filter((entry) => entry.podUid === uid && entry.container === container);
  }

  private wantedBy({ resources }: Container): (readonly [string, number])[] {
    return Object.entries(resources?.limits ?? {})
      .filter(([name]) => this.offers.has(name))
      .map(([name, amount]) => [name, quantityValue(amount)] as const)
      .filter(([, count]) => count > 0);
  }

  private async allocate(pod: Pod): Promise<PodEnd | undefined> {
    const isActive = this.dependencies.isActive();
    if (isActive !== undefined) this.entries = this.entries.filter(({ podUid: uid }) => isActive(uid));
    const before = this.entries;
    try {
      /** Devices of init containers that will have ended, by resource. */
      const reusable = new Map<string, readonly string[]>();
      for (const [container, isTask] of containersOf(pod)) {
        for (const [resource, count] of this.wantedBy(container)) {
          const ids = await this.give(pod, container.name, resource, count, reusable.get(resource) ?? []);
          const left = (reusable.get(resource) ?? []).filter((id) => !ids.includes(id));
          reusable.set(resource, isTask ? [...left, ...ids] : left);
        }
      }
      if (this.entries !== before) await this.dependencies.store.write(this.entries);
      return undefined;
    } catch (error) {
      this.entries = before;
      return {
        reason: 'UnexpectedAdmissionError',
        message: `Allocate failed due to ${errorText(error)}, which is unexpected`,
      };
    }
  }

  private async give(
    pod: Pod,
    container: string,
    resource: string,
    count: number,
    reusable: readonly string[],
  ): Promise<readonly string[]> {
    const uid = podUid(pod);
    const known = this.entriesOf(uid, container).find((entry) => entry.resource === resource);
    if (known !== undefined) return known.ids;
    const { healthy = new Set<string>(), plugin } = this.offers.get(resource) ?? {};
    const taken = new Set(this.entries.filter((entry) => entry.resource === resource).flatMap(({ ids }) => ids));
    const again = reusable.filter((id) => healthy.has(id)).slice(0, count);
    const free = [...healthy].filter((id) => !taken.has(id));
    if (plugin === undefined || again.length + free.length < count) {
      const available = again.length + free.length;
      throw new Error(
        `requested number of devices unavailable for ${resource}. Requested: ${count}, Available: ${available}`,
      );
    }
    const ids = await chosen(plugin, [...again, ...free], again, count);
    const allocation = await plugin.allocate(ids);
    this.entries = [...this.entries, { podUid: uid, container, resource, ids, allocation }];
    return ids;
  }
}

/** The devices that the plugin prefers, if its preference is valid; otherwise the first ones. */
async function chosen(
  plugin: DevicePlugin,
  available: readonly string[],
  mustInclude: readonly string[],
  count: number,
): Promise<readonly string[]> {
  if (mustInclude.length === count) return mustInclude;
  const preferred = await plugin.preferred(available, mustInclude, count);
  const isUsable =
    preferred !== undefined &&
    new Set(preferred).size === count &&
    preferred.length === count &&
    preferred.every((id) => available.includes(id)) &&
    mustInclude.every((id) => preferred.includes(id));
  return isUsable ? preferred : available.slice(0, count);
}

/** The containers of a pod in the order of their start, each with whether it ends before the next one starts. */
function containersOf({ spec }: Pod): (readonly [Container, boolean])[] {
  return [
    ...(spec.initContainers ?? []).map((each) => [each, each.restartPolicy !== 'Always'] as const),
    ...(spec.containers ?? []).map((each) => [each, false] as const),
  ];
}
