import type { ApiObject } from '../../machinery/api-object.js';
import type { Allocations } from './allocations.js';

/** One sort of names that objects of a resource hold, each of them for one object only. */
export interface AllocatedNames {
  /** What a name is, for messages: `cluster IP`. */
  readonly what: string;
  /** How reasons of events begin: `ClusterIP`. */
  readonly reasonPrefix: string;
  readonly allocations: Allocations;
  /** The names that an object holds. */
  namesOf(owner: ApiObject): Iterable<string>;
}
