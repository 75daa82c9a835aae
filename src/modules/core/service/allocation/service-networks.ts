import { Turn } from '../../../../base/machinery/turns.js';
import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';
import type { ServiceCIDR } from '../../../../objects/apis/networking/v1/service-cidr.types.js';
import {
  canonicalNetwork,
  type IpFamily,
  parseIpNetwork,
} from '../../../../objects/apis/networking/v1/validation/ip-network.js';
import type { Allocations } from '../../../../objects/registry/allocation/allocations.js';
import { NamePool } from '../../../../objects/registry/allocation/name-pool.js';
import { readStored, type StoredResources } from '../../../../objects/registry/store/object-codec.js';
import type { Storage } from '../../../../storage/storage.interface.js';
import { hasAddresses, IpRange } from './ip-range.js';
import { keptPart } from './kept-part.js';

/** A range of service addresses, and its free addresses. */
export interface ServiceNetwork {
  readonly range: IpRange;
  readonly pool: NamePool;
}

/** The dependencies of {@link ServiceNetworks}. */
export interface NetworkDependencies {
  readonly storage: Storage;
  readonly registry: StoredResources;
  readonly names: VendorNames;
}

/**
 * The ranges of service addresses: the ranges of the server's flag, and those of the ServiceCIDR objects. They are read
 * from the database for each allocation, so that every process notices a range that was added or is being removed.
 */
export class ServiceNetworks {
  private readonly resource: string;
  /** The networks by canonical range, as of the last read. */
  private known = new Map<string, ServiceNetwork>();

  /** @param flagged the ranges that the server's flag names; only ranges of their families are used */
  constructor(
    private readonly dependencies: NetworkDependencies,
    private readonly allocations: Allocations,
    private readonly flagged: readonly IpRange[],
  ) {
    this.resource = `servicecidrs.${groupName('networking', dependencies.names)}`;
  }

  /**
   * The ranges from which new addresses may come, those of the flag first. A range is left out while every object that
   * has it is being deleted or is not `Ready`; those of the flag need no object.
   */
  async open(): Promise<readonly ServiceNetwork[]> {
    const states = await this.states();
    const { known } = this;
    this.known = new Map([...states.keys()].map((cidr) => [cidr, known.get(cidr) ?? this.network(cidr)]));
    return [...this.known].flatMap(([cidr, network]) => (states.get(cidr) ? [network] : []));
  }

  /** The flag's range of an IP family as text; empty if it has none. */
  flaggedOf(family: IpFamily): string {
    return this.flagged.find((range) => range.family === family)?.cidr ?? '';
  }

  /** The known ranges, and whether new addresses may come from each. */
  private async states(): Promise<ReadonlyMap<string, boolean>> {
    const { storage, registry } = this.dependencies;
    const flagged = this.flagged.map(({ cidr }) => canonicalRange(cidr));
    const isUsable = (cidr: string) => this.flagged.some(({ family }) => hasAddresses(cidr, family));
    const objects = new Map<string, boolean>();
    const page = await storage.list({ resource: this.resource });
    const turn = new Turn();
    for (const item of page.items) {
      const object = (await readStored(registry, item)) as unknown as ServiceCIDR;
      for (const cidr of object.spec.cidrs ?? []) {
        if (isUsable(cidr)) objects.set(cidr, objects.get(cidr) === true || isOpen(object));
      }
      if (turn.isOver) await turn.next();
    }
    const ownFirst = flagged.map((cidr) => [cidr, objects.get(cidr) ?? true] as const);
    return new Map([...ownFirst, ...[...objects].filter(([cidr]) => !flagged.includes(cidr))]);
  }

  private network(cidr: string): ServiceNetwork {
    const range = new IpRange(cidr);
    const keptForAsking = keptPart(range.size, 16, 256);
    return {
      range,
      pool: new NamePool(this.allocations, { size: range.size, at: (offset) => range.at(offset), keptForAsking }),
    };
  }
}

/** Without a condition an object counts as ready: the controller that writes it may not be running. */
function isOpen({ metadata, status }: ServiceCIDR): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return metadata.deletionTimestamp === undefined && (ready === undefined || ready.status === 'True');
}

function canonicalRange(cidr: string): string {
  const network = parseIpNetwork(cidr);
  return network === undefined ? cidr : canonicalNetwork(network);
}
