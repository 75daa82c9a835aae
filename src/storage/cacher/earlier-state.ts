/** A state of an object in a cache, with the states before it for as long as they belong to the recent past. */
export interface EarlierState {
  /** The version that led to this state. */
  readonly resourceVersion: bigint;
  previous: EarlierState | undefined;
}
