import type { ApiObject } from '../machinery/api-object.js';
import type { GroupKind, GroupResource, GroupVersionKind } from '../machinery/group-version.js';
import type { RequestContext } from '../machinery/request-context.js';
import type { KindType } from '../machinery/schema/index.js';
import type { AllocatedNames } from './allocation/allocated-names.js';
import type { Strategy, StrategyOptions } from './strategy.js';

export type ResourceVerb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

export const allVerbs: readonly ResourceVerb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/** One column of the Table form; `cell` gets the decoded object and the time now in milliseconds. */
export interface TableColumn<T extends ApiObject = ApiObject> {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description?: string;
  /** 0: always shown; 1: with `-o wide`. */
  readonly priority?: number;
  readonly cell: (object: T, now: number) => string | number | boolean | null;
}

/**
 * A version under which a resource is served. The first one of a definition is the stored one; the others say how to
 * get there and back without losing information.
 */
export interface ServedVersion {
  readonly version: string;
  readonly type: KindType;
  /** In place on a freshly decoded object of this version; absent when only `apiVersion` differs. */
  readonly toStored?: (object: ApiObject) => ApiObject;
  readonly fromStored?: (object: ApiObject) => ApiObject;
  /** Defaults that differ from the strategy's for this version. */
  readonly applyDefaults?: (object: ApiObject) => void;
  readonly deprecated?: { readonly warning: string; readonly removedRelease: string };
}

/** A kind of bodies under the name it is served by. */
export interface BodyKind {
  readonly kind: GroupVersionKind;
  readonly type: KindType;
}

/**
 * A subresource that reads or writes the parent object, or a virtual one with its own kind. Routes follow from which
 * functions are there.
 */
export interface SubresourceDefinition {
  readonly name: string;
  /** Kind of its body when it is not the parent's (`Scale`, `Binding`, ...). */
  readonly kind?: GroupVersionKind;
  readonly type?: KindType;
  /** Further versions of that kind with the same fields, which bodies of a virtual subresource may have as well. */
  readonly otherBodies?: readonly BodyKind[];
  readonly verbs: readonly ResourceVerb[];
  /**
   * For subresources on the parent's own kind (`status`, `approval`, `finalize`): carries over everything that this
   * path may not change. May change `object`.
   */
  readonly prepareForUpdate?: (context: RequestContext, object: ApiObject, old: ApiObject) => void;
  readonly validateUpdate?: (
    context: RequestContext,
    object: ApiObject,
    old: ApiObject,
  ) => import('../machinery/field-error.js').FieldError[];
  /** For subresources of another kind: its view of the parent. */
  readonly read?: (parent: ApiObject) => ApiObject;
  /**
   * For subresources of another kind: brings a written body into a copy of the parent (`scale`), throwing a StatusError
   * for one that can't be. The result goes through the parent's own update.
   */
  readonly write?: (context: RequestContext, parent: ApiObject, body: ApiObject) => ApiObject;
  /** What a `create` on it answers, instead of the body written (`binding` answers a Status). */
  readonly createAnswer?: (context: RequestContext, body: ApiObject) => unknown;
  /**
   * For virtual subresources that don't write their parent as a whole (`token`, `eviction`): does what the created body
   * asks for and answers the object to send, which may be a Status. Runs after mutating admission and calls
   * `action.validate` before anything happens; throws a StatusError to refuse.
   */
  readonly perform?: (context: RequestContext, action: SubresourceAction) => Promise<ApiObject>;
}

/** One create on a virtual subresource. */
export interface SubresourceAction {
  readonly namespace: string;
  /** Of the parent. */
  readonly name: string;
  /** Decoded, with the defaults of its kind; a copy that may be changed. */
  readonly body: ApiObject;
  readonly dryRun: boolean;
  /** Validating admission of the body. */
  readonly validate: (object: ApiObject) => Promise<void>;
}

/** Everything the server knows about one resource. Made by its group's module, registered once, never changed. */
export interface ResourceDefinition<T extends ApiObject = ApiObject> {
  /** Served group name, with the vendor suffix where it has one. */
  readonly group: string;
  /** Plural name in URLs. */
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** At least one; the first is the stored one. */
  readonly versions: readonly [ServedVersion, ...ServedVersion[]];
  /** Where objects are stored when it is not under this group and resource (events of both groups share a place). */
  readonly storedAs?: GroupResource;
  /**
   * Raised by one whenever `strategy.applyDefaults` starts to fill something that it left open before, or the canonical
   * form of the stored version changes: objects stored until then are brought up to date when they are read. Definitions that store in one place share the number. Default: 0.
   */
  readonly defaultsRevision?: number;
  /** Default: all. */
  readonly verbs?: readonly ResourceVerb[];
  /**
   * Makes the kind a virtual one: a created object is a question, which this answers by filling in what it was asked
   * for, or with a Status; nothing is stored. Such a definition has the one verb `create`. The object stood the strategy's rules and
   * admission.
   */
  readonly answer?: (context: RequestContext, object: T, options: AnswerOptions) => Promise<ApiObject> | ApiObject;
  /**
   * Makes the kind a computed one: all its objects as they are right now; nothing is stored. Such a definition has the
   * verbs `get` and `list` only.
   */
  readonly compute?: (context: RequestContext) => Promise<readonly T[]>;
  readonly strategy: Strategy<T>;
  readonly strategyOptions?: StrategyOptions<T>;
  /** Fields selectable besides metadata.name and metadata.namespace. */
  readonly selectableFields?: (object: T) => Readonly<Record<string, string>>;
  /** Names of those fields: a selector on another one is a 400. */
  readonly selectableFieldNames?: readonly string[];
  readonly columns?: readonly TableColumn<T>[];
  readonly subresources?: readonly SubresourceDefinition[];
  /** Names from shared ranges that its objects hold; kept consistent by a control loop. */
  readonly allocatedNames?: readonly AllocatedNames[];
}

/** What the client asked for besides the answer. */
export interface AnswerOptions {
  /** What the answer would do must not be done. */
  readonly dryRun: boolean;
}

/** Whether objects of the kind are ever stored: virtual and computed ones are not. */
export function isStoredKind({ answer, compute }: ResourceDefinition): boolean {
  return answer === undefined && compute === undefined;
}

/** The kind as messages about its objects name it: that of the group the objects are stored under. */
export function storedGroupKind({ storedAs, group, kind }: ResourceDefinition): GroupKind {
  return { group: storedAs?.group ?? group, kind };
}

/** Helps inference: checks the definition against the kind's type and forgets the type for the registry. */
export function defineResource<T extends ApiObject>(definition: ResourceDefinition<T>): ResourceDefinition {
  return definition as unknown as ResourceDefinition;
}
