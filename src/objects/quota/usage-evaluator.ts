import type { ApiObject } from '../../base/machinery/api-object.js';
import type { ScopedResourceSelectorRequirement } from '../apis/core/v1/resource-quota.types.js';
import type { Amounts } from './amounts.js';

/** One requirement of a scope. A scope in `spec.scopes` is a requirement with `Exists`. */
export type ScopeRequirement = ScopedResourceSelectorRequirement;

/**
 * The usage of the objects of one resource (specification 2.4). Pure: the same object at the same time always uses the
 * same amounts. Objects are in the stored version.
 */
export interface UsageEvaluator {
  /** Whether objects of this resource can use the amount that a quota limits under this name. */
  measures(name: string): boolean;
  /**
   * Everything that the object uses.
   *
   * @param now milliseconds since 1970: some objects stop using anything at a certain time.
   */
  usage(object: ApiObject, now: number): Amounts;
  /**
   * Whether every object uses one of each measured resource and is in no scope, so that the objects need not be
   * examined. Default false.
   */
  readonly isUniform?: boolean;
  /** Whether this update through this path can raise the usage, or bring the object into a scope. Creates always do. */
  mayRiseBy(subresource: string, object: ApiObject, old: ApiObject): boolean;
  /** Whether the object is in a scope. Default: false for all scopes. */
  isInScope?(object: ApiObject, requirement: ScopeRequirement): boolean;
  /** The names, sorted, for which the object lacks a required amount. Default: none. */
  missing?(object: ApiObject, names: readonly string[]): readonly string[];
  /** When this object stops using anything by itself, in milliseconds since 1970; undefined if it never does. */
  endsAt?(object: ApiObject): number | undefined;
}
