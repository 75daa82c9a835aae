import { atOnce, eachInSteps, type Steps, setInSteps } from '../../../base/machinery/turns.js';
import { pathPrefix } from '../../../objects/apis/rbac/rules/path-pattern.js';
import type { PolicyRule } from '../../../objects/apis/rbac/v1/role.types.js';

const everything = '*';

interface CompiledRule {
  /** Undefined for all verbs. */
  readonly verbs: ReadonlySet<string> | undefined;
  readonly apiGroups: ReadonlySet<string> | undefined;
  readonly names: ReadonlySet<string> | undefined;
}

interface CompiledPathRule {
  readonly verbs: ReadonlySet<string> | undefined;
  readonly paths: ReadonlySet<string>;
  /** The part of each path before a final `*`. An empty prefix matches every path. */
  readonly prefixes: readonly string[];
}

/** The rules of a role, indexed so that only rules about the requested resource are checked. */
export class CompiledRole {
  /** Rules by the resource they name, including any subresource; `*` may stand for the resource. */
  private readonly byResource = new Map<string, CompiledRule[]>();
  private readonly onAll: CompiledRule[] = [];
  private readonly onPaths: CompiledPathRule[] = [];

  private constructor(readonly rules: readonly PolicyRule[]) {}

  static of(rules: readonly PolicyRule[]): CompiledRole {
    return atOnce(CompiledRole.inSteps(rules));
  }

  /**
   * Like the constructor, but in steps: a role may have tens of thousands of rules, and a rule hundreds of thousands of
   * values.
   */
  static *inSteps(rules: readonly PolicyRule[]): Steps<CompiledRole> {
    const role = new CompiledRole(rules);
    for (const rule of rules) {
      yield* role.add(rule);
      yield;
    }
    return role;
  }

  /**
   * Whether a rule allows the verb on the resource. `full` is `resource` or `resource/subresource`; `wildcard` is
   * `full` with `*` in place of the resource, or empty when there is no subresource; `name` is empty for collections.
   */
  allowsResource(verb: string, apiGroup: string, full: string, wildcard: string, name: string): boolean {
    if (anyAllows(this.onAll, verb, apiGroup, name)) return true;
    const exact = this.byResource.get(full);
    if (exact !== undefined && anyAllows(exact, verb, apiGroup, name)) return true;
    if (wildcard === '') return false;
    const anyParent = this.byResource.get(wildcard);
    return anyParent !== undefined && anyAllows(anyParent, verb, apiGroup, name);
  }

  allowsPath(verb: string, path: string): boolean {
    for (const { verbs, paths, prefixes } of this.onPaths) {
      if (verbs !== undefined && !verbs.has(verb)) continue;
      if (paths.has(path) || prefixes.some((prefix) => path.startsWith(prefix))) return true;
    }
    return false;
  }

  private *add({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): Steps {
    if (nonResourceURLs !== undefined && nonResourceURLs.length > 0) {
      const paths = new Set<string>();
      const prefixes: string[] = [];
      yield* eachInSteps(nonResourceURLs, (path) => {
        if (path.endsWith(everything)) prefixes.push(pathPrefix(path));
        else paths.add(path);
      });
      this.onPaths.push({ verbs: yield* setOf(verbs), paths, prefixes });
    }
    const rule: CompiledRule = {
      verbs: yield* setOf(verbs),
      apiGroups: yield* setOf(apiGroups),
      names: resourceNames === undefined || resourceNames.length === 0 ? undefined : yield* setInSteps(resourceNames),
    };
    const distinct = yield* setInSteps(resources ?? []);
    yield* eachInSteps(distinct, (resource) => {
      if (resource === everything) this.onAll.push(rule);
      else {
        const rules = this.byResource.get(resource);
        if (rules === undefined) this.byResource.set(resource, [rule]);
        else rules.push(rule);
      }
    });
  }
}

function* setOf(values: readonly string[] | undefined | null): Steps<ReadonlySet<string> | undefined> {
  const list = values ?? [];
  return list.includes(everything) ? undefined : yield* setInSteps(list);
}

function anyAllows(rules: readonly CompiledRule[], verb: string, apiGroup: string, name: string): boolean {
  for (const rule of rules) {
    if (rule.verbs !== undefined && !rule.verbs.has(verb)) continue;
    if (rule.apiGroups !== undefined && !rule.apiGroups.has(apiGroup)) continue;
    if (rule.names !== undefined && !rule.names.has(name)) continue;
    return true;
  }
  return false;
}
