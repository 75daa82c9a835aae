import type { ApiObject } from '../../base/machinery/api-object.js';
import type { FieldError } from '../../base/machinery/field-error.js';
import type { FieldPattern, FieldSet } from '../../base/machinery/field-set/index.js';
import type { GroupVersionKind } from '../../base/machinery/group-version.js';
import type { RequestContext } from '../../base/machinery/request-context.js';
import type { KindType } from '../../base/machinery/schema/index.js';
import type { ResourceVerb } from './resource-verb.js';
import type { TableColumn } from './table-column.js';

/** The kind of a request body, under its served group. */
export interface BodyKind {
  readonly kind: GroupVersionKind;
  readonly type: KindType;
}

/** The verbs of a path that shows or changes the parent. */
export type PartVerb = 'get' | 'patch' | 'update';

/** The rules of a write through a subresource, instead of those of the parent. */
export interface UpdateRules {
  /** Carries over everything that this path may not change. May change `object`. */
  readonly prepareForUpdate?: (context: RequestContext, object: ApiObject, old: ApiObject) => void;
  /** Validates a changed object, except for its metadata. */
  readonly validateUpdate: (context: RequestContext, object: ApiObject, old: ApiObject) => FieldError[];
}

/** A part of the parent, written as the parent's own kind: `status`, `approval`, `finalize`. */
export interface PartSubresource extends UpdateRules {
  readonly type: 'part';
  readonly name: string;
  readonly verbs: readonly PartVerb[];
  readonly prepareForUpdate: NonNullable<UpdateRules['prepareForUpdate']>;
  /** The fields that this path carries over: a client that sends them does not become their owner. Default: none. */
  readonly resetFields?: FieldSet;
  /** The only fields that a write through this path can own, with their parent fields. Default: all. */
  readonly ownedFields?: FieldPattern;
}

/** Puts a written body into a copy of the parent; throws a StatusError for a body that does not fit. */
export type WriteIntoParent = (context: RequestContext, parent: ApiObject, body: ApiObject) => ApiObject;

/** A view of the parent with a kind of its own (`scale`). Writes go through the parent's own update. */
export interface ViewSubresource {
  readonly type: 'view';
  readonly name: string;
  readonly body: BodyKind;
  readonly verbs: readonly PartVerb[];
  readonly read: (parent: ApiObject) => ApiObject;
  /** The columns of the table, which show the object that `read` returns. Default: name and creation time. */
  readonly columns?: readonly TableColumn[];
  /** Throws a StatusError for a parent that has nothing to show; such a parent may still be written into. */
  readonly checkShown?: (parent: ApiObject) => void;
  readonly write: WriteIntoParent;
  /** The fields of the parent that an applied body stands for; empty for a body without such fields. */
  readonly intent: (body: Readonly<Record<string, unknown>>) => Record<string, unknown>;
}

/** An object that is created below the parent and written into it, with a kind of its own (`binding`). */
export interface CreatedSubresource extends UpdateRules {
  readonly type: 'created';
  readonly name: string;
  readonly body: BodyKind;
  /** As in {@link VirtualSubresource.otherName}. */
  readonly otherName?: string | ((given: string, name: string) => Error);
  readonly write: WriteIntoParent;
  /** Makes the response that is sent instead of the body (a Status). */
  readonly createAnswer: (context: RequestContext, body: ApiObject) => ApiObject;
}

/** A request about the parent, made by a create and not stored as an object (`token`, `eviction`). */
export interface VirtualSubresource {
  readonly type: 'virtual';
  readonly name: string;
  readonly body: BodyKind;
  /** Further versions of that kind with the same fields, which bodies may also have. */
  readonly otherBodies?: readonly BodyKind[];
  /**
   * The message for a body whose name is missing or differs from that in the path, or the error for a name that
   * differs. Default: the usual message for another name; a missing one is that of the path.
   */
  readonly otherName?: string | ((given: string, name: string) => Error);
  /** Whether the answer is always a Status, and never a completed body. */
  readonly answersStatus?: boolean;
  /**
   * Does what the body requests and returns the object to send, which may be a Status. Runs after mutating admission
   * and calls `action.validate` before any effect; throws a StatusError to refuse.
   */
  readonly perform: (context: RequestContext, action: SubresourceAction) => Promise<ApiObject>;
}

/** Text about the parent that another server sends for as long as the client reads (`log`). It can only be read. */
export interface StreamSubresource {
  readonly type: 'stream';
  readonly name: string;
  /** Query parameters that the path accepts. */
  readonly parameters: readonly StreamParameter[];
}

export interface StreamParameter {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean';
  readonly description: string;
}

/** The target of a connection: a program in a container, ports of a pod, or another HTTP server. */
export type ConnectionTarget = 'exec' | 'attach' | 'portForward' | 'proxy';

/**
 * A connection to something outside of this server (`exec`, `proxy`). Its options come in the query and are admitted like
 * an object, with the operation CONNECT.
 */
export interface ConnectSubresource {
  readonly type: 'connect';
  readonly name: string;
  readonly target: ConnectionTarget;
  /** The kind of its options. */
  readonly body: BodyKind;
  readonly verbs: readonly ResourceVerb[];
  /** Query parameters that the path accepts. Those of a proxy are passed on instead. */
  readonly parameters: readonly StreamParameter[];
}

/** A path below the objects of a resource. */
export type SubresourceDefinition =
  | PartSubresource
  | ViewSubresource
  | CreatedSubresource
  | VirtualSubresource
  | StreamSubresource
  | ConnectSubresource;

/** One create on a virtual subresource. */
export interface SubresourceAction {
  readonly namespace: string;
  /** Name of the parent. */
  readonly name: string;
  /** The decoded body, with the defaults of its kind; a copy that may be changed. */
  readonly body: ApiObject;
  readonly dryRun: boolean;
  /** Whether what the action deletes may wait for a garbage collector. Default: it may not. */
  readonly garbageCollector?: boolean;
  /** Runs validating admission on the body. */
  readonly validate: (object: ApiObject) => Promise<void>;
}

const createOnly: readonly ResourceVerb[] = ['create'];
const getOnly: readonly ResourceVerb[] = ['get'];

/** The verbs that apply to a subresource. */
export function subresourceVerbs(subresource: SubresourceDefinition): readonly ResourceVerb[] {
  switch (subresource.type) {
    case 'part':
    case 'view':
    case 'connect':
      return subresource.verbs;
    case 'created':
    case 'virtual':
      return createOnly;
    case 'stream':
      return getOnly;
  }
}

/** The kind of a subresource's bodies; undefined for the parent's own. */
export function bodyKindOf(subresource: SubresourceDefinition | undefined): BodyKind | undefined {
  switch (subresource?.type) {
    case undefined:
    case 'part':
    case 'stream':
      return undefined;
    case 'view':
    case 'created':
    case 'virtual':
    case 'connect':
      return subresource.body;
  }
}

/** The rules for a write through a subresource; undefined when the rules of the parent's own update apply. */
export function updateRulesOf(subresource: SubresourceDefinition | undefined): UpdateRules | undefined {
  switch (subresource?.type) {
    case 'part':
    case 'created':
      return subresource;
    case undefined:
    case 'view':
    case 'virtual':
    case 'stream':
    case 'connect':
      return undefined;
  }
}
