import type { ApiObject } from '../machinery/api-object.js';
import type { Claims } from './claims.js';

/** One sort of names that objects of a resource hold, each of them for one object only. */
export interface Allocation {
  /** What a name is, for messages: `cluster IP`. */
  readonly what: string;
  /** How reasons of events begin: `ClusterIP`. */
  readonly reasonPrefix: string;
  readonly claims: Claims;
  /** The names that an object holds. */
  namesOf(owner: ApiObject): Iterable<string>;
}
