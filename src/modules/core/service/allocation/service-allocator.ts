import type { Clock } from '../../../../base/machinery/clock.js';
import { type FieldError, FieldPath, invalid } from '../../../../base/machinery/field-error.js';
import { serviceRangesOf } from '../../../../base/machinery/service-ranges.js';
import { invalidError, statedError } from '../../../../base/machinery/status-error.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { Service, ServicePort } from '../../../../objects/apis/core/v1/service.types.js';
import type { AllocatedNames } from '../../../../objects/registry/allocation/allocated-names.js';
import type { Allocation, AllocationOwner } from '../../../../objects/registry/allocation/allocation.js';
import { Allocations } from '../../../../objects/registry/allocation/allocations.js';
import { NamePool } from '../../../../objects/registry/allocation/name-pool.js';
import type { ServiceRanges } from '../../../../objects/registry/allocation/service-ranges.js';
import type { StoredResources } from '../../../../objects/registry/store/object-codec.js';
import type { Reservation } from '../../../../objects/registry/strategy.js';
import type { Storage } from '../../../../storage/storage.interface.js';
import { needsHealthCheckPort, needsNodePorts } from '../service.rules.js';
import type { IpFamilyName } from '../service-addresses.validation.js';
import { IpRange } from './ip-range.js';
import { keptPart } from './kept-part.js';
import { addressAllocations, allocatedAddressesOf, nodePortAllocations, nodePortsOf } from './service-allocations.js';
import { ServiceNetworks } from './service-networks.js';

const clusterIPsPath = FieldPath.of('spec', 'clusterIPs');
const familyNames = { ipv4: 'IPv4', ipv6: 'IPv6' } as const;
const portsPath = FieldPath.of('spec', 'ports');
const healthCheckPath = FieldPath.of('spec', 'healthCheckNodePort');

/** Allocations made for one write, and the names that the write gives up. */
class Taken {
  readonly allocations: { readonly from: Allocations; readonly allocation: Allocation }[] = [];
  readonly given: { readonly from: Allocations; readonly name: string }[] = [];
  /** Addresses and ports (they never look alike) that a dry run has already shown. */
  readonly shown = new Set<string>();
  /** Ports that the service had before the write. */
  readonly held = new Set<string>();
}

/** The dependencies of the allocator. */
export interface AllocatorDependencies {
  readonly storage: Storage;
  readonly registry: StoredResources;
  readonly clock: Clock;
  readonly names: VendorNames;
  readonly ranges: ServiceRanges;
}

/** Allocates addresses and node ports to services, each to one service only, whatever process the write runs in. */
export class ServiceAllocator {
  /** The address families of the ranges from the server's flag. The first is that of services that name none. */
  readonly families: readonly IpFamilyName[];
  /** The names that services hold, for the controller that repairs them. */
  readonly allocatedNames: readonly AllocatedNames[];
  private readonly addresses: Allocations;
  private readonly ports: Allocations;
  private readonly networks: ServiceNetworks;
  private readonly portPool: NamePool;
  private readonly firstPort: number;
  private readonly lastPort: number;

  constructor({ storage, registry, clock, names, ranges }: AllocatorDependencies) {
    const annotation = `ipaddress.${names.labelPrefix}/service-claim`;
    const flagged = serviceRangesOf(ranges.serviceClusterIpRange).map((cidr) => new IpRange(cidr));
    this.families = flagged.map(({ family }) => familyNames[family]);
    [this.firstPort, this.lastPort] = parsePortRange(ranges.serviceNodePortRange);
    this.addresses = new Allocations(storage, registry, clock, addressAllocations(names), annotation);
    this.ports = new Allocations(storage, registry, clock, nodePortAllocations, annotation);
    this.networks = new ServiceNetworks({ storage, registry, names }, this.addresses, flagged);
    const size = this.lastPort - this.firstPort + 1;
    this.portPool = new NamePool(this.ports, {
      size,
      at: (offset) => String(this.firstPort + offset),
      keptForAsking: keptPart(size, 32, 128),
    });
    this.allocatedNames = [
      {
        what: 'cluster IP',
        reasonPrefix: 'ClusterIP',
        allocations: this.addresses,
        namesOf: (service) => allocatedAddressesOf(service as unknown as Service),
      },
      {
        what: 'node port',
        reasonPrefix: 'Port',
        allocations: this.ports,
        namesOf: (service) => [...nodePortsOf(service as unknown as Service)].map(String),
      },
    ];
  }

  /** Allocates for a new service; a dry run allocates nothing, but checks the requested names and shows free ones. */
  reserveForCreate(service: Service, dryRun: boolean): Promise<Reservation | undefined> {
    return this.reserve(service, undefined, dryRun);
  }

  /** Allocates what a changed service needs in addition. Names that it gives up are freed once it is written. */
  reserveForUpdate(service: Service, old: Service, dryRun: boolean): Promise<Reservation | undefined> {
    return this.reserve(service, old, dryRun);
  }

  /** Frees all allocations of a deleted service. */
  async afterDelete(service: Service): Promise<void> {
    const uid = service.metadata.uid ?? '';
    for (const address of allocatedAddressesOf(service)) await this.addresses.releaseAll(address, uid);
    for (const port of nodePortsOf(service)) await this.ports.releaseAll(String(port), uid);
  }

  private async reserve(service: Service, old: Service | undefined, dryRun: boolean): Promise<Reservation | undefined> {
    const taken = new Taken();
    const { namespace = '', name = '', uid = '' } = service.metadata;
    const owner: AllocationOwner = { namespace, name, uid };
    try {
      await this.reserveAddresses(service, old, owner, dryRun, taken);
      await this.reservePorts(service, old, owner, dryRun, taken);
    } catch (error) {
      await undoAll(taken);
      throw error;
    }
    if (taken.allocations.length === 0 && taken.given.length === 0) return undefined;
    return {
      commit: async () => {
        for (const { from, name: given } of taken.given) await from.release(given, uid);
      },
      rollback: () => undoAll(taken),
    };
  }

  private async reserveAddresses(
    service: Service,
    old: Service | undefined,
    owner: AllocationOwner,
    dryRun: boolean,
    taken: Taken,
  ): Promise<void> {
    const had = old === undefined ? [] : allocatedAddressesOf(old);
    const wanted = allocatedAddressesOf(service);
    for (const name of had) {
      if (!wanted.includes(name) && !dryRun) taken.given.push({ from: this.addresses, name });
    }
    const needsAny = service.spec.type !== 'ExternalName' && service.spec.clusterIP !== 'None';
    if (!needsAny) return;
    for (const address of wanted) {
      if (!had.includes(address)) await this.takeAddress(address, wanted, service, owner, dryRun, taken);
    }
    const { ipFamilies = [] } = service.spec;
    const lacking = (ipFamilies.length > 0 ? ipFamilies : this.families.slice(0, 1)).slice(wanted.length);
    for (const family of lacking) {
      const address = await this.anyAddress(family as IpFamilyName, owner, dryRun, taken);
      service.spec.clusterIPs = [...(service.spec.clusterIPs ?? []), address];
    }
    service.spec.clusterIP = service.spec.clusterIPs?.[0] ?? '';
  }

  private async anyAddress(
    family: IpFamilyName,
    owner: AllocationOwner,
    dryRun: boolean,
    taken: Taken,
  ): Promise<string> {
    for (const { range, pool } of await this.networks.open()) {
      if (familyNames[range.family] !== family) continue;
      const address = await anyName(pool, this.addresses, owner, dryRun, taken);
      if (address !== undefined) return address;
    }
    throw full('failed to allocate a serviceIP: range is full');
  }

  private async takeAddress(
    address: string,
    wanted: readonly string[],
    service: Service,
    owner: AllocationOwner,
    dryRun: boolean,
    taken: Taken,
  ): Promise<void> {
    const refuse = (reason: string): Error =>
      refusal(service, invalid(clusterIPsPath, wanted, `failed to allocate IP ${address}: ${reason}`));
    const networks = await this.networks.open();
    if (networks.every(({ range }) => range.offsetOf(address) === undefined)) {
      if (!dryRun) throw refuse('the provided network does not match the current range');
      const cidr = this.networks.flaggedOf(address.includes(':') ? 'ipv6' : 'ipv4');
      throw refuse(`the provided IP (${address}) is not in the valid range. The range of valid IPs is ${cidr}`);
    }
    if (!(await takeNamed(this.addresses, address, owner, dryRun, taken))) {
      throw refuse('provided IP is already allocated');
    }
  }

  private async reservePorts(
    service: Service,
    old: Service | undefined,
    owner: AllocationOwner,
    dryRun: boolean,
    taken: Taken,
  ): Promise<void> {
    const had = old === undefined ? new Set<number>() : nodePortsOf(old);
    const held = new Set(had);
    for (const port of had) taken.held.add(String(port));
    const { spec } = service;

    for (const [i, port] of (spec.ports ?? []).entries()) {
      if (!port.nodePort || held.has(port.nodePort)) continue;
      const path = portsPath.index(i).child('nodePort');
      await this.takePort(port.nodePort, path, service, owner, dryRun, taken);
      held.add(port.nodePort);
    }
    if (spec.healthCheckNodePort && !had.has(spec.healthCheckNodePort)) {
      await this.takePort(spec.healthCheckNodePort, healthCheckPath, service, owner, dryRun, taken);
    }

    await this.fillPorts(service, owner, dryRun, taken);
    const kept = nodePortsOf(service);
    for (const port of had) {
      if (!kept.has(port) && !dryRun) taken.given.push({ from: this.ports, name: String(port) });
    }
  }

  /** Assigns a node port to each port without one; the same port over two protocols gets one node port for both. */
  private async fillPorts(service: Service, owner: AllocationOwner, dryRun: boolean, taken: Taken): Promise<void> {
    const { spec } = service;
    const anyPort = async () => {
      const name = await anyName(this.portPool, this.ports, owner, dryRun, taken);
      if (name === undefined) throw full('failed to allocate a nodePort: range is full');
      return Number(name);
    };
    if (needsNodePorts(service)) {
      const ports = spec.ports ?? [];
      // Ports with a node port, by their number; each number has at most one port per protocol.
      const byNumber = new Map<number, ServicePort[]>();
      const used = new Set<string>();
      const note = (port: ServicePort) => {
        if (!port.nodePort) return;
        used.add(`${port.nodePort}/${port.protocol}`);
        byNumber.set(port.port, byNumber.get(port.port)?.concat(port) ?? [port]);
      };
      for (const port of ports) note(port);
      for (const port of ports) {
        if (port.nodePort) continue;
        const twin = byNumber.get(port.port)?.find(({ protocol }) => protocol !== port.protocol);
        const isFree = twin !== undefined && !used.has(`${twin.nodePort}/${port.protocol}`);
        port.nodePort = isFree ? (twin.nodePort as number) : await anyPort();
        note(port);
      }
    }
    if (needsHealthCheckPort(service) && !spec.healthCheckNodePort) {
      spec.healthCheckNodePort = await anyPort();
    }
  }

  private async takePort(
    port: number,
    path: FieldPath,
    service: Service,
    owner: AllocationOwner,
    dryRun: boolean,
    taken: Taken,
  ): Promise<void> {
    if (port < this.firstPort || port > this.lastPort) {
      const range = `${this.firstPort}-${this.lastPort}`;
      const detail = `provided port is not in the valid range. The range of valid ports is ${range}`;
      throw refusal(service, invalid(path, port, detail));
    }
    if (!(await takeNamed(this.ports, String(port), owner, dryRun, taken))) {
      throw refusal(service, invalid(path, port, 'provided port is already allocated'));
    }
  }
}

/** Allocates a free name; a dry run only returns one. Undefined if there is none. */
async function anyName(
  pool: NamePool,
  from: Allocations,
  owner: AllocationOwner,
  dryRun: boolean,
  taken: Taken,
): Promise<string | undefined> {
  if (dryRun) {
    const name = await pool.findAny(owner, taken.shown);
    if (name !== undefined) taken.shown.add(name);
    return name;
  }
  const own = taken.allocations.filter((one) => one.from === from).map(({ allocation }) => allocation.name);
  const allocation = await pool.takeAny(owner, new Set([...own, ...taken.held]));
  if (allocation === undefined) return undefined;
  taken.allocations.push({ from, allocation });
  return allocation.name;
}

async function takeNamed(
  from: Allocations,
  name: string,
  owner: AllocationOwner,
  dryRun: boolean,
  taken: Taken,
): Promise<boolean> {
  if (taken.allocations.some((t) => t.from === from && t.allocation.name === name)) return false;
  if (dryRun) return !(await from.isTaken(name, owner));
  const allocation = await from.take(name, owner);
  if (allocation === undefined) return false;
  taken.allocations.push({ from, allocation });
  return true;
}

async function undoAll(taken: Taken): Promise<void> {
  for (const { from, allocation } of taken.allocations) await from.undo(allocation);
  taken.allocations.length = 0;
}

function refusal(service: Service, error: FieldError): Error {
  return invalidError({ group: '', kind: 'Service' }, service.metadata.name ?? '', [error]);
}

function full(message: string): Error {
  return statedError(message);
}

function parsePortRange(text: string): [number, number] {
  const match = /^(\d{1,5})-(\d{1,5})$/.exec(text);
  const first = Number(match?.[1]);
  const last = Number(match?.[2]);
  if (match === null || first < 1 || last > 65535 || first > last) {
    throw new Error(`${JSON.stringify(text)} is not a range of ports`);
  }
  return [first, last];
}
