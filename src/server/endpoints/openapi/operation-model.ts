import type { GroupVersionKind } from '../../../base/machinery/group-version.js';
import type { StructType } from '../../../base/machinery/schema/index.js';

/** A query or path parameter. */
export interface ParameterModel {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly type: 'string' | 'integer' | 'boolean';
  readonly description: string;
}

export type OperationMethod = 'get' | 'head' | 'options' | 'put' | 'post' | 'delete' | 'patch';

/** The content of a request or response body: a declared type, or text. */
export type ContentModel = StructType | { readonly type: 'text' };

/** One operation, in the terms of both OpenAPI versions. */
export interface OperationModel {
  readonly method: OperationMethod;
  readonly id: string;
  readonly tag: string;
  readonly description: string;
  /** The action of the operation, for tools (`list`, `deletecollection`, ...); discovery operations have none. */
  readonly action?: string;
  readonly gvk?: GroupVersionKind;
  readonly parameters: readonly ParameterModel[];
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  readonly body?: { readonly content: StructType; readonly required: boolean };
  /** The success codes; all have the same content. */
  readonly codes: readonly number[];
  readonly answer: ContentModel;
}

export interface PathModel {
  readonly path: string;
  /** Parameters shared by all operations of the path. */
  readonly parameters: readonly ParameterModel[];
  readonly operations: readonly OperationModel[];
}
