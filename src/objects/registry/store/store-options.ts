import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { StoredObject, Write, WriteAnswer } from '../../../storage/storage.interface.js';
import type { DeleteOptions } from '../strategy.js';
import type { UpdateRules } from '../subresource-definition.js';
import type { VersionedText } from './object-codec.js';

/** Validating admission, given by the handler: throws to refuse the write. For a delete it runs both phases. */
export type ValidateAdmission = (object: ApiObject | undefined, old: ApiObject | undefined) => Promise<void>;

/**
 * Writes an object together with others (charges of quotas), in one transaction. Returns the result for the object.
 * Throws a StatusError when the others don't allow the write.
 */
export type ObjectWriter = (write: Write) => Promise<WriteAnswer>;

export interface CreateOptions {
  readonly dryRun: boolean;
  readonly validate: ValidateAdmission;
  /**
   * Returns how to write the object that was validated last. If unset, or if it returns undefined, the object is
   * written by itself.
   */
  readonly writer?: (() => ObjectWriter | undefined) | undefined;
}

export interface StoreUpdateOptions {
  readonly dryRun: boolean;
  readonly validate: ValidateAdmission;
  /**
   * Returns how to write the object that was validated last. If unset, or if it returns undefined, the object is
   * written by itself.
   */
  readonly writer?: (() => ObjectWriter | undefined) | undefined;
  /** Set for writes through a subresource with rules of its own. */
  readonly subresource?: UpdateRules | undefined;
  /** Whether to create a missing object whatever the kind allows, as apply does. */
  readonly forceAllowCreate?: boolean;
  /**
   * The live object in the stored version, for kinds with an external converter. Left out by control loops, which write
   * an object in the version in which it is stored.
   */
  readonly converted?: ((live: ApiObject) => Promise<ApiObject>) | undefined;
  /**
   * Makes the wanted object, in the stored version, from the live one (undefined if it does not exist). Called again
   * when another writer came first, so it must not keep state. It must not change the live object.
   */
  readonly transform: (live: ApiObject | undefined) => Promise<ApiObject> | ApiObject;
}

export interface UpdateOutcome extends VersionedText {
  readonly created: boolean;
}

/** The options of a delete by a client or a control loop, and the admission that it must pass. */
export interface StoreDeleteOptions extends DeleteOptions {
  readonly validate: ValidateAdmission;
  /** The uid of the object to delete; another object of that name counts as not found. */
  readonly uid?: string | undefined;
  /** A copy that the caller already holds, which saves a read if it is not stale. */
  readonly cachedCopy?: StoredObject | undefined;
}

export interface DeleteOutcome {
  /** Whether the object is gone, or would be after a dry run. Otherwise finalizers or a grace period hold it. */
  readonly removed: boolean;
  readonly object: ApiObject;
  readonly text: VersionedText;
}

export interface StoreOptions {
  /**
   * Whether objects are created only in namespaces that exist and are not being deleted, whatever the caller has in
   * memory, so that no object outlives its namespace. Left out for objects that are written before any namespace
   * exists.
   */
  readonly inLiveNamespaces?: boolean;
}
