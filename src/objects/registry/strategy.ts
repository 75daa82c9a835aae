import type { ApiObject } from '../../base/machinery/api-object.js';
import type { FieldError } from '../../base/machinery/field-error.js';
import type { RequestContext } from '../../base/machinery/request-context.js';

/** Options of a delete request (specification 3, meta/v1 DeleteOptions), decoded and checked. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly preconditions?: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined };
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan' | undefined;
  readonly orphanDependents?: boolean | undefined;
  readonly dryRun: boolean;
  /** Whether the client wants to remove an unreadable object; deleting a readable one is then refused (409). */
  readonly onlyUnreadable?: boolean;
  /** Whether a garbage collector runs that does the work finalizers leave to it. Default false. */
  readonly garbageCollector?: boolean;
}

/** Completes the allocations (addresses, ports) of a write once the outcome of the write is known. */
export interface Reservation {
  /** The object was written. */
  commit(): Promise<void>;
  /**
   * The object was certainly not written, or this is a dry run: gives back the allocations. Neither function is called
   * while the outcome is unknown: then everything stays allocated until a repair determines it.
   */
  rollback(): Promise<void>;
}

/**
 * The special rules of a kind. The store calls the functions in the order of this interface. Every one is optional, and
 * pure unless its comment says otherwise. A function may change its arguments only where it says "may change".
 */
export interface Strategy<T extends ApiObject = ApiObject> {
  /** Returns the faults of a name; default: those of an RFC 1123 subdomain. `prefix` is set for `generateName`. */
  validateName?(name: string, prefix: boolean): string[];

  /**
   * Fills in defaults; may change `object`. Called on every decoded body and every patch result, and on objects that
   * were stored before `defaultsRevision` was raised.
   */
  applyDefaults?(object: T): void;

  /**
   * Prepares what the rules of the kind need, if that takes long. Awaited before each write; undefined: nothing to do.
   */
  prepareRules?(): Promise<void> | undefined;

  /**
   * Checks whether the user may write this object, beyond the authorization of the request: throws a StatusError to
   * refuse. Runs after the defaults and before validation. `old` is the live object, undefined for a new one.
   */
  authorizeWrite?(context: RequestContext, object: T, old: T | undefined): Promise<void>;

  /** Clears fields that a client may not set, and sets first values (status, generation); may change `object`. */
  prepareForCreate?(context: RequestContext, object: T): void;

  /** Validates a new object, except for its metadata. */
  validate?(context: RequestContext, object: T): FieldError[];

  /** Allocates from shared ranges once the object is valid and admitted; may change `object`. */
  reserveForCreate?(context: RequestContext, object: T, dryRun: boolean): Promise<Reservation | undefined>;

  /** Carries over fields that a client may not change; may change `object`. `old` is the live object. */
  prepareForUpdate?(context: RequestContext, object: T, old: T): void;

  /** Validates a changed object, except for its metadata. */
  validateUpdate?(context: RequestContext, object: T, old: T): FieldError[];

  reserveForUpdate?(context: RequestContext, object: T, old: T, dryRun: boolean): Promise<Reservation | undefined>;

  /** Called when the object is gone from storage; frees its allocations. */
  afterDelete?(object: T): Promise<void>;

  /** Messages for `Warning` headers about a written object. */
  warnings?(context: RequestContext, object: T, old: T | undefined): string[];

  /**
   * Grace period in seconds for a delete, or undefined for kinds that are removed at once. With a period above zero the
   * object stays with a deletionTimestamp until someone deletes it with zero.
   */
  gracePeriodSeconds?(object: T, options: DeleteOptions): number | undefined;

  /** Refuses the deletion of certain objects: throws a StatusError. */
  checkDelete?(object: T): void;

  /** May change `object` after it received its deletionTimestamp (namespaces turn Terminating). */
  prepareForDelete?(context: RequestContext, object: T): void;

  /** True while the object must stay although no finalizer holds it (namespaces and their spec.finalizers). */
  deletionBlocked?(object: T): boolean;
}

/** The parts of a strategy that are settings, not functions. */
export interface StrategyOptions<T extends ApiObject = ApiObject> {
  /** Whether a PUT to a free name creates the object. Default false. */
  readonly allowCreateOnUpdate?: boolean;
  /** Whether a PUT without resourceVersion overwrites any state. Default true. */
  readonly allowUnconditionalUpdate?: boolean;
  /** Whether the status can be written only through the status subresource. Default: whether the kind serves one. */
  readonly statusIsolated?: boolean;
  /**
   * The part whose change raises `metadata.generation`. `spec` compares `object.spec`; undefined: the kind has no
   * generation.
   */
  readonly generation?: 'spec' | ((object: T) => unknown);
  /**
   * The default fate of dependents where a garbage collector runs. `orphaned`: they are kept unless a delete says
   * otherwise. `none`: the kind has no dependents, whatever a delete says. Undefined: they are deleted unless a delete
   * says otherwise.
   */
  readonly dependents?: 'orphaned' | 'none';
  /** The warning for a delete that leaves the fate of dependents open. Default: none. */
  readonly orphanWarning?: string;
  /**
   * Whether finalizers may be names without a prefix, as in kinds that do not follow the rules of the core group:
   * definitions and what they define, leases, webhook configurations and others. Default false.
   */
  readonly plainFinalizers?: boolean;
  /** Whether a delete that removes the object returns the object instead of a Status. */
  readonly returnsDeletedObject?: boolean;
}
