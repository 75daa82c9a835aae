import type { SelectionPredicate } from './selection-predicate.js';

/**
 * Where an object lives. `resource` is the storage name of a kind: `<plural>` for the core group and
 * `<plural>.<group>` for named groups; `namespace` is the empty string for cluster-scoped objects.
 */
export interface StorageKey {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * One object at one version. `json` is exactly the text that was written (never re-encoded) and carries no
 * resourceVersion: the version beside it is the truth.
 */
export interface StoredObject {
  readonly key: StorageKey;
  readonly uid: string;
  readonly resourceVersion: bigint;
  readonly json: string;
}

/** Conditions of the caller on the live object; a mismatch is `PreconditionFailed` and never retried. */
export interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: bigint | undefined;
}

/** Which objects a list or watch is about. No `namespace` means all namespaces; `name` narrows to one object. */
export interface Scope {
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** Last key already returned; the next page starts right behind it in (namespace, name) byte order. */
export interface ListPosition {
  readonly namespace: string;
  readonly name: string;
}

export interface ListQuery extends Scope {
  /** Exact version to list at. Unset: the newest committed version when the query runs. */
  readonly at?: bigint | undefined;
  /**
   * Without `at`: any version from this one on will do, and the store answers with what it has at hand (0: whatever
   * that is). Unset: nothing older than the newest version at the time of the call. One from the future is waited for,
   * then refused with `TooLargeVersion`.
   */
  readonly notOlderThan?: bigint | undefined;
  readonly after?: ListPosition | undefined;
  /** Most objects to return; unset: all. */
  readonly limit?: number | undefined;
  /** A store that has to fetch objects may end the page behind this many; one that holds them need not. */
  readonly pageSize?: number | undefined;
  /** Only these objects; they are what `limit` counts. `more` may then be true though nothing selected follows. */
  readonly select?: SelectionPredicate | undefined;
  /** Also count the objects behind the page (costs an index scan); not together with `select`. */
  readonly countRemaining?: boolean | undefined;
}

export interface ListPage {
  /** The version the page shows: the asked one, else the head at the time of the query. */
  readonly resourceVersion: bigint;
  /** In (namespace, name) byte order. */
  readonly items: readonly StoredObject[];
  /** Whether objects lie behind the page. */
  readonly more: boolean;
  /** How many, when asked for. */
  readonly remaining?: number | undefined;
}

/**
 * What an update function wants done. `write` with no live object creates it; `delete` removes the object and logs
 * `json` as its last state; `unchanged` writes nothing and answers with the live object.
 */
export type UpdateDecision =
  | { readonly kind: 'write'; readonly json: string; readonly uid: string }
  | { readonly kind: 'delete'; readonly json: string }
  | { readonly kind: 'unchanged' };

export interface CreateOptions {
  /**
   * Whether the namespace of the key must be there and not be deleted, judged in the transaction of the write: when a
   * namespace terminates, nothing is made in it behind the back of whoever empties it.
   */
  readonly inLiveNamespace?: boolean | undefined;
}

/** `inLiveNamespace` is about objects that the update creates. */
export interface UpdateOptions extends CreateOptions {
  readonly preconditions?: Preconditions | undefined;
  /** Call the update function with `undefined` instead of failing with `KeyNotFound`. */
  readonly ignoreNotFound?: boolean | undefined;
  /** A copy the caller holds already; tried first, replaced by a fresh read when it turns out stale. */
  readonly hint?: StoredObject | undefined;
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
}

/** Changes in version order, and the version up to which the subscription now is complete (`position`). */
export interface ChangeBatch {
  readonly changes: readonly Change[];
  readonly position: bigint;
}

/**
 * An ordered stream of changes. No change of the scope is skipped or doubled; one that can't keep up is ended with
 * `SlowConsumer`, one that the store can't continue (epoch change, history lost) with `Expired`.
 */
export interface ChangeSubscription {
  /** Resolves with the next batch (which may be empty: only the position moved); undefined after `close()`. */
  next(): Promise<ChangeBatch | undefined>;
  /** Calls back once when an error ends the stream, also while nobody waits for the next batch. */
  onFailure(listener: () => void): void;
  close(): void;
}

/** Where to look for objects that nobody wrote for a while. */
export interface AgedQuery {
  readonly resource: string;
  /** Only objects whose last write lies at least this long back, in milliseconds by the clock of the database. */
  readonly ageMs: number;
  /** Where an earlier page ended. */
  readonly after?: ListPosition | undefined;
  /** Most objects to look at; bounds the work of one call, whatever it finds. */
  readonly scan: number;
}

export interface AgedPage {
  /** In (namespace, name) byte order. An object that is due may be missing for as long as two rounds of log upkeep. */
  readonly items: readonly StoredObject[];
  /** Where to go on; undefined when the last object of the resource was looked at. */
  readonly next: ListPosition | undefined;
}

/**
 * Versions that may have been handed out and are not part of the history any more: those strictly between the two.
 * A fail-over to a standby that lagged leaves such a gap. Nothing can be read at or watched from a version in it.
 */
export interface LostVersions {
  readonly after: bigint;
  readonly until: bigint;
}

/** Injection token of the {@link Storage} that requests are answered from. */
export const STORAGE = Symbol('Storage');

/**
 * The store of all objects. Versions are one global sequence whose order is commit order: whoever sees version n has
 * every change up to n. Every method throws `StorageError` only.
 */
export interface Storage {
  /** Writes a new object; `KeyExists` when one lives there, `NoNamespace` when the options ask for one. */
  create(key: StorageKey, uid: string, json: string, options?: CreateOptions): Promise<StoredObject>;

  /**
   * The newest committed state, nothing older than what was committed when the call began; undefined when there is
   * none. `notOlderThan` allows an older state as in a list.
   */
  get(key: StorageKey, notOlderThan?: bigint): Promise<StoredObject | undefined>;

  /** One page at one version; `Expired` for an `at` below the compact revision, `TooLargeVersion` above the head. */
  list(query: ListQuery): Promise<ListPage>;

  /**
   * Reads the live object, asks `tryUpdate` what to do with it and writes that under the version it was read at;
   * starts over when another writer came between. `tryUpdate` may be called several times and must not keep state.
   * Whatever it throws ends the update and is rethrown unchanged.
   */
  guaranteedUpdate(
    key: StorageKey,
    options: UpdateOptions,
    tryUpdate: (current: StoredObject | undefined) => Promise<UpdateDecision> | UpdateDecision,
  ): Promise<UpdateResult>;

  /** Newest committed version over all resources, read from the database after the call began. */
  head(): Promise<bigint>;

  /**
   * The compact revision: the oldest version that can be listed at or watched from, because the log before it was
   * dropped. It only rises. Read from the database after the call began.
   */
  compactRevision(): Promise<bigint>;

  /** Changes of the scope with a version above `from`. `Expired` when `from` lies below the compact revision. */
  watch(scope: Scope, from: bigint): Promise<ChangeSubscription>;

  /** One page of the objects that were not written for a while: neither created nor updated. */
  aged(query: AgedQuery): Promise<AgedPage>;

  /** The newest gap of versions this process knows of; whoever resumes from memory must refuse a version in it. */
  lostVersions(): LostVersions | undefined;

  /** Cheap probe of the database; throws `Unavailable` when it does not answer or no write gets through. */
  ping(): Promise<void>;
}
