import { randomUUID } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { type Clock, formatTime } from '../../base/machinery/clock.js';
import type { Storage, StoredObject } from '../../storage/storage.interface.js';
import { StorageError } from '../../storage/storage-error.js';
import type { StorageKey } from '../../storage/storage-key.js';

/** Storage resource of the leases; no API serves it. */
export const servingLeaseResource = 'serverleases.internal';

/** The address at which a process serves the API. */
export interface ServingAddress {
  readonly ip: string;
  readonly port: number;
}

/** The stored lease of one serving process. */
interface ServerLease {
  readonly kind: 'ServerLease';
  readonly apiVersion: 'internal/v1';
  readonly metadata: { readonly name: string; readonly uid: string; readonly creationTimestamp: string };
  readonly address: ServingAddress;
  /** Different with each renewal. Processes watch for a change, since clocks of several machines can't be compared. */
  readonly renewal: number;
}

interface Sight {
  readonly resourceVersion: bigint;
  readonly since: number;
}

/** A lease that is not renewed for this long has expired. */
export const leaseMs = 15_000;

/**
 * The leases of all processes that serve the API from one database. A process renews its own lease and judges the
 * others by observation: a lease that has not changed for {@link leaseMs} has lost its owner.
 */
export class ServingLeases {
  private readonly uid = randomUUID();
  private renewals = 0;
  private seen = new Map<string, Sight>();

  constructor(
    private readonly storage: Pick<Storage, 'guaranteedUpdate' | 'list'>,
    private readonly clock: Clock,
    /** Milliseconds from some fixed point; never goes back. */
    private readonly elapsed: () => number,
  ) {}

  /** Creates or renews the lease of this process. */
  async renew(address: ServingAddress): Promise<void> {
    const { uid } = this;
    this.renewals++;
    const lease: ServerLease = {
      kind: 'ServerLease',
      apiVersion: 'internal/v1',
      metadata: { name: uid, uid, creationTimestamp: formatTime(this.clock.now()) },
      address,
      renewal: this.renewals,
    };
    const write = { kind: 'write', json: JSON.stringify(lease), uid } as const;
    await this.storage.guaranteedUpdate(keyOf(uid), { ignoreNotFound: true }, () => write);
  }

  /** Removes the lease of this process. */
  async giveUp(): Promise<void> {
    await this.remove(this.uid, () => true);
  }

  /** All serving addresses, each once. Removes expired leases; `expired` is their count. */
  async survey(): Promise<{ readonly addresses: readonly ServingAddress[]; readonly expired: number }> {
    const { items } = await this.storage.list({ resource: servingLeaseResource });
    const now = this.elapsed();
    const seen = new Map<string, Sight>();
    const addresses = new Map<string, ServingAddress>();
    let expired = 0;
    for (const { key, resourceVersion, json } of items) {
      const before = this.seen.get(key.name);
      const sight = before?.resourceVersion === resourceVersion ? before : { resourceVersion, since: now };
      if (key.name !== this.uid && now - sight.since >= leaseMs) {
        await this.remove(key.name, (current) => current.resourceVersion === resourceVersion);
        expired++;
        continue;
      }
      seen.set(key.name, sight);
      const { address } = JSON.parse(json) as ServerLease;
      addresses.set(`${address.ip} ${address.port}`, address);
    }
    this.seen = seen;
    return { addresses: [...addresses.values()].sort(byFamilyPortAndIp), expired };
  }

  /** Forgets when each lease last changed: while the database was unreachable, no process could renew its lease. */
  startOver(): void {
    this.seen = new Map();
  }

  private async remove(name: string, condition: (current: StoredObject) => boolean): Promise<void> {
    try {
      await this.storage.guaranteedUpdate(keyOf(name), {}, (current) =>
        current !== undefined && condition(current) ? { kind: 'delete', json: current.json } : { kind: 'unchanged' },
      );
    } catch (error) {
      if (!(error instanceof StorageError && error.code === 'KeyNotFound')) throw error;
    }
  }
}

function keyOf(name: string): StorageKey {
  return { resource: servingLeaseResource, namespace: '', name };
}

function byFamilyPortAndIp(a: ServingAddress, b: ServingAddress): number {
  const families = Number(isIPv6(a.ip)) - Number(isIPv6(b.ip));
  if (families !== 0 || a.port !== b.port) return families || a.port - b.port;
  return a.ip < b.ip ? -1 : 1;
}
