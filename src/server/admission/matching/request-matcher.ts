import type { ApiObject } from '../../../base/machinery/api-object.js';
import {
  everything,
  type LabelSelector,
  type Labels,
  labelSelectorFromObject,
} from '../../../base/machinery/label-selector.js';
import { notFoundError } from '../../../base/machinery/status-error.js';
import type { AdmissionAttributes } from '../attributes.js';
import { CompiledRule, type ResourceRule } from './compiled-rule.js';
import type { ResourceAndKind, ResourceVersions } from './resource-versions.js';

/** A label selector as objects hold it. */
interface SelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?:
    | readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] | undefined }[]
    | undefined;
}

/** Which requests a webhook or a policy applies to (specification 5.10). */
export interface MatchCriteria {
  readonly rules: readonly ResourceRule[];
  /** Requests that match one of these rules are excluded, even if another rule matches. Only policies have them. */
  readonly excludeRules?: readonly ResourceRule[] | undefined;
  /** `Exact`, or `Equivalent`: other groups and versions of the same resource match too. Default: Equivalent. */
  readonly matchPolicy?: string | undefined;
  /** Unset: every namespace. */
  readonly namespaceSelector?: SelectorObject | null | undefined;
  /** Unset: every object. */
  readonly objectSelector?: SelectorObject | null | undefined;
  /** Whether a request matches if there is no rule at all, as in a policy's binding. Default: no. */
  readonly matchesWithoutRules?: boolean;
}

/** The request attributes that matching uses. */
export type MatchAttributes = Pick<
  AdmissionAttributes,
  'operation' | 'resource' | 'subresource' | 'kind' | 'namespace' | 'name' | 'object' | 'oldObject'
>;

/** Namespaces with their labels; undefined for one that does not exist. */
export interface NamespaceLabels {
  get(name: string): WithLabels | undefined | Promise<WithLabels | undefined>;
}

interface WithLabels {
  readonly labels?: Labels | undefined;
}

export interface MatchingDependencies {
  readonly namespaces: NamespaceLabels;
  readonly versions: ResourceVersions;
}

/**
 * The criteria of one webhook or policy, prepared for many requests. Throws a SelectorError for a selector that can't
 * be used; stored selectors have been checked.
 */
export class RequestMatcher {
  private readonly rules: readonly CompiledRule[];
  private readonly excludeRules: readonly CompiledRule[];
  private readonly isEquivalent: boolean;
  private readonly matchesWithoutRules: boolean;
  private readonly namespaces: LabelSelector;
  private readonly objects: LabelSelector;

  constructor(
    criteria: MatchCriteria,
    private readonly dependencies: MatchingDependencies,
  ) {
    this.rules = criteria.rules.map((rule) => new CompiledRule(rule));
    this.excludeRules = (criteria.excludeRules ?? []).map((rule) => new CompiledRule(rule));
    this.isEquivalent = criteria.matchPolicy !== 'Exact';
    this.matchesWithoutRules = criteria.matchesWithoutRules ?? false;
    this.namespaces = selectorFrom(criteria.namespaceSelector);
    this.objects = selectorFrom(criteria.objectSelector);
  }

  /**
   * The resource and kind in which a request is to be shown: the requested one, or an equivalent one that a rule names.
   * Undefined when the request does not match. Returns a promise only if the namespace must be read from the store.
   * Throws a 404 for a request in a namespace that does not exist, if its labels would decide.
   */
  match(attributes: MatchAttributes): ResourceAndKind | undefined | Promise<ResourceAndKind | undefined> {
    const matched = this.matchRules(attributes);
    if (matched === undefined || !this.matchesObject(attributes)) return undefined;
    const inNamespace = this.matchesNamespace(attributes);
    if (inNamespace instanceof Promise) return inNamespace.then((does) => (does ? matched : undefined));
    return inNamespace === true ? matched : undefined;
  }

  private matchRules(attributes: MatchAttributes): ResourceAndKind | undefined {
    if (this.excludeRules.length > 0 && this.firstMatch(this.excludeRules, attributes) !== undefined) return undefined;
    if (this.rules.length > 0 || !this.matchesWithoutRules) return this.firstMatch(this.rules, attributes);
    return { resource: attributes.resource, kind: attributes.kind };
  }

  /** The requested resource comes first. Among equivalent ones the order of the rules decides. */
  private firstMatch(rules: readonly CompiledRule[], attributes: MatchAttributes): ResourceAndKind | undefined {
    const { resource, subresource } = attributes;
    for (const rule of rules) if (rule.matches(attributes, resource)) return { resource, kind: attributes.kind };
    if (!this.isEquivalent || rules.length === 0) return undefined;
    const equivalents = this.dependencies.versions.equivalents(resource, subresource);
    if (equivalents.length === 0) return undefined;
    for (const rule of rules) {
      for (const other of equivalents) if (rule.matches(attributes, other.resource)) return other;
    }
    return undefined;
  }

  /** Whether the new or the old object matches, so that removing a label does not evade a rule. */
  private matchesObject({ object, oldObject }: MatchAttributes): boolean {
    if (this.objects === everything) return true;
    const matches = (one: ApiObject | undefined) => one !== undefined && this.objects.matches(one.metadata?.labels);
    return matches(object) || matches(oldObject);
  }

  /** Cluster-scoped objects always match. A namespace that is written is matched by its new labels. */
  private matchesNamespace(attributes: MatchAttributes): boolean | Promise<boolean> {
    if (this.namespaces === everything) return true;
    const { operation, resource, subresource, namespace, name, object } = attributes;
    const isNamespace = resource.group === '' && resource.resource === 'namespaces';
    if (isNamespace && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) {
      return this.namespaces.matches(object?.metadata.labels);
    }
    const asked = namespace === '' && isNamespace ? name : namespace;
    if (asked === '') return true;
    const found = this.dependencies.namespaces.get(asked);
    return found instanceof Promise
      ? found.then((one) => this.matchesFound(one, asked))
      : this.matchesFound(found, asked);
  }

  private matchesFound(found: WithLabels | undefined, name: string): boolean {
    if (found === undefined) throw notFoundError({ group: '', resource: 'namespaces' }, name);
    return this.namespaces.matches(found.labels);
  }
}

function selectorFrom(selector: SelectorObject | null | undefined): LabelSelector {
  return selector === undefined || selector === null
    ? everything
    : labelSelectorFromObject(selector as Parameters<typeof labelSelectorFromObject>[0]);
}
