import type { GroupVersionKind } from '../../machinery/group-version.js';
import type { StructType } from '../../machinery/schema/index.js';

/** A parameter in the query or the path. */
export interface ParameterModel {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly type: 'string' | 'integer' | 'boolean';
  readonly description: string;
}

export type OperationMethod = 'get' | 'put' | 'post' | 'delete' | 'patch';

/** What a body or an answer holds: a declared type, or a schema that stands where it is used. */
export type ContentModel = StructType | { readonly type: 'inline'; readonly properties: readonly string[] };

/** One operation, as both versions of OpenAPI describe it. */
export interface OperationModel {
  readonly method: OperationMethod;
  readonly id: string;
  readonly tag: string;
  readonly description: string;
  /** Kind of request for tools (`list`, `deletecollection`, ...); discovery has none. */
  readonly action?: string;
  readonly gvk?: GroupVersionKind;
  readonly parameters: readonly ParameterModel[];
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  readonly body?: { readonly content: StructType; readonly required: boolean };
  /** Codes of success; every one answers the same content. */
  readonly codes: readonly number[];
  readonly answer: ContentModel;
  /** What a success may show instead; Swagger 2.0 has no words for it. */
  readonly otherAnswer?: ContentModel;
}

export interface PathModel {
  readonly path: string;
  /** Parameters of every operation of the path. */
  readonly parameters: readonly ParameterModel[];
  readonly operations: readonly OperationModel[];
}
