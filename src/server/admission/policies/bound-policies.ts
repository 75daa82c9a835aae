import type { ApiObject } from '../../../base/machinery/api-object.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import type { ReadLister, SharedListers } from '../../../objects/registry/informers/shared-listers.js';

/** A policy with one of its bindings. */
export interface Bound<P, B> {
  readonly policy: P;
  readonly binding: B;
}

interface NamedBinding {
  readonly name: string;
  readonly policyName: string;
}

/**
 * The policies in force (those that a binding names), in memory. Each is prepared once for every change of its object.
 */
export class BoundPolicies<P extends { readonly name: string }, B extends NamedBinding> {
  private readonly policies: ReadLister<P>;
  private readonly bindings: ReadLister<B>;

  constructor(
    listers: Pick<SharedListers, 'of'>,
    names: VendorNames,
    resources: { readonly policies: string; readonly bindings: string },
    make: { readonly policy: (object: ApiObject) => P; readonly binding: (object: ApiObject) => B },
  ) {
    const group = groupName('admissionregistration', names);
    this.policies = listers.of({ group, resource: resources.policies }, make.policy);
    this.bindings = listers.of({ group, resource: resources.bindings }, make.binding);
  }

  /** All pairs, sorted by the names of policies and bindings; undefined if there is none. */
  all(): readonly Bound<P, B>[] | undefined {
    let found: Bound<P, B>[] | undefined;
    for (const binding of this.bindings.inNamespace('')) {
      const policy = this.policies.get('', binding.policyName);
      if (policy === undefined) continue;
      if (found === undefined) found = [{ policy, binding }];
      else found.push({ policy, binding });
    }
    return found !== undefined && found.length > 1 ? found.sort(byNames) : found;
  }
}

function byNames(a: Bound<{ name: string }, { name: string }>, b: Bound<{ name: string }, { name: string }>): number {
  if (a.policy.name !== b.policy.name) return a.policy.name < b.policy.name ? -1 : 1;
  return a.binding.name < b.binding.name ? -1 : 1;
}
