import type { GroupVersionResource } from '../../../base/machinery/group-version.js';
import type { AdmissionAttributes } from '../attributes.js';

/** A rule as webhook configurations and policies hold it, in any of their versions. */
export interface ResourceRule {
  readonly operations?: readonly string[] | undefined;
  readonly apiGroups?: readonly string[] | undefined;
  readonly apiVersions?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly scope?: string | undefined;
  /** Names of the objects, only in rules of policies; all objects if missing or empty. */
  readonly resourceNames?: readonly string[] | undefined;
}

/** The attributes of a request that a rule tests. */
export type RuleAttributes = Pick<AdmissionAttributes, 'operation' | 'subresource' | 'namespace' | 'name'>;

const all = '*';

interface ResourcePattern {
  readonly resource: string;
  /** Empty for the resource itself. `*` covers the resource itself too. */
  readonly subresource: string;
}

/**
 * One rule (specification 5.10), prepared for many requests. The forms of a resource are `pods`, `pods/log`, `pods/*`
 * (the pods and all their subresources), `*` (every resource, no subresources), `*` with one subresource, and both
 * wildcards (everything).
 */
export class CompiledRule {
  private readonly operations: ReadonlySet<string> | undefined;
  private readonly groups: ReadonlySet<string> | undefined;
  private readonly versions: ReadonlySet<string> | undefined;
  private readonly names: ReadonlySet<string> | undefined;
  private readonly patterns: readonly ResourcePattern[];
  private readonly scope: string;

  constructor(rule: ResourceRule) {
    this.operations = setUnlessAll(rule.operations);
    this.groups = setUnlessAll(rule.apiGroups);
    this.versions = setUnlessAll(rule.apiVersions);
    const names = rule.resourceNames ?? [];
    this.names = names.length === 0 ? undefined : new Set(names);
    this.patterns = (rule.resources ?? []).map((text) => {
      const slash = text.indexOf('/');
      return slash < 0
        ? { resource: text, subresource: '' }
        : { resource: text.slice(0, slash), subresource: text.slice(slash + 1) };
    });
    this.scope = rule.scope ?? all;
  }

  /**
   * Whether a request matches.
   *
   * @param resource the requested resource, or an equivalent one
   */
  matches(attributes: RuleAttributes, resource: GroupVersionResource): boolean {
    if (this.operations?.has(attributes.operation) === false) return false;
    if (this.groups?.has(resource.group) === false || this.versions?.has(resource.version) === false) return false;
    return (
      this.matchesResource(resource.resource, attributes.subresource) &&
      this.matchesScope(attributes, resource) &&
      this.names?.has(attributes.name) !== false
    );
  }

  private matchesResource(resource: string, subresource: string): boolean {
    for (const pattern of this.patterns) {
      if (pattern.resource !== all && pattern.resource !== resource) continue;
      if (pattern.subresource === all || pattern.subresource === subresource) return true;
    }
    return false;
  }

  /** Requests for a namespace object carry its name as their namespace, although the object is cluster-scoped. */
  private matchesScope({ namespace }: RuleAttributes, { group, resource }: GroupVersionResource): boolean {
    if (this.scope === all) return true;
    const isNamespaced = namespace !== '' && !(group === '' && resource === 'namespaces');
    return this.scope === (isNamespaced ? 'Namespaced' : 'Cluster');
  }
}

function setUnlessAll(values: readonly string[] | undefined): ReadonlySet<string> | undefined {
  return values?.includes(all) ? undefined : new Set(values ?? []);
}
