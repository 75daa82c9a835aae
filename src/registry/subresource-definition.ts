import type { ApiObject } from '../machinery/api-object.js';
import type { FieldError } from '../machinery/field-error.js';
import type { GroupVersionKind } from '../machinery/group-version.js';
import type { RequestContext } from '../machinery/request-context.js';
import type { KindType } from '../machinery/schema/index.js';
import type { ResourceVerb } from './resource-verb.js';

/** A kind of bodies under the name it is served by. */
export interface BodyKind {
  readonly kind: GroupVersionKind;
  readonly type: KindType;
}

/** The verbs of a path that shows or changes the parent. */
export type PartVerb = 'get' | 'patch' | 'update';

/** The rules of a write through a subresource, in place of the parent's own ones. */
export interface UpdateRules {
  /** Carries over everything that this path may not change. May change `object`. */
  readonly prepareForUpdate?: (context: RequestContext, object: ApiObject, old: ApiObject) => void;
  /** Broken rules of a changed object, metadata aside. */
  readonly validateUpdate: (context: RequestContext, object: ApiObject, old: ApiObject) => FieldError[];
}

/** A part of the parent, written as the parent's own kind: `status`, `approval`, `finalize`. */
export interface PartSubresource extends UpdateRules {
  readonly type: 'part';
  readonly name: string;
  readonly verbs: readonly PartVerb[];
  readonly prepareForUpdate: NonNullable<UpdateRules['prepareForUpdate']>;
}

/** Brings a written body into a copy of the parent; throws a StatusError for one that can't be. */
export type WriteIntoParent = (context: RequestContext, parent: ApiObject, body: ApiObject) => ApiObject;

/** A view of the parent with a kind of its own (`scale`). What is written goes through the parent's own update. */
export interface ViewSubresource {
  readonly type: 'view';
  readonly name: string;
  readonly body: BodyKind;
  readonly verbs: readonly PartVerb[];
  readonly read: (parent: ApiObject) => ApiObject;
  readonly write: WriteIntoParent;
}

/** Something that is created below the parent and written into it, with a kind of its own (`binding`). */
export interface CreatedSubresource extends UpdateRules {
  readonly type: 'created';
  readonly name: string;
  readonly body: BodyKind;
  readonly write: WriteIntoParent;
  /** What is answered instead of the body (a Status). */
  readonly createAnswer: (context: RequestContext, body: ApiObject) => ApiObject;
}

/** Something that is asked of the parent by a create, which is not written as a whole (`token`, `eviction`). */
export interface VirtualSubresource {
  readonly type: 'virtual';
  readonly name: string;
  readonly body: BodyKind;
  /** Further versions of that kind with the same fields, which bodies may have as well. */
  readonly otherBodies?: readonly BodyKind[];
  /**
   * Does what the body asks for and answers the object to send, which may be a Status. Runs after mutating admission and
   * calls `action.validate` before anything happens; throws a StatusError to refuse.
   */
  readonly perform: (context: RequestContext, action: SubresourceAction) => Promise<ApiObject>;
  /** The answer is a Status when it succeeds: documents say so. */
  readonly answersStatus?: true;
}

/** A path below the objects of a resource. */
export type SubresourceDefinition = PartSubresource | ViewSubresource | CreatedSubresource | VirtualSubresource;

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

const createOnly: readonly ResourceVerb[] = ['create'];

/** What can be done with a subresource. */
export function subresourceVerbs(subresource: SubresourceDefinition): readonly ResourceVerb[] {
  switch (subresource.type) {
    case 'part':
    case 'view':
      return subresource.verbs;
    case 'created':
    case 'virtual':
      return createOnly;
  }
}

/** The kind of a subresource's bodies; undefined for the parent's own. */
export function bodyKindOf(subresource: SubresourceDefinition | undefined): BodyKind | undefined {
  switch (subresource?.type) {
    case undefined:
    case 'part':
      return undefined;
    case 'view':
    case 'created':
    case 'virtual':
      return subresource.body;
  }
}

/** Whether a create on a subresource answers a Status when it succeeds, not an object. */
export function answersStatus(subresource: SubresourceDefinition): boolean {
  switch (subresource.type) {
    case 'part':
    case 'view':
      return false;
    case 'created':
      return true;
    case 'virtual':
      return subresource.answersStatus === true;
  }
}

/** The rules that a write through a subresource has to stand; undefined for those of the parent's own update. */
export function updateRulesOf(subresource: SubresourceDefinition | undefined): UpdateRules | undefined {
  switch (subresource?.type) {
    case 'part':
    case 'created':
      return subresource;
    case undefined:
    case 'view':
    case 'virtual':
      return undefined;
  }
}
