import type { ListPosition } from '../storage.interface.js';
import type { EarlierState } from './earlier-state.js';

/** The state of an object after its deletion. */
export class Tombstone implements EarlierState {
  readonly namespace: string;
  readonly name: string;
  previous: EarlierState | undefined = undefined;

  constructor(
    { namespace, name }: ListPosition,
    readonly resourceVersion: bigint,
  ) {
    this.namespace = namespace;
    this.name = name;
  }
}
