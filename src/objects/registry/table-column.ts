import type { ApiObject } from '../../base/machinery/api-object.js';

/** A cell that shows the time from a moment, in milliseconds, until the table is made. */
export class Since {
  /** The texts before and after the duration. */
  constructor(
    readonly time: number,
    readonly before = '',
    readonly after = '',
  ) {}
}

/** A cell of a table before it is shown; it follows from the object alone. */
export type TableCell = string | number | boolean | null | Since;

/** One column of the Table form. */
export interface TableColumn<T extends ApiObject = ApiObject> {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description?: string;
  /** 0: always shown; 1: with `-o wide`. */
  readonly priority?: number;
  /** Receives the decoded object. */
  readonly cell: (object: T) => TableCell;
}
