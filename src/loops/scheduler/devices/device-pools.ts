import { compareText } from '../../../base/machinery/compare-text.js';
import type { NodeSelector } from '../../../objects/apis/core/v1/node-selector.types.js';
import type { Device } from '../../../objects/apis/resource/v1/device.types.js';
import { nodeTermsTest, type SelectableNode } from '../node-selection.js';
import { type DeviceName, type DeviceObjects, deviceId, poolId, type StoredSlice } from './device-objects.js';

/** A device of a pool that can be reached from the node. */
export interface PoolDevice {
  readonly id: string;
  readonly name: DeviceName;
  readonly device: Device;
  readonly slice: StoredSlice;
  readonly pool: DevicePool;
}

/** Amounts that devices of a pool share, by set and counter. */
export type CounterSets = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** The devices of a pool that can be reached from one node. */
export interface DevicePool {
  readonly id: string;
  /**
   * The devices in the order in which they are tried: that of the names of their slices. Empty unless the pool can be
   * used.
   */
  readonly devices: readonly PoolDevice[];
  /** All slices of the present generation, those for other nodes too. */
  readonly slices: readonly StoredSlice[];
  readonly counterSets: CounterSets;
  /** Why nothing is allocated from the pool now. */
  readonly fault?: 'incomplete' | 'invalid';
}

interface Place {
  readonly nodeName?: string | undefined;
  readonly allNodes?: boolean | undefined;
  readonly nodeSelector?: NodeSelector | undefined;
}

function isReachable({ nodeName, allNodes, nodeSelector }: Place, node: SelectableNode): boolean {
  if (nodeName) return nodeName === node.name;
  if (allNodes === true) return true;
  return nodeSelector !== undefined && nodeTermsTest(nodeSelector.nodeSelectorTerms ?? [])(node);
}

/** Whether a slice has anything for a node. */
function isFor({ spec }: StoredSlice, node: SelectableNode): boolean {
  if (spec.perDeviceNodeSelection !== true) return isReachable(spec, node);
  return (spec.devices ?? []).some((device) => isReachable(device, node));
}

/** The pools with devices for a node: by driver and name, those whose devices need preparation last. */
export function poolsFor(node: SelectableNode, objects: DeviceObjects): readonly DevicePool[] {
  const found = new Map<string, StoredSlice[]>();
  for (const slices of [objects.slicesOfNode(node.name), objects.sharedSlices()]) {
    for (const slice of slices) if (isFor(slice, node)) addNewest(found, slice);
  }
  const pools = [...found].flatMap(([id, slices]) => poolOf(id, slices, node, objects) ?? []);
  const needsPreparation = ({ devices }: DevicePool) =>
    Number(devices.some(({ device }) => device.bindingConditions !== undefined));
  return pools.sort((a, b) => needsPreparation(a) - needsPreparation(b) || comparePools(a, b));
}

function comparePools(a: DevicePool, b: DevicePool): number {
  const [one, other] = [a, b].map(({ slices }) => slices[0]?.spec) as [StoredSlice['spec'], StoredSlice['spec']];
  return compareText(one.driver, other.driver) || compareText(one.pool.name, other.pool.name);
}

/** Slices of the newest generation replace all others of their pool. */
function addNewest(found: Map<string, StoredSlice[]>, slice: StoredSlice): void {
  const { driver, pool } = slice.spec;
  const id = poolId(driver, pool.name);
  const known = found.get(id);
  const newest = Number(known?.[0]?.spec.pool.generation ?? -1);
  if (known === undefined || Number(pool.generation) > newest) found.set(id, [slice]);
  else if (Number(pool.generation) === newest) known.push(slice);
}

/** Undefined for a pool that a driver is about to replace by one without devices for the node. */
function poolOf(
  id: string,
  forNode: readonly StoredSlice[],
  node: SelectableNode,
  objects: DeviceObjects,
): DevicePool | undefined {
  const { generation, resourceSliceCount } = (forNode[0] as StoredSlice).spec.pool;
  const slices: StoredSlice[] = [];
  for (const slice of objects.slicesOfPool(id)) {
    const own = Number(slice.spec.pool.generation);
    if (own > Number(generation)) return undefined;
    if (own === Number(generation)) slices.push(slice);
  }
  slices.sort((a, b) => compareText(a.metadata.name ?? '', b.metadata.name ?? ''));
  const unusable = { id, slices, devices: [], counterSets: new Map() };
  if (slices.length !== Number(resourceSliceCount)) return { ...unusable, fault: 'incomplete' };
  const counterSets = countersOf(slices);
  if (counterSets === undefined || !hasValidDevices(forNode, slices, counterSets)) {
    return { ...unusable, fault: 'invalid' };
  }
  const devices: PoolDevice[] = [];
  const pool: DevicePool = { id, slices, devices, counterSets };
  const isWanted = new Set(forNode);
  for (const slice of slices) {
    if (!isWanted.has(slice)) continue;
    const { driver, perDeviceNodeSelection } = slice.spec;
    for (const device of slice.spec.devices ?? []) {
      if (perDeviceNodeSelection === true && !isReachable(device, node)) continue;
      const name = { driver, pool: slice.spec.pool.name, device: device.name };
      devices.push({ id: deviceId(name), name, device, slice, pool });
    }
  }
  return pool;
}

/** Undefined when two sets have the same name. */
function countersOf(slices: readonly StoredSlice[]): CounterSets | undefined {
  const sets = new Map<string, ReadonlyMap<string, string>>();
  for (const { spec } of slices) {
    for (const { name, counters } of spec.sharedCounters ?? []) {
      if (sets.has(name)) return undefined;
      sets.set(name, new Map(Object.entries(counters ?? {}).map(([counter, { value }]) => [counter, value])));
    }
  }
  return sets;
}

/** Whether no two devices have the same name, and all counters exist that devices use. */
function hasValidDevices(
  forNode: readonly StoredSlice[],
  slices: readonly StoredSlice[],
  counterSets: CounterSets,
): boolean {
  const names = forNode.flatMap(({ spec }) => (spec.devices ?? []).map(({ name }) => name));
  if (new Set(names).size < names.length) return false;
  return slices.every(({ spec }) =>
    (spec.devices ?? []).every(({ consumesCounters = [] }) =>
      consumesCounters.every(({ counterSet, counters }) => {
        const set = counterSets.get(counterSet);
        return set !== undefined && Object.keys(counters ?? {}).every((name) => set.has(name));
      }),
    ),
  );
}
