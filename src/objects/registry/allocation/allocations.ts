import { randomUUID } from 'node:crypto';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { type Clock, formatTime } from '../../../base/machinery/clock.js';
import { Turn } from '../../../base/machinery/turns.js';
import type { ListQuery, Storage, StoredObject, UpdateDecision } from '../../../storage/storage.interface.js';
import { StorageError } from '../../../storage/storage-error.js';
import type { StorageKey } from '../../../storage/storage-key.js';
import { decodeStored, type StoredResources } from '../store/object-codec.js';
import type { AllocationRecords } from './allocated-names.js';
import type { Allocation, AllocationOwner, AllocationSurvey, FoundAllocation } from './allocation.js';

/** The kind of objects that store allocations. */
export interface AllocationKind {
  /** Resource under which allocations are stored. The name of an allocation is the allocated name. */
  readonly resource: string;
  /** Makes an allocation from bare metadata: adds kind, apiVersion and owner. */
  describe(metadata: ApiObject['metadata'], owner: AllocationOwner): ApiObject;
  /**
   * The storage key of the owner, read from the fields that `describe` wrote; undefined for an object that is not an
   * allocation of this program.
   */
  ownerOf(allocation: ApiObject): StorageKey | undefined;
  /** Whether a live owner holds the name. */
  holds(owner: ApiObject, name: string): boolean;
}

/**
 * The uid of the owner, the token of the write that made the allocation (empty if several writes rely on it), and the
 * time in milliseconds since 1970.
 */
interface Mark {
  readonly uid: string;
  readonly token: string;
  readonly at: number;
}

/**
 * The age at which an allocation has settled: longer than any write can take from its allocation to writing the owner,
 * including clock differences between machines. Only then is an allocation without its owner certainly left over.
 */
const settledAfterMs = 5 * 60_000;

const surveyPage = 500;

/** The most attempts to change an allocation. Each retry means that someone else changed it in the meantime. */
const mostTries = 5;

/**
 * Exclusive use of names (addresses, ports) by objects, across all processes: an allocation is an object that only one
 * writer can create. An allocation is made before its owner is written and taken back if that fails. When a process
 * dies in between, the allocation is left without an owner that has the name. The next writer that wants the name
 * notices this and takes the allocation over; a repair that has seen it for long enough frees it.
 *
 * Two writes under one key may allocate the same name at once. Then neither takes it back, and a later check frees it
 * if no owner has it. For the same reason, taking back and freeing never throw for a storage error.
 */
export class Allocations implements AllocationRecords {
  constructor(
    private readonly storage: Storage,
    private readonly registry: StoredResources,
    private readonly clock: Clock,
    private readonly kind: AllocationKind,
    private readonly annotation: string,
  ) {}

  /** Allocates a name; undefined when another owner has it. */
  async take(name: string, owner: AllocationOwner): Promise<Allocation | undefined> {
    for (let i = 0; i < mostTries; i++) {
      const fresh = await this.create(name, owner);
      if (fresh !== undefined) return fresh;
      const found = await this.storage.get(this.keyOf(name));
      if (found === undefined) continue;
      if (await this.isOwn(found, owner)) {
        if (await this.share(found, owner)) return { name, token: '' };
      } else if (await this.isLeftOver(found)) {
        await this.removeIf(name, (current) => current.resourceVersion === found.resourceVersion);
      } else {
        return undefined;
      }
    }
    return undefined;
  }

  /** Whether someone other than the owner has the name, without allocating it. */
  async isTaken(name: string, owner: AllocationOwner): Promise<boolean> {
    const found = await this.storage.get(this.keyOf(name));
    if (found === undefined || (await this.isOwn(found, owner))) return false;
    return !(await this.isLeftOver(found));
  }

  /** Takes back an allocation whose owner was not written. */
  async undo(allocation: Allocation): Promise<void> {
    if (allocation.token === '') return;
    await this.freeIf(allocation.name, (current) => this.markOf(current)?.token === allocation.token);
  }

  /** Frees a name that an existing owner gave up. */
  async release(name: string, uid: string): Promise<void> {
    await this.freeIf(name, (current) => {
      const mark = this.markOf(current);
      return mark?.uid === uid && mark.token !== '';
    });
  }

  /** Frees a name of an owner that is gone. */
  async releaseAll(name: string, uid: string): Promise<void> {
    await this.freeIf(name, (current) => this.markOf(current)?.uid === uid);
  }

  /**
   * Lists the names that are allocated, and those that nobody seems to use. Reads every allocation, so it is only for
   * the rare case of a full range.
   */
  async survey(): Promise<AllocationSurvey> {
    const taken = new Set<string>();
    const settled: string[] = [];
    const page = await this.storage.list({ resource: this.kind.resource });
    const turn = new Turn();
    for (const item of page.items) {
      taken.add(item.key.name);
      const mark = this.markOf(item);
      if (mark !== undefined && this.clock.now() - mark.at > settledAfterMs) settled.push(item.key.name);
      if (turn.isOver) await turn.next();
    }
    return { taken, settled };
  }

  /** Every allocation as of one version, page by page. */
  async *all(): AsyncGenerator<FoundAllocation> {
    let query: ListQuery = { resource: this.kind.resource, limit: surveyPage };
    for (;;) {
      const page = await this.storage.list(query);
      for (const item of page.items) yield this.foundAllocation(item);
      const last = page.items.at(-1);
      if (!page.more || last === undefined) return;
      query = { ...query, at: page.resourceVersion, after: { namespace: last.key.namespace, name: last.key.name } };
    }
  }

  /** The current allocation of a name. */
  async find(name: string): Promise<FoundAllocation | undefined> {
    const found = await this.storage.get(this.keyOf(name));
    return found === undefined ? undefined : this.foundAllocation(found);
  }

  /** Allocates a name for an object that already holds it. Returns false if the name has been allocated meanwhile. */
  async restore(name: string, owner: AllocationOwner): Promise<boolean> {
    return (await this.create(name, owner)) !== undefined;
  }

  /** Frees a name whose allocation has not changed and whose owner does not hold it. Returns whether it was freed. */
  async free({ name, resourceVersion, owner: key }: FoundAllocation): Promise<boolean> {
    if (key === undefined || (await this.isHeld(key, name))) return false;
    let isFreed = false;
    await this.removeIf(name, (current) => {
      isFreed = current.resourceVersion === resourceVersion;
      return isFreed;
    });
    return isFreed;
  }

  private foundAllocation(stored: StoredObject): FoundAllocation {
    const owner = this.markOf(stored) === undefined ? undefined : this.kind.ownerOf(this.parse(stored));
    return { name: stored.key.name, resourceVersion: stored.resourceVersion, owner };
  }

  private async isHeld(key: StorageKey, name: string): Promise<boolean> {
    const owner = await this.storage.get(key);
    return owner !== undefined && this.kind.holds(this.parse(owner), name);
  }

  private parse(stored: StoredObject): ApiObject {
    return decodeStored(this.registry, stored);
  }

  private async create(name: string, owner: AllocationOwner): Promise<Allocation | undefined> {
    const token = randomUUID();
    const uid = randomUUID();
    const now = this.clock.now();
    const allocation = this.kind.describe(
      {
        name,
        uid,
        creationTimestamp: formatTime(now),
        annotations: { [this.annotation]: formatMark({ uid: owner.uid, token, at: now }) },
      },
      owner,
    );
    try {
      await this.storage.create(this.keyOf(name), uid, JSON.stringify(allocation));
      return { name, token };
    } catch (error) {
      if (error instanceof StorageError && error.code === 'KeyExists') return undefined;
      throw error;
    }
  }

  /**
   * Whether an allocation is for the owner itself, or for another object to be written under the owner's key. Only one
   * of the two will be written.
   */
  private async isOwn(found: StoredObject, owner: AllocationOwner): Promise<boolean> {
    const key = this.kind.ownerOf(this.parse(found));
    if (key === undefined || key.namespace !== owner.namespace || key.name !== owner.name) return false;
    const live = await this.storage.get(key);
    return live === undefined || live.uid === owner.uid;
  }

  /**
   * Marks an allocation that two writes want for one key, so that neither takes it back. Returns false when the
   * allocation has changed.
   */
  private async share(found: StoredObject, owner: AllocationOwner): Promise<boolean> {
    let isShared = false;
    await this.change(found.key.name, (current) => {
      isShared = current.resourceVersion === found.resourceVersion;
      if (!isShared) return { kind: 'unchanged' };
      const allocation = this.parse(current);
      const mark = formatMark({ uid: owner.uid, token: '', at: this.clock.now() });
      allocation.metadata = {
        ...allocation.metadata,
        annotations: { ...allocation.metadata.annotations, [this.annotation]: mark },
      };
      return { kind: 'write', json: JSON.stringify(allocation), uid: current.uid };
    });
    return isShared;
  }

  /** Whether an allocation has settled and its owner is gone or does not hold the name. */
  private async isLeftOver(found: StoredObject): Promise<boolean> {
    const key = this.kind.ownerOf(this.parse(found));
    const mark = this.markOf(found);
    if (key === undefined || mark === undefined) return false;
    if (this.clock.now() - mark.at <= settledAfterMs) return false;
    return !(await this.isHeld(key, found.key.name));
  }

  private async freeIf(name: string, condition: (current: StoredObject) => boolean): Promise<void> {
    try {
      await this.removeIf(name, condition);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
  }

  private async removeIf(name: string, condition: (current: StoredObject) => boolean): Promise<void> {
    await this.change(name, (current) =>
      condition(current) ? { kind: 'delete', json: current.json } : { kind: 'unchanged' },
    );
  }

  private async change(name: string, decide: (current: StoredObject) => UpdateDecision): Promise<void> {
    try {
      await this.storage.guaranteedUpdate(this.keyOf(name), {}, (current) => decide(current as StoredObject));
    } catch (error) {
      if (!(error instanceof StorageError && error.code === 'KeyNotFound')) throw error;
    }
  }

  private keyOf(name: string): StorageKey {
    return { resource: this.kind.resource, namespace: '', name };
  }

  private markOf(stored: StoredObject): Mark | undefined {
    return parseMark(this.parse(stored).metadata.annotations?.[this.annotation]);
  }
}

function formatMark({ uid, token, at }: Mark): string {
  return `${uid}/${token}/${at}`;
}

function parseMark(text: string | undefined): Mark | undefined {
  const [uid, token, at] = text?.split('/') ?? [];
  return uid === undefined || token === undefined || at === undefined ? undefined : { uid, token, at: Number(at) };
}
