import type { ApiObject } from '../../base/machinery/api-object.js';
import type { GroupKind, GroupResource } from '../../base/machinery/group-version.js';
import type { RequestContext } from '../../base/machinery/request-context.js';
import type { KindType } from '../../base/machinery/schema/index.js';
import type { Definer } from '../../storage/storage.interface.js';
import type { AllocatedNames } from './allocation/allocated-names.js';
import { allVerbs, type ResourceVerb } from './resource-verb.js';
import type { RowCondition } from './row-condition.js';
import type { Strategy, StrategyOptions } from './strategy.js';
import type { PartSubresource, SubresourceDefinition } from './subresource-definition.js';
import type { TableColumn } from './table-column.js';

export type { RowCondition } from './row-condition.js';
export { Since } from './since.js';
export type { TableCell, TableColumn } from './table-column.js';

/**
 * A version under which a resource is served. The first version of a definition is the stored one; the others define
 * the lossless conversion to and from it.
 */
export interface ServedVersion {
  readonly version: string;
  readonly type: KindType;
  /** Converts a freshly decoded object of this version in place; absent when only `apiVersion` differs. */
  readonly toStored?: (object: ApiObject) => ApiObject;
  readonly fromStored?: (object: ApiObject) => ApiObject;
  /** Defaults that differ from the strategy's for this version. */
  readonly applyDefaults?: (object: ApiObject) => void;
  readonly deprecated?: {
    readonly warning: string;
    readonly removedRelease: string;
    /**
     * Whether the release that removes the version is out. If so, clients may use the version only if the server is
     * configured to serve it by its name.
     */
    readonly isRemoved?: boolean;
  };
  /**
   * Whether clients may use the version. A version that they may not use stays known, since objects may be stored in
   * it. Default: the versions that the server is configured to serve.
   */
  readonly isServed?: boolean;
  /**
   * Whether clients may use the version only where the server is configured to serve it. Always true for alpha
   * versions.
   */
  readonly isOffByDefault?: true;
  /**
   * Whether the configuration must name the version: general keys (`api/all`) don't enable versions that the API
   * release lacks.
   */
  readonly isOnlyByName?: true;
  /** The feature gate without which clients may not use the version, whatever the server is configured to serve. */
  readonly neededGate?: string;
  /**
   * The definition for requests in this version, where rules, columns or subresources differ between versions. It has
   * the names, the storage place and the versions of the registered one. Default: the registered one.
   */
  readonly definition?: StoredResource;
}

/** The fields that every resource has, whether its objects are stored, reviewed or computed. */
interface ResourceIdentity<T extends ApiObject> {
  /** Served group name, with the vendor suffix where it has one. */
  readonly group: string;
  /** Plural name in URLs. */
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  /** Kind of its lists. Default: the kind followed by `List`. */
  readonly listKind?: string | undefined;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[] | undefined;
  readonly categories?: readonly string[] | undefined;
  /** The versions under which the resource is served; the first one is the stored one. */
  readonly versions: readonly [ServedVersion, ...ServedVersion[]];
  /**
   * Selectable fields besides metadata.name and metadata.namespace. A value that is neither a number nor a boolean must
   * be a string of the object: stored JSON is searched for it.
   */
  readonly selectableFields?: ((object: T) => Readonly<Record<string, string>>) | undefined;
  /** Names of the selectable fields: a selector on another field is a 400. */
  readonly selectableFieldNames?: readonly string[] | undefined;
  /** Whether objects can't be selected by `metadata.namespace`. Default false. */
  readonly hidesNamespace?: boolean;
  /** The message about a field that is not selectable, where clients know another one. */
  readonly unselectable?: (field: string) => string;
  readonly columns?: readonly TableColumn<T>[];
  /** The order of the rows in the table of a list, where it is not that of the list. */
  readonly rowOrder?: (a: T, b: T) => number;
  /** What a row of a table says about an object beside its cells, if anything. */
  readonly rowConditions?: (object: T) => readonly RowCondition[] | undefined;
}

/** How up-to-date stored JSON is recognized, and how other JSON is brought up to date. */
export interface StoredFormRules {
  /**
   * White space after the opening brace that marks stored JSON as up to date. It differs for every form that stored
   * objects have had.
   */
  readonly mark: string;
  /** Converts the parsed object of outdated JSON to the current form and the stored version; may change `object`. */
  readonly complete: (object: ApiObject) => ApiObject;
  /**
   * The object as it is to be stored, default: unchanged. For versions with fields that the stored one lacks; must not
   * change `object`.
   */
  readonly beforeStorage?: (object: ApiObject) => ApiObject;
}

/** The request that needs converted objects; a conversion for several requests has a signal only. */
export type ConvertingRequest = Pick<
  RequestContext,
  'signal' | 'mayChangeThread' | 'isCostly' | 'beginRemoteCall' | 'endRemoteCall'
>;

/** Conversions between the versions of a kind by something outside the program, which takes time and may fail. */
export interface RemoteConversion {
  /** Whether all objects are stored in the storage version, as far as this process knows. */
  readonly isUniform: boolean;
  /**
   * What `finish` makes of objects that are converted to a version of the kind, pruned, and with its defaults if it is
   * the stored one, in the same order; objects of that version stay unchanged. Does not change its arguments. Throws a
   * StatusError, and a LargeWork when an object became large, if the request can move.
   */
  convert<R>(
    objects: readonly ApiObject[],
    apiVersion: string,
    request: ConvertingRequest,
    finish: (object: ApiObject) => R,
  ): Promise<readonly R[]>;
}

/** A resource whose objects are kept in the store. Kinds that are added at run time are of this type too. */
export interface StoredResource<T extends ApiObject = ApiObject> extends ResourceIdentity<T> {
  readonly type: 'stored';
  readonly strategy: Strategy<T>;
  readonly strategyOptions?: StrategyOptions<T>;
  /** Where objects are stored if not under this group and resource: the events of both groups share a place. */
  readonly storedAs?: GroupResource;
  /**
   * Raise it by one whenever `strategy.applyDefaults` begins to fill a further field, or the canonical form of the
   * stored version changes. Objects stored before that are brought up to date when they are read. Definitions that
   * share a storage place share the number. Default: 0.
   */
  readonly defaultsRevision?: number;
  /** Replaces `defaultsRevision` for kinds whose form changes while the program runs. */
  readonly storedForm?: StoredFormRules;
  /**
   * Converts between the versions instead of their own functions, which must then change nothing. Stored JSON stays in
   * the version in which it was written until a request writes the object.
   */
  readonly conversion?: RemoteConversion | undefined;
  /**
   * Prepares for reading and writing the objects, if that takes long; undefined when there is nothing to wait for.
   * Callers that don't await it trigger the preparation synchronously.
   */
  prepare?(): Promise<void> | undefined;
  /**
   * The object that defines the kind, for kinds that are added at run time. No object is created once the definition's
   * clean-up has begun.
   */
  readonly definedBy?: Definer | undefined;
  /**
   * Why no objects may be created at the moment: the message of a 405. The only field of a definition that may change.
   */
  readonly refusesCreate?: string | undefined;
  /** Whether the delete of a collection always answers a Status, and not the deleted objects (specification 4.8). */
  readonly hidesDeletedCollection?: boolean;
  /** The verbs of the resource. Default: all. */
  readonly verbs?: readonly ResourceVerb[];
  readonly subresources?: readonly SubresourceDefinition[];
  /** Names from shared ranges that its objects hold; a control loop keeps them consistent. */
  readonly allocatedNames?: readonly AllocatedNames[];
}

/** A resource whose created objects are reviews. They are answered and not stored; create is the only verb. */
export interface VirtualResource<T extends ApiObject = ApiObject> extends ResourceIdentity<T> {
  readonly type: 'virtual';
  /** Fills in the answer to the review, or returns a Status. The object has passed mutating admission. */
  readonly answer: (context: RequestContext, object: T, options: AnswerOptions) => Promise<ApiObject> | ApiObject;
}

/** A resource whose objects are computed for each request. They can only be read. */
export interface ComputedResource<T extends ApiObject = ApiObject> extends ResourceIdentity<T> {
  readonly type: 'computed';
  /** Computes the objects of the scope as of now. */
  readonly compute: (scope: ComputedScope) => Promise<readonly T[]>;
  /** Name of the resource in a 404 about an object. Default: `resource`. */
  readonly missingAs?: string;
}

/** The objects that a request wants. The resource may compute others, too, if that is less work. */
export interface ComputedScope {
  /** Undefined: the objects of all namespaces. */
  readonly namespace: string | undefined;
  /** Undefined: objects of any name. */
  readonly name: string | undefined;
  /** Whether the selectors of the request select an object with this metadata. */
  readonly wants: (object: ApiObject) => boolean;
  readonly signal: AbortSignal;
}

/**
 * Everything the server knows about one resource. The module of its API group makes and registers it once. A definition
 * never changes; a custom resource gets a new one.
 */
export type ResourceDefinition = StoredResource | VirtualResource | ComputedResource;

/** Options of the client that affect how a review is answered. */
export interface AnswerOptions {
  /** Whether the review must have no side effects. */
  readonly dryRun: boolean;
}

const virtualVerbs: readonly ResourceVerb[] = ['create'];
const computedVerbs: readonly ResourceVerb[] = ['get', 'list'];

/** The verbs that apply to the objects of a resource. */
export function verbsOf(definition: ResourceDefinition): readonly ResourceVerb[] {
  switch (definition.type) {
    case 'stored':
      return definition.verbs ?? allVerbs;
    case 'virtual':
      return virtualVerbs;
    case 'computed':
      return computedVerbs;
  }
}

const noSubresources: readonly SubresourceDefinition[] = [];

/** The subresources of a resource: the paths below its objects. */
export function subresourcesOf(definition: ResourceDefinition): readonly SubresourceDefinition[] {
  switch (definition.type) {
    case 'stored':
      return definition.subresources ?? noSubresources;
    case 'virtual':
    case 'computed':
      return noSubresources;
  }
}

/** The named subresource (`status`); throws when the resource has no such subresource. */
export function partOf(definition: StoredResource, name: string): PartSubresource {
  const found = definition.subresources?.find((subresource) => subresource.name === name);
  if (found?.type !== 'part') throw new Error(`${definition.resource} have no part ${name}`);
  return found;
}

/** Whether a delete that removes an object returns the object instead of a Status. */
export function showsDeletedObject(definition: ResourceDefinition): boolean {
  if (!isStoredKind(definition)) return false;
  const { strategy, strategyOptions } = definition;
  return strategyOptions?.returnsDeletedObject === true || strategy.gracePeriodSeconds !== undefined;
}

/** Whether the delete of a collection returns the deleted objects instead of a Status. */
export function showsDeletedCollection(definition: ResourceDefinition): boolean {
  return isStoredKind(definition) && definition.hidesDeletedCollection !== true;
}

/** Whether objects of the kind are ever stored: virtual and computed ones are not. */
export function isStoredKind(definition: ResourceDefinition): definition is StoredResource {
  return definition.type === 'stored';
}

/** The external converter of the objects of a kind, if there is one. */
export function remoteConversionOf(definition: ResourceDefinition): RemoteConversion | undefined {
  return isStoredKind(definition) ? definition.conversion : undefined;
}

/** Where objects of the resource are stored, or would be if they were. */
export function storageOf(definition: ResourceDefinition): GroupResource {
  const { group, resource } = definition;
  return (isStoredKind(definition) ? definition.storedAs : undefined) ?? { group, resource };
}

/** The kind that messages about the objects name: in the group under which the objects are stored. */
export function storedGroupKind({ storedAs, group, kind }: StoredResource): GroupKind {
  return { group: storedAs?.group ?? group, kind };
}

/**
 * Defines a resource whose objects are stored. Checks the definition against the type of the kind and hides that type
 * from the registry.
 */
export function defineResource<T extends ApiObject>(definition: Omit<StoredResource<T>, 'type'>): StoredResource {
  return { ...definition, type: 'stored' } as unknown as StoredResource;
}

/** Defines a resource whose objects are reviews, which are answered and not stored. */
export function defineVirtualResource<T extends ApiObject>(
  definition: Omit<VirtualResource<T>, 'type'>,
): VirtualResource {
  return { ...definition, type: 'virtual' } as unknown as VirtualResource;
}

/** Defines a resource whose objects are computed when they are read. */
export function defineComputedResource<T extends ApiObject>(
  definition: Omit<ComputedResource<T>, 'type'>,
): ComputedResource {
  return { ...definition, type: 'computed' } as unknown as ComputedResource;
}
