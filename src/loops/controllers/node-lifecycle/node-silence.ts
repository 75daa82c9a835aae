import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Node, NodeCondition } from '../../../objects/apis/core/v1/node.types.js';

/** A Node as the informers and clients of controllers return it. */
export type StoredNode = Node & ApiObject;

/** The node's condition of the given type. */
export function nodeCondition(node: Readonly<StoredNode>, type: string): NodeCondition | undefined {
  return node.status?.conditions?.find((condition) => condition.type === type);
}

/** Whether the node reports that it is ready: `True`, `False`, `Unknown`, or undefined when it never reported. */
export function readyStatus(node: Readonly<StoredNode>): string | undefined {
  return nodeCondition(node, 'Ready')?.status;
}

/** The failure zone of a node: nodes of one zone fail together. Empty for nodes without labels. */
export function zoneOf({ metadata }: Readonly<StoredNode>, { labelPrefix }: Pick<VendorNames, 'labelPrefix'>): string {
  const label = (name: string) => {
    const { labels = {} } = metadata;
    return labels[`topology.${labelPrefix}/${name}`] ?? labels[`failure-domain.beta.${labelPrefix}/${name}`] ?? '';
  };
  const [region, zone] = [label('region'), label('zone')];
  return region === '' && zone === '' ? '' : `${region}:${zone}`;
}

/** How long a node may be silent, in milliseconds. */
export interface GracePeriods {
  /** How long a node that reported its status before may be silent. */
  readonly monitorMs: number;
  /** How long a node that never reported its status may be silent. */
  readonly startupMs: number;
}

/** The newest heartbeats of a node, as strings that differ between heartbeats. */
export interface LifeSigns {
  readonly renewTime: string | undefined;
  readonly heartbeat: string | undefined;
}

/**
 * When each node last gave a heartbeat, by our own clock: a heartbeat is a change of its lease or of the heartbeat time
 * of its status, whatever times these name.
 */
export class NodeSilence {
  private readonly known = new Map<string, LifeSigns & { readonly at: number; readonly uid: string }>();

  constructor(private readonly grace: GracePeriods) {}

  /**
   * How many milliseconds the node may still be silent; 0 or less: it has been silent for too long.
   *
   * @param now milliseconds from some fixed point
   */
  leftMs(node: Readonly<StoredNode>, renewTime: string | undefined, now: number): number {
    const { name = '', uid = '' } = node.metadata;
    const heartbeat = nodeCondition(node, 'Ready')?.lastHeartbeatTime ?? undefined;
    const before = this.known.get(name);
    const isSame =
      before !== undefined && before.uid === uid && before.renewTime === renewTime && before.heartbeat === heartbeat;
    const at = isSame ? before.at : now;
    if (!isSame) this.known.set(name, { renewTime, heartbeat, at, uid });
    const graceMs = readyStatus(node) === undefined ? this.grace.startupMs : this.grace.monitorMs;
    return at + graceMs - now;
  }

  forget(name: string): void {
    this.known.delete(name);
  }

  /** Restarts the whole grace period for all nodes. */
  startAgain(now: number): void {
    for (const [name, known] of this.known) this.known.set(name, { ...known, at: now });
  }
}

const watched = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

/** The conditions of a silent node; undefined when they are correct already. `time` is the present time. */
export function silentConditions(node: Readonly<StoredNode>, time: string): NodeCondition[] | undefined {
  const conditions = [...(node.status?.conditions ?? [])];
  let changed = false;
  for (const type of watched) {
    const index = conditions.findIndex((condition) => condition.type === type);
    const before = conditions[index];
    if (before?.status === 'Unknown') continue;
    changed = true;
    if (before === undefined) {
      conditions.push({
        type,
        status: 'Unknown',
        reason: 'NodeStatusNeverUpdated',
        message: 'Kubelet never posted node status.',
        lastHeartbeatTime: node.metadata.creationTimestamp ?? null,
        lastTransitionTime: time,
      } as NodeCondition);
    } else {
      conditions[index] = {
        ...before,
        status: 'Unknown',
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
        lastTransitionTime: time,
      };
    }
  }
  return changed ? conditions : undefined;
}
