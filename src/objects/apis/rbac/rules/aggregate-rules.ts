import { type LabelSelectorObject, labelSelectorFromObject } from '../../../../base/machinery/label-selector.js';
import { deepEqual } from '../../../../base/machinery/patch/json-value.js';
import type { ClusterRole, PolicyRule } from '../v1/role.types.js';

/** The fields of a ClusterRole that aggregation uses. */
export type AggregatedRole = Pick<ClusterRole, 'metadata' | 'rules' | 'aggregationRule'>;

/**
 * The rules that a role with an `aggregationRule` should have: those of all roles that its selectors match, selector by
 * selector, roles by name, equal rules once. Undefined for a role without one.
 *
 * @throws SelectorError for a selector that is not valid.
 */
export function aggregatedRules(role: AggregatedRole, all: Iterable<AggregatedRole>): PolicyRule[] | undefined {
  if (role.aggregationRule === undefined) return undefined;
  const others = [...all]
    .filter(({ metadata }) => metadata.name !== role.metadata.name)
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  const rules: PolicyRule[] = [];
  const seen = new Set<string>();
  for (const selector of role.aggregationRule.clusterRoleSelectors ?? []) {
    const { matches } = compile(selector as LabelSelectorObject);
    for (const other of others) {
      if (!matches(other.metadata.labels)) continue;
      for (const rule of other.rules ?? []) {
        const text = canonicalText(rule);
        if (seen.has(text)) continue;
        seen.add(text);
        rules.push(rule);
      }
    }
  }
  return rules;
}

/** Whether two lists hold the same rules in the same order. A missing list counts as empty. */
export function sameRules(a: readonly PolicyRule[] | null, b: readonly PolicyRule[] | null): boolean {
  return deepEqual(a ?? [], b ?? []);
}

function compile(selector: LabelSelectorObject): { matches(labels: Record<string, string> | undefined): boolean } {
  const compiled = labelSelectorFromObject(selector);
  return { matches: (labels) => compiled.matches(labels) };
}

function canonicalText({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): string {
  return JSON.stringify([verbs, apiGroups ?? [], resources ?? [], resourceNames ?? [], nonResourceURLs ?? []]);
}
