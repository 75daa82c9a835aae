import type { SelectionPredicate } from './selection-predicate.js';
import type { StorageError } from './storage-error.js';
import type { StorageKey } from './storage-key.js';

/**
 * One object at one version. `json` is exactly the text that was written (never re-encoded) and contains no
 * resourceVersion, which is in the property `resourceVersion`.
 */
export interface StoredObject {
  readonly key: StorageKey;
  readonly uid: string;
  readonly resourceVersion: bigint;
  readonly json: string;
  /** Set when the object's encryption is not the one that a write would use now. */
  readonly isOutdated?: true;
}

/**
 * A plain copy of the object. Objects of the watch cache compute some properties, which spreading the objects or
 * sending them to threads would lose.
 */
export function plainObject({ key, uid, resourceVersion, json }: StoredObject): StoredObject {
  return { key, uid, resourceVersion, json };
}

/** Conditions of the caller on the live object; a mismatch is `PreconditionFailed` and never retried. */
export interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: bigint | undefined;
}

/** The objects of a list or watch. No `namespace` means all namespaces; `name` narrows to one object. */
export interface ListScope {
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** Which changes a watch receives. */
export interface WatchScope extends ListScope {
  /**
   * Changes that concern no object selected before or after them may be left out. The watch may still receive changes
   * that it does not want.
   */
  readonly select?: SelectionPredicate | undefined;
  /**
   * The tenant that owns the watch; undefined: the process itself. When watches must end, the slowest watch of the
   * owner with the largest backlog ends first.
   */
  readonly owner?: string | undefined;
}

/** The last key already returned. The next page starts right after it in (namespace, name) byte order. */
export interface ListPosition {
  readonly namespace: string;
  readonly name: string;
}

export interface ListQuery extends ListScope {
  /** Exact version to list at. Unset: the newest committed version when the query runs. */
  readonly at?: bigint | undefined;
  /**
   * Without `at`: the store may answer with any version from this one on that it has at hand (0: any version). Unset:
   * the page is no older than the newest version at the time of the call. A future version is waited for, then refused
   * with `TooLargeVersion`.
   */
  readonly notOlderThan?: bigint | undefined;
  readonly after?: ListPosition | undefined;
  /** The most objects to return; unset: all. */
  readonly limit?: number | undefined;
  /** A store that must fetch objects may end the page after this many; a store that holds them in memory need not. */
  readonly pageSize?: number | undefined;
  /**
   * A store that must fetch objects ends the page with the object at which the texts exceed this many bytes: for
   * readers that keep little of each object, and must not run out of memory over a page of large ones. `more` reports
   * whether objects follow.
   */
  readonly pageBytes?: number | undefined;
  /**
   * Select only these objects; `limit` counts only them. `more` may then be true although no selected object follows.
   */
  readonly select?: SelectionPredicate | undefined;
  /**
   * Also count the objects after the page (costs an index scan); not together with `select`. `few`: the number may be
   * missing where counting takes long, until it is known.
   */
  readonly countRemaining?: boolean | 'few' | undefined;
}

/** A range of bytes within a larger buffer; the bytes never change. */
export interface ByteRange {
  readonly source: Buffer;
  readonly start: number;
  readonly end: number;
}

/**
 * A cache of encoded forms of objects in memory, such as protobuf, so that the next list need not parse the texts
 * again. A form is found by its identity and must depend on the state of the object alone.
 */
export interface KeptForms {
  /** Returns a form of the object that {@link keep} stored, if it is still cached. */
  find(object: StoredObject, form: object): ByteRange | undefined;
  /**
   * Stores a copy of a form. The object must be one that other requests receive as well, otherwise the form is never
   * found. Returns undefined when the form is too long or memory is short.
   */
  keep(object: StoredObject, form: object, bytes: Uint8Array): ByteRange | undefined;
}

/** A state of an object that lists share. */
export interface SharedObject {
  readonly object: StoredObject;
  readonly forms: KeptForms;
}

export interface ListPage {
  /** The version that the page shows: the requested one, otherwise the head at the time of the query. */
  readonly resourceVersion: bigint;
  /** In (namespace, name) byte order. */
  readonly items: readonly StoredObject[];
  /** Whether objects follow the page. */
  readonly more: boolean;
  /** How many objects follow, if requested. */
  readonly remaining?: number | undefined;
  /** Set when the items are objects in memory that other lists share, so that forms made from them can be cached. */
  readonly forms?: KeptForms | undefined;
}

/** The object that defines a kind, as it was when objects of the kind were created. */
export interface Definer {
  /** Storage name of the resource of the definition, which has no namespace. */
  readonly resource: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * The resource in which the clean-up of a definition records that it has begun: one object named after the definition's
 * uid. From then on no object can be created under the definition. No API shows this record.
 */
export const endedDefinitions = 'endeddefinitions.internal';

/**
 * A single change with its own precondition: `expected` is the version that the object must have; null: the object must
 * not exist.
 */
export interface Write {
  readonly op: 'create' | 'update' | 'delete';
  readonly key: StorageKey;
  readonly uid: string;
  readonly expected: bigint | null;
  readonly json: string;
  /** Text of the object at the version `expected`, if the writer knows it. */
  readonly previousJson: string | undefined;
  /** Whether a create also needs a namespace that exists and is not being deleted. */
  readonly inLiveNamespace?: boolean | undefined;
  /** A definition that a create also needs; its clean-up must not have begun. */
  readonly definedBy?: Definer | undefined;
}

/** The new version, or the committed state that violated the precondition. */
export type WriteAnswer =
  | { readonly kind: 'written'; readonly resourceVersion: bigint }
  | { readonly kind: 'refused'; readonly current: StoredObject | undefined };

/**
 * The result of one of several writes that are made together: `withdrawn` was not made because another one was refused.
 * Its own precondition held, or was not checked.
 */
export type TiedWriteAnswer = WriteAnswer | { readonly kind: 'withdrawn' };

/** The most writes that can be made together. */
export const mostTiedWrites = 250;

/**
 * The decision of an update function. `write` with no live object creates it; `delete` removes the object and logs
 * `json` as its last state; `unchanged` writes nothing and returns the live object. `written` means that the function
 * itself has just written the object, together with others; `again` means that it tried to write and lost to `current`.
 */
export type UpdateDecision =
  | { readonly kind: 'write'; readonly json: string; readonly uid: string }
  | { readonly kind: 'delete'; readonly json: string }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'written'; readonly json: string; readonly uid: string; readonly resourceVersion: bigint }
  | { readonly kind: 'again'; readonly current: StoredObject | undefined };

export interface StorageCreateOptions {
  /**
   * Whether the namespace of the key must exist and not be in deletion. This is checked in the transaction of the
   * write, so the process that empties a terminating namespace can't miss an object.
   */
  readonly inLiveNamespace?: boolean | undefined;
  /**
   * The definition of the kind, which must exist with its clean-up not begun. This is checked in the same way, so the
   * clean-up finds every object.
   */
  readonly definedBy?: Definer | undefined;
}

/** `inLiveNamespace` and `definedBy` apply to objects that the update creates. */
export interface UpdateOptions extends StorageCreateOptions {
  readonly preconditions?: Preconditions | undefined;
  /** Call the update function with `undefined` instead of failing with `KeyNotFound`. */
  readonly ignoreNotFound?: boolean | undefined;
  /** A copy that the caller already holds. It is tried first, and replaced by a fresh read if it turns out stale. */
  readonly cachedCopy?: StoredObject | undefined;
}

export interface UpdateResult {
  readonly outcome: 'written' | 'deleted' | 'unchanged';
  /** The object as written, as deleted (with the version of the deletion), or as found. */
  readonly object: StoredObject;
}

/** One entry of the log. Instances are shared by every subscription of a process: never mutate one. */
export interface Change {
  readonly type: 'create' | 'update' | 'delete';
  readonly key: StorageKey;
  readonly uid: string;
  readonly resourceVersion: bigint;
  /** State after the change; for a delete the full last state. */
  readonly json: string;
  /** State before the change; unset for a create. */
  readonly previousJson: string | undefined;
  /**
   * Set when the states can't be decrypted: they are missing, and subscriptions to the resource end with this error.
   */
  readonly unreadable?: StorageError;
}

/** Changes in version order, and the version up to which the subscription is now complete (`position`). */
export interface ChangeBatch {
  readonly changes: readonly Change[];
  readonly position: bigint;
}

/**
 * An ordered stream of changes. No change of the scope is skipped or doubled. A stream that can't keep up ends with
 * `SlowConsumer`; one that the store can't continue (epoch change, history lost) ends with `Expired`.
 */
export interface ChangeSubscription {
  /**
   * Resolves with the next batch, which may be empty when only the position moved; resolves with undefined after
   * `close()`.
   */
  next(): Promise<ChangeBatch | undefined>;
  /**
   * Passes every batch to `take` from now on, instead of {@link next}: many subscriptions cost less that way. Resolves
   * after `close()`, rejects with the error that ends the stream or that `take` throws. Positions without changes need
   * not be passed: see {@link quietPosition}. Where this method is missing, use `next` for the same purpose; see
   * {@link followChanges}.
   */
  follow?(take: TakeBatch): Promise<void>;
  /**
   * The version up to which the stream is complete and all its changes have been fetched; undefined while changes are
   * pending. {@link next} reports a position without changes only after a while.
   */
  readonly quietPosition?: bigint | undefined;
  /**
   * Makes the stream report positions without delay until `version` is reached. A stream that is followed may report
   * none of its own accord before.
   */
  hasten?(version: bigint): void;
  /** Calls back once when an error ends the stream, even while nobody waits for the next batch. */
  onFailure(listener: () => void): void;
  close(): void;
}

/** Receives a batch. The next batch follows when the returned promise has resolved. */
export type TakeBatch = (batch: ChangeBatch) => Promise<void> | undefined;

/** See `ChangeSubscription.follow`. */
export async function followChanges(subscription: ChangeSubscription, take: TakeBatch): Promise<void> {
  if (subscription.follow !== undefined) return subscription.follow(take);
  for (;;) {
    const batch = await subscription.next();
    if (batch === undefined) return;
    await take(batch);
  }
}

/** A query for objects that have not been written for a while. */
export interface AgedQuery {
  readonly resource: string;
  /** Only objects whose last write is at least this old, in milliseconds by the clock of the database. */
  readonly ageMs: number;
  /** Where to continue: the `next` of the previous page. */
  readonly after?: ListPosition | undefined;
  /** The most objects to read: limits the work of one call, however many objects match. */
  readonly scan: number;
}

export interface AgedPage {
  /**
   * The matching objects, in (namespace, name) byte order. An object that is due may be missing for up to two rounds of
   * log upkeep.
   */
  readonly items: readonly StoredObject[];
  /** Where to continue; undefined after the last object of the resource. */
  readonly next: ListPosition | undefined;
}

/**
 * Versions that may have been assigned but no longer belong to the history: those strictly between the two. A fail-over
 * to a standby that lagged leaves such a gap. Nothing can be read or watched from a version in it.
 */
export interface LostVersions {
  readonly after: bigint;
  readonly until: bigint;
}

/** Estimates about a resource, taken from memory. */
export interface StorageUsage {
  /**
   * How many objects are in the namespace of the key ('' for all), if the cache has them. Otherwise how many the
   * resource had when they were last counted; undefined if they never were.
   */
  readonly objects: number | undefined;
  /** Whether its lists are served from memory. */
  readonly isInMemory: boolean;
  /** Open watches that receive a change of the object. */
  readonly watchers: number;
}

/** Injection token of the {@link Storage} that serves requests. */
export const STORAGE = Symbol('Storage');

/**
 * The store of all objects. Versions are one global sequence in commit order: a reader that sees version n has every
 * change up to n. Every method throws only `StorageError`.
 */
export interface Storage {
  /**
   * Writes a new object. `KeyExists` when the key has an object already; `NoNamespace` or `NoDefinition` when the
   * options require a live namespace or a definition and there is none.
   */
  create(key: StorageKey, uid: string, json: string, options?: StorageCreateOptions): Promise<StoredObject>;

  /**
   * The newest committed state, including every write committed before the call; undefined when the object does not
   * exist. `notOlderThan` allows an older state, as in a list.
   */
  get(key: StorageKey, notOlderThan?: bigint): Promise<StoredObject | undefined>;

  /**
   * The state of the object with this version, if it is in memory, and the cache for its forms. Undefined says nothing
   * about the object.
   */
  shared?(key: StorageKey, resourceVersion: bigint): SharedObject | undefined;

  /** One page at one version; `Expired` for an `at` below the compact revision, `TooLargeVersion` above the head. */
  list(query: ListQuery): Promise<ListPage>;

  /**
   * Reads the live object, calls `tryUpdate` to decide what to do with it, and writes the result under the version it
   * was read at. Retries when another write happened in between. `tryUpdate` may be called several times and must not
   * keep state. Its errors end the update and are rethrown unchanged.
   */
  guaranteedUpdate(
    key: StorageKey,
    options: UpdateOptions,
    tryUpdate: (current: StoredObject | undefined) => Promise<UpdateDecision> | UpdateDecision,
  ): Promise<UpdateResult>;

  /**
   * Makes all of the writes in one transaction, under versions in their order, or none of them. Returns a result for
   * each. At most {@link mostTiedWrites}, each with another key.
   */
  writeTogether(writes: readonly Write[]): Promise<readonly TiedWriteAnswer[]>;

  /** Newest committed version over all resources, read from the database after the call began. */
  head(): Promise<bigint>;

  /**
   * The compact revision: the oldest version that can be listed at or watched from, because the log before it was
   * dropped. It only rises. Read from the database after the call began.
   */
  compactRevision(): Promise<bigint>;

  /** Changes of the scope with a version above `from`. `Expired` when `from` lies below the compact revision. */
  watch(scope: WatchScope, from: bigint): Promise<ChangeSubscription>;

  /** One page of the objects that have not been created or updated for a while. */
  aged(query: AgedQuery): Promise<AgedPage>;

  /**
   * The newest gap of versions that this process knows. A caller that resumes from memory must refuse a version inside
   * the gap.
   */
  lostVersions(): LostVersions | undefined;

  /**
   * Estimates about a resource, taken from memory without I/O. An empty namespace or name in the key stands for all
   * namespaces or an unknown name.
   */
  usage?(key: StorageKey): StorageUsage;

  /** Frees the memory held for a resource that is no longer served. Its open watches continue from the log. */
  forget?(resource: string): void;

  /** Cheap probe of the database; throws `Unavailable` when it does not respond or no write succeeds. */
  ping(): Promise<void>;
}
