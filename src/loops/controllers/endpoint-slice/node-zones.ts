import type { ApiObject } from '../../../base/machinery/api-object.js';
import { quantityMilliValue } from '../../../base/machinery/values/quantity.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import type { ZoneShares } from './zone-shares.js';

type StoredNode = Node & ApiObject;

/** A node's contribution to its zone. */
interface ZoneInfo {
  readonly zone: string;
  readonly milliCpu: number;
}

/** The zones of the nodes that run ordinary work, weighted by the CPU of their nodes. */
export class NodeZones {
  private readonly info = new Map<string, ZoneInfo>();
  private known: { readonly shares: ZoneShares | undefined } | undefined;

  constructor(private readonly names: Pick<VendorNames, 'labelPrefix'>) {}

  clear(): void {
    this.info.clear();
    this.known = undefined;
  }

  /** Records a node; undefined: it is gone. Returns whether the shares may differ from now on. */
  set(name: string, node: StoredNode | undefined): boolean {
    const before = this.info.get(name);
    const now = node === undefined ? undefined : this.infoOf(node);
    if (before?.zone === now?.zone && before?.milliCpu === now?.milliCpu) return false;
    if (now === undefined) this.info.delete(name);
    else this.info.set(name, now);
    this.known = undefined;
    return true;
  }

  /** The shares of the zones; undefined when a node does not report its zone or its CPU. */
  get shares(): ZoneShares | undefined {
    this.known ??= { shares: this.count() };
    return this.known.shares;
  }

  private count(): ZoneShares | undefined {
    const zones = new Map<string, number>();
    let sum = 0;
    for (const { zone, milliCpu } of this.info.values()) {
      if (zone === '' || milliCpu <= 0) return undefined;
      zones.set(zone, (zones.get(zone) ?? 0) + milliCpu);
      sum += milliCpu;
    }
    return new Map([...zones].map(([zone, milliCpu]) => [zone, milliCpu / sum]));
  }

  private infoOf({ metadata, status }: StoredNode): ZoneInfo | undefined {
    const { labelPrefix } = this.names;
    const { labels = {} } = metadata;
    const isMaster = ['control-plane', 'master'].some((role) =>
      Object.hasOwn(labels, `node-role.${labelPrefix}/${role}`),
    );
    const isReady =
      status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
    if (isMaster || !isReady) return undefined;
    const cpu = status?.allocatable?.cpu;
    return {
      zone: labels[`topology.${labelPrefix}/zone`] ?? '',
      milliCpu: cpu === undefined ? 0 : quantityMilliValue(cpu),
    };
  }
}
