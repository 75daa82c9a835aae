import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { AllocatedNames } from '../../../objects/registry/allocation/allocated-names.js';
import type { FoundAllocation } from '../../../objects/registry/allocation/allocation.js';
import { isStoredKind } from '../../../objects/registry/resource-definition.js';
import type { ResourceRegistry, StoredServedResource } from '../../../objects/registry/resource-registry.js';
import { parseStored } from '../../../objects/registry/store/object-codec.js';
import { mostPageBytes } from '../../../storage/page-size.js';
import type { ListQuery, Storage } from '../../../storage/storage.interface.js';
import type { StorageKey } from '../../../storage/storage-key.js';
import type { ControlLoop } from '../control-loop.js';
import { EventRecorder } from '../event-recorder.js';

export interface AllocationRepairOptions {
  readonly storage: Storage;
  readonly registry: ResourceRegistry;
  readonly logger: Logger;
  readonly timers: Timers;
  /** Time between two rounds in milliseconds. Default 3 minutes. */
  readonly intervalMs?: number | undefined;
}

const defaultIntervalMs = 3 * 60_000;
/** An allocation is freed after this many consecutive rounds without an owner. */
const roundsUntilFreed = 3;
const pageSize = 500;

/** An object that uses a name. */
interface Holder {
  readonly key: StorageKey;
  readonly object: ApiObject;
}

/** How many times an allocation was found without an owner, and in which state. */
interface Suspicion {
  readonly resourceVersion: bigint;
  readonly rounds: number;
}

/**
 * Compares allocations (addresses, node ports) with the objects that use them, and repairs both directions. An
 * allocation is left behind when a process dies or a write ends with an unknown outcome. One is missing when somebody
 * deletes it or restores an incomplete backup.
 *
 * - An allocation whose owner is absent or does not use the name is freed after three consecutive rounds have found the
 *   same allocation unchanged. A create allocates its names before its object exists, but no write takes that long, and
 *   a new user of an allocation changes it.
 * - A name without an allocation is allocated for the object that uses it.
 * - A name used by two objects is reported by an event on the one without the allocation: only the owner can decide.
 */
export class AllocationRepairController implements ControlLoop {
  readonly name = 'allocation-repair';
  private readonly events: EventRecorder;
  private suspicions = new Map<string, Suspicion>();
  /** Problems that were reported and still exist. */
  private reported = new Set<string>();

  constructor(private readonly options: AllocationRepairOptions) {
    this.events = new EventRecorder(options, `${this.name}-controller`);
  }

  async run(signal: AbortSignal): Promise<void> {
    // Forget earlier observations: while another process led, nobody checked between its rounds and ours.
    this.suspicions = new Map();
    this.reported = new Set();
    while (!signal.aborted) {
      await this.round(signal);
      await this.options.timers.wait(this.options.intervalMs ?? defaultIntervalMs, signal);
    }
  }

  /** Checks all allocations and all objects once. */
  async round(signal: AbortSignal): Promise<void> {
    const suspicions = new Map<string, Suspicion>();
    const reported = new Set<string>();
    for (const definition of this.options.registry.definitions()) {
      if (!isStoredKind(definition) || definition.allocatedNames === undefined) continue;
      const { group, resource, versions } = definition;
      const served = this.options.registry.findStoredResource(group, versions[0].version, resource);
      if (served === undefined) continue;
      for (const names of definition.allocatedNames) {
        if (signal.aborted) return;
        await new AllocationRound(this.options, this.events, served, names, signal).run(
          { before: this.suspicions, now: suspicions },
          { before: this.reported, now: reported },
        );
      }
    }
    this.suspicions = suspicions;
    this.reported = reported;
  }
}

interface Memory<T> {
  readonly before: T;
  readonly now: T;
}

/** One round over one kind of names. */
class AllocationRound {
  constructor(
    private readonly options: AllocationRepairOptions,
    private readonly events: EventRecorder,
    private readonly resource: StoredServedResource,
    private readonly names: AllocatedNames,
    private readonly signal: AbortSignal,
  ) {}

  async run(suspicions: Memory<Map<string, Suspicion>>, reported: Memory<Set<string>>): Promise<void> {
    // Read allocations first: an object written meanwhile is then found with its allocation, or that allocation is not
    // checked in this round.
    const allocations = new Map<string, FoundAllocation>();
    for await (const allocation of this.names.allocations.all()) allocations.set(allocation.name, allocation);
    const held = await this.holders();
    for (const allocation of allocations.values()) {
      if (this.signal.aborted) return;
      await this.checkAllocation(allocation, held.get(allocation.name) ?? [], suspicions);
    }
    for (const [name, holders] of held) {
      for (const holder of holders) {
        if (this.signal.aborted) return;
        const allocation = allocations.get(name);
        if (allocation === undefined || !isOwner(allocation, holder)) await this.checkHolder(name, holder, reported);
      }
    }
  }

  /** The objects by the names that they use. */
  private async holders(): Promise<Map<string, Holder[]>> {
    const held = new Map<string, Holder[]>();
    let query: ListQuery = {
      resource: this.resource.storageResource,
      limit: pageSize,
      pageBytes: mostPageBytes,
    };
    for (;;) {
      const page = await this.options.storage.list(query);
      for (const item of page.items) {
        const holder = { key: item.key, object: parseStored(this.resource, item) };
        for (const name of this.names.namesOf(holder.object)) {
          const others = held.get(name);
          if (others === undefined) held.set(name, [holder]);
          else others.push(holder);
        }
      }
      const last = page.items.at(-1);
      if (!page.more || last === undefined) return held;
      query = { ...query, at: page.resourceVersion, after: { namespace: last.key.namespace, name: last.key.name } };
    }
  }

  private async checkAllocation(
    allocation: FoundAllocation,
    holders: readonly Holder[],
    { before, now }: Memory<Map<string, Suspicion>>,
  ): Promise<void> {
    const { name, owner, resourceVersion } = allocation;
    if (owner === undefined || holders.some((holder) => isOwner(allocation, holder))) return;
    const id = `${this.names.what}/${name}`;
    const known = before.get(id);
    const rounds = known?.resourceVersion === resourceVersion ? known.rounds + 1 : 1;
    const isDue = rounds >= roundsUntilFreed;
    if (!isDue || !(await this.names.allocations.free(allocation))) {
      now.set(id, { resourceVersion, rounds });
      return;
    }
    const service = `${owner.namespace}/${owner.name}`;
    this.options.logger.warn(`a ${this.names.what} without an owner was freed`, { value: name, for: service });
  }

  /** Repairs an object that seems to use a name without an allocation for it, after reading both again. */
  private async checkHolder(name: string, { key }: Holder, { before, now }: Memory<Set<string>>): Promise<void> {
    const { allocations, namesOf, what, reasonPrefix } = this.names;
    const allocation = await allocations.find(name);
    const stored = await this.options.storage.get(key);
    if (stored === undefined) return;
    const holder = { key, object: parseStored(this.resource, stored) };
    if (![...namesOf(holder.object)].includes(name)) return;
    const fields = { value: name, for: `${key.namespace}/${key.name}` };
    if (allocation === undefined) {
      if (!(await allocations.restore(name, { namespace: key.namespace, name: key.name, uid: stored.uid }))) return;
      this.options.logger.warn(`a ${what} that was in use without being allocated is allocated again`, fields);
      await this.report(holder, `${reasonPrefix}NotAllocated`, `${what} ${name} was not allocated; it is now`);
      return;
    }
    if (isOwner(allocation, holder)) return;
    const id = `${stored.uid}/${what}/${name}`;
    now.add(id);
    if (before.has(id)) return;
    this.options.logger.error(`a ${what} is in use twice`, { ...fields, allocatedTo: ownerText(allocation) });
    const text = `${what} ${name} is allocated to ${ownerText(allocation)}; please recreate this ${this.resource.definition.singular}`;
    await this.report(holder, `${reasonPrefix}AlreadyAllocated`, text);
  }

  private report({ object }: Holder, reason: string, message: string): Promise<void> {
    return this.events.warn(object, reason, message, this.signal);
  }
}

function isOwner({ owner }: FoundAllocation, { key }: Holder): boolean {
  return owner !== undefined && owner.namespace === key.namespace && owner.name === key.name;
}

function ownerText({ owner }: FoundAllocation): string {
  return owner === undefined ? 'something else' : `${owner.namespace}/${owner.name}`;
}
