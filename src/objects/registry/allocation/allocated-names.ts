import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Allocations } from './allocations.js';

/** Names of one sort that the objects of a resource hold. Each name belongs to one object only. */
export interface AllocatedNames {
  /** What messages call such a name: `cluster IP`. */
  readonly what: string;
  /** First word of the reasons of events: `ClusterIP`. */
  readonly reasonPrefix: string;
  readonly allocations: Allocations;
  /** The names that an object holds. */
  namesOf(owner: ApiObject): Iterable<string>;
}
