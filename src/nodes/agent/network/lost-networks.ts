import { promises as fs } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { join } from 'node:path';
import { errorText } from '../../../base/machinery/startup-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import type { MachineNetworks } from './machine-networks.js';
import { networkName } from './network-configuration.js';
import type { PodNetwork } from './pod-network.js';

export interface LostNetworksDependencies {
  readonly network: Pick<PodNetwork, 'ownRanges'>;
  readonly runtime: Pick<ContainerRuntime, 'listSandboxes'>;
  readonly machine: Pick<MachineNetworks, 'namespaces' | 'addresses' | 'unused' | 'removeNamespace' | 'release'>;
  /** Where the plugin records addresses in use; undefined: in its default folder. */
  readonly addressesFolder: string | undefined;
  readonly timers: Pick<Timers, 'elapsed'>;
  readonly logger: Logger;
}

/** The folder in which the plugin `host-local` records addresses by default. */
const usualFolder = '/var/lib/cni/networks';
/** A sandbox has its address before the runtime lists it; that long it may take on a busy machine. */
const lostAfterMs = 300_000;
/** A namespace is empty for a moment before its interfaces are made. */
const emptyLooksMs = 600_000;
const sandboxId = /^[A-Za-z0-9][\w.-]*$/;

/**
 * Networks of sandboxes that the runtime has lost: one that is killed while it makes a sandbox no longer knows it, and never gives back its
 * network namespace and its address. Only the network that the agent has configured itself is looked at, and no namespace that a process
 * is in is removed.
 */
export class LostNetworks {
  /** When an address of a sandbox that the runtime does not list was first seen, by the id of the sandbox. */
  private readonly unknownSince = new Map<string, number>();
  /** The empty namespaces at the last look for them. */
  private emptyBefore: ReadonlySet<string> = new Set();
  private emptyDueAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly dependencies: LostNetworksDependencies) {}

  /** Removes networks whose sandboxes have been unknown for five minutes, and namespaces that have been empty for ten. */
  async look(): Promise<void> {
    const { network, timers } = this.dependencies;
    if (network.ownRanges.length === 0) return;
    await this.lookAtAddresses();
    if (timers.elapsed() < this.emptyDueAt) return;
    this.emptyDueAt = timers.elapsed() + emptyLooksMs;
    await this.lookForEmpty();
  }

  private async lookAtAddresses(): Promise<void> {
    const { runtime, machine } = this.dependencies;
    const records = await this.ownRecords();
    const known = new Set(records.size === 0 ? [] : (await runtime.listSandboxes()).map(({ id }) => id));
    for (const id of this.unknownSince.keys()) {
      if (known.has(id) || !records.has(id)) this.unknownSince.delete(id);
    }
    const lost = [...records].filter(([id]) => !known.has(id) && this.isLost(id));
    if (lost.length === 0) return;
    const namespaces = new Map<string, readonly string[]>();
    for (const name of await machine.namespaces()) namespaces.set(name, (await machine.addresses(name)) ?? []);
    for (const [id, addresses] of lost) await this.attempt(() => this.remove(id, addresses, namespaces));
  }

  /** A runtime that is killed before it has made the interfaces of a sandbox leaves a namespace that nothing names. */
  private async lookForEmpty(): Promise<void> {
    const { machine, logger } = this.dependencies;
    const empty = new Set<string>();
    for (const name of await machine.unused(await machine.namespaces())) {
      if ((await machine.addresses(name))?.length !== 0) continue;
      if (!this.emptyBefore.has(name)) {
        empty.add(name);
        continue;
      }
      await this.attempt(async () => {
        await machine.removeNamespace(name);
        logger.info('an empty network namespace of a lost sandbox is removed', { namespace: name });
      });
    }
    this.emptyBefore = empty;
  }

  /** One that can't be removed now does not hold up the others. */
  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.dependencies.logger.warn('the network of a lost sandbox could not be removed', { error: errorText(error) });
    }
  }

  private isLost(id: string): boolean {
    const now = this.dependencies.timers.elapsed();
    const since = this.unknownSince.get(id) ?? now;
    this.unknownSince.set(id, since);
    return now - since >= lostAfterMs;
  }

  private async remove(
    id: string,
    addresses: readonly string[],
    namespaces: ReadonlyMap<string, readonly string[]>,
  ): Promise<void> {
    const { machine, network, logger } = this.dependencies;
    const found = [...namespaces].find(([, own]) => own.some((address) => addresses.includes(address)));
    if (found !== undefined) {
      const [name] = found;
      // What still runs there ends with its pod.
      if ((await machine.unused([name])).length === 0) return;
      await machine.removeNamespace(name);
    }
    await machine.release(id, network.ownRanges);
    logger.info('the network of a sandbox that the runtime has lost is removed', { sandbox: id, addresses });
  }

  /** The recorded addresses of the node's ranges, by the id of the sandbox. */
  private async ownRecords(): Promise<Map<string, string[]>> {
    const { network, addressesFolder = usualFolder } = this.dependencies;
    const records = new Map<string, string[]>();
    const ranges = new BlockList();
    for (const range of network.ownRanges) {
      const [address = '', prefix] = range.split('/');
      ranges.addSubnet(address, Number(prefix), familyOf(address));
    }
    const folder = join(addressesFolder, networkName);
    for (const address of await fs.readdir(folder).catch(() => [])) {
      if (isIP(address) === 0 || !ranges.check(address, familyOf(address))) continue;
      const [id = ''] = (await fs.readFile(join(folder, address), 'utf8').catch(() => '')).split(/\r?\n/);
      if (sandboxId.test(id)) records.set(id, [...(records.get(id) ?? []), address]);
    }
    return records;
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
