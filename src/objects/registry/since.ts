/** A cell that shows the duration from a time, in milliseconds, until the table is made. */
export class Since {
  /** The texts before and after the duration. */
  constructor(
    readonly time: number,
    readonly before = '',
    readonly after = '',
  ) {}
}
