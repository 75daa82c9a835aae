import type { ApiObject } from '../../base/machinery/api-object.js';
import type { Since } from './since.js';

/** A table cell before it is formatted; its value depends only on the object. */
export type TableCell = string | number | bigint | boolean | null | Since;

/** One column of the Table form. */
export interface TableColumn<T extends ApiObject = ApiObject> {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description?: string;
  /** 0: always shown; 1: with `-o wide`. */
  readonly priority?: number;
  /** Rows have the cell, and the table does not say what it is. */
  readonly isUndeclared?: boolean;
  /** Computes the cell of a decoded object. */
  readonly cell: (object: T) => TableCell;
}
