import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';
import type { PolicyRule } from '../../../../objects/apis/rbac/v1/role.types.js';

/**
 * A rule in short form. Lists are strings with spaces between elements. Groups have short names (`core`, `networking`)
 * and get the vendor's suffix when the rule is made.
 */
export interface RuleData {
  readonly verbs: string;
  readonly groups: string;
  readonly resources: string;
  readonly names: string;
  readonly paths: string;
}

/** A ClusterRole or Role of the default policy. */
export interface RoleData {
  readonly name: string;
  readonly rules: readonly RuleData[];
  /** The rules of this role are added to the role with this name. */
  readonly aggregatesTo?: string;
  /** This role collects the rules of all roles that aggregate to this name. */
  readonly collects?: string;
}

export const read = 'get list watch';
export const change = 'create delete deletecollection patch update';
export const manage = 'create delete deletecollection get list patch update watch';

/** A rule on resources. Without names, it applies to all objects. */
export function allow(verbs: string, groups: string, resources: string, names = ''): RuleData {
  return { verbs, groups, resources, names, paths: '' };
}

/** A rule on non-resource paths. */
export function paths(verbs: string, urls: string): RuleData {
  return { verbs, groups: '', resources: '', names: '', paths: urls };
}

/** Nearly every component writes events. */
export const writeEvents: RuleData = allow('create patch update', 'core events', 'events');

/** The rule in the form of the API object. */
export function ruleOf(data: RuleData, names: VendorNames): PolicyRule {
  const verbs = words(data.verbs);
  if (data.paths !== '') return { verbs, nonResourceURLs: words(data.paths) };
  const apiGroups = words(data.groups).map((short) => (short === '*' ? short : groupName(short, names)));
  const rule: PolicyRule = { verbs, apiGroups, resources: words(data.resources) };
  if (data.names !== '') rule.resourceNames = words(data.names);
  return rule;
}

function words(text: string): string[] {
  return text.split(' ');
}
