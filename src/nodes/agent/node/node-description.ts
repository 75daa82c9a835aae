import { canonicalQuantity, quantityMilliValue, quantityValue } from '../../../base/machinery/values/quantity.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { AgentOptions } from '../agent-options.js';
import type { RuntimeHealth } from '../runtime-health.js';
import { fileSystem, type MachineInfo, ownAddresses, readMachine } from './machine.js';
import type { Pressure, ReportedNodeState } from './node-status.js';
import { shownVersion } from './shown-version.js';

/** Capacity and allocatable resources of the node. */
export class NodeDescription {
  /** The pressure conditions of the machine, set by the housekeeper. */
  pressures: ReadonlySet<Pressure> = new Set();
  isShuttingDown = false;
  /** Devices that plugins offer; undefined: nobody looks after devices. */
  devices: { capacity(): Record<string, string>; allocatable(): Record<string, string> } | undefined;

  private constructor(
    private readonly options: AgentOptions,
    readonly machine: MachineInfo,
    readonly addresses: readonly string[],
    private readonly ownCapacity: Readonly<Record<string, string>>,
    private readonly ownAllocatable: Readonly<Record<string, string>>,
  ) {}

  get capacity(): Readonly<Record<string, string>> {
    return { ...this.ownCapacity, ...this.devices?.capacity() };
  }

  /** What pods may use. */
  get allocatable(): Readonly<Record<string, string>> {
    return { ...this.ownAllocatable, ...this.devices?.allocatable() };
  }

  static async read(options: AgentOptions): Promise<NodeDescription> {
    const machine = await readMachine();
    const addresses = options.nodeIPs.length > 0 ? options.nodeIPs : await ownAddresses();
    const { capacity: disk } = await fileSystem(options.rootFolder);
    const reserved = reservedOf(options, machine, disk);
    const hugePages = Object.entries(machine.hugePages);
    const memory = machine.memoryBytes - hugePages.reduce((sum, [, bytes]) => sum + bytes, 0);
    const capacity: Record<string, string> = {
      cpu: String(machine.cpus),
      'ephemeral-storage': canonicalQuantity(Math.floor(disk)),
      ...Object.fromEntries(hugePages.map(([name, bytes]) => [name, bytes === 0 ? '0' : `${bytes / 1024}Ki`])),
      memory: `${Math.floor(machine.memoryBytes / 1024)}Ki`,
      pods: String(options.maxPods),
    };
    const allocatable: Record<string, string> = {
      ...capacity,
      cpu: formatMilli(machine.cpus * 1000 - (reserved.cpu ?? 0)),
      'ephemeral-storage': String(Math.floor(disk) - (reserved['ephemeral-storage'] ?? 0)),
      memory: `${Math.floor((memory - (reserved.memory ?? 0)) / 1024)}Ki`,
    };
    return new NodeDescription(options, machine, addresses, capacity, allocatable);
  }

  labels({ labelPrefix }: VendorNames): Record<string, string> {
    const { hostname } = this.options;
    const { architecture } = this.machine;
    return {
      [`beta.${labelPrefix}/arch`]: architecture,
      [`beta.${labelPrefix}/os`]: 'linux',
      [`${labelPrefix}/arch`]: architecture,
      [`${labelPrefix}/hostname`]: hostname,
      [`${labelPrefix}/os`]: 'linux',
    };
  }

  state(health: RuntimeHealth): ReportedNodeState {
    const { options } = this;
    const { version, status } = health;
    return {
      machine: this.machine,
      capacity: this.capacity,
      allocatable: this.allocatable,
      addresses: this.addresses,
      nodeName: options.nodeName,
      hostname: options.hostname,
      port: options.port,
      runtimeVersion:
        version === undefined ? 'unknown://' : `${version.runtimeName}://${shownVersion(version.runtimeVersion)}`,
      agentVersion: options.version,
      handlers: (status?.runtimeHandlers ?? []).map(({ name, features }) => ({
        name,
        ...(features === undefined ? {} : { features: { ...features, userNamespaces: false } }),
      })),
      images: health.images,
      pressures: this.pressures,
      problems: [...health.problems(), ...(this.isShuttingDown ? ['node is shutting down'] : [])],
    };
  }
}

/** The amounts reserved for the machine, and those that hard eviction thresholds keep free; CPU in thousandths. */
function reservedOf(
  { thresholds, reserved }: AgentOptions,
  { memoryBytes }: MachineInfo,
  disk: number,
): Record<string, number> {
  const of = (wanted: string, capacity: number) => {
    const found = thresholds.find(({ signal, graceMs }) => signal === wanted && graceMs === undefined);
    if (found === undefined) return 0;
    // Other agents have percentages in 32 bits, which shows in large amounts.
    return found.percent === undefined ? found.amount : Math.floor(capacity * Math.fround(found.percent / 100));
  };
  return {
    cpu: quantityMilliValue(reserved.cpu ?? '0'),
    memory: quantityValue(reserved.memory ?? '0') + of('memory.available', memoryBytes),
    'ephemeral-storage': quantityValue(reserved['ephemeral-storage'] ?? '0') + of('nodefs.available', disk),
  };
}

function formatMilli(milli: number): string {
  return milli % 1000 === 0 ? String(milli / 1000) : `${milli}m`;
}
