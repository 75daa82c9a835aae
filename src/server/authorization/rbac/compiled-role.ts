import { PackedPart } from '../../../base/machinery/packed/packed-parts.js';
import { PackedStrings } from '../../../base/machinery/packed/packed-strings.js';
import { atOnce, eachInSteps, type Steps, setInSteps } from '../../../base/machinery/turns.js';
import { pathPrefix } from '../../../objects/apis/rbac/rules/path-pattern.js';
import type { PolicyRule } from '../../../objects/apis/rbac/v1/role.types.js';

const everything = '*';
/** Sets of more names are packed. */
const fewNames = 16;
/** Estimated memory of a rule, of a set and of an entry in a set or map, in bytes, without texts. */
const ruleBytes = 120;
const setBytes = 200;
const entryBytes = 56;

/** A set of strings in either form. */
type Names = Pick<ReadonlySet<string>, 'has'>;

interface CompiledRule {
  /** Undefined for all verbs. */
  readonly verbs: ReadonlySet<string> | undefined;
  readonly apiGroups: ReadonlySet<string> | undefined;
  readonly names: Names | undefined;
}

interface CompiledPathRule {
  readonly verbs: ReadonlySet<string> | undefined;
  readonly paths: ReadonlySet<string>;
  /** The part of each path before a final `*`. An empty prefix matches every path. */
  readonly prefixes: readonly string[];
}

/** Rules that differ in their names only, and are therefore kept as one. */
interface MergedRule {
  readonly rule: PolicyRule;
  /** Undefined for all names. */
  names: string[] | undefined;
}

/**
 * The rules of a role, indexed so that only rules about the requested resource are checked. Rules that differ in their
 * resource names only are one here: a role may list thousands of objects, each in a rule of its own.
 */
export class CompiledRole {
  /** Rules by the resource they name, including any subresource; `*` may stand for the resource. */
  private readonly byResource = new Map<string, CompiledRule[]>();
  private readonly onAll: CompiledRule[] = [];
  private readonly onPaths: CompiledPathRule[] = [];
  private estimate = ruleBytes;
  private values = 0;
  private listed: readonly PolicyRule[] | PackedPart;

  private constructor(rules: readonly PolicyRule[]) {
    this.listed = rules;
  }

  /** The role without rules. */
  static readonly none = new CompiledRole([]);

  static of(rules: readonly PolicyRule[]): CompiledRole {
    return atOnce(CompiledRole.inSteps(rules));
  }

  /**
   * Like {@link of}, but in steps: a role may have tens of thousands of rules, and a rule hundreds of thousands of
   * values.
   */
  static *inSteps(rules: readonly PolicyRule[]): Steps<CompiledRole> {
    const role = new CompiledRole(rules);
    const merged = new Map<string, MergedRule>();
    for (const rule of rules) {
      role.values += countOf(rule);
      if (rule.nonResourceURLs !== undefined && rule.nonResourceURLs.length > 0) yield* role.addPaths(rule);
      if (rule.resources !== undefined && rule.resources.length > 0) merge(merged, rule);
      yield;
    }
    const sets = new Map<string, ReadonlySet<string> | undefined>();
    for (const one of merged.values()) {
      yield* role.add(one, sets);
      yield;
    }
    return role;
  }

  /** The rules as they were written. Those of a role whose rules are packed are read again. */
  get rules(): readonly PolicyRule[] {
    return this.listed instanceof PackedPart ? (this.listed.value as readonly PolicyRule[]) : this.listed;
  }

  /** Number of rules and of their values. Reads no packed rules. */
  get count(): number {
    return this.values;
  }

  /** Estimated memory in bytes, without the rules as they were written. */
  get bytes(): number {
    return this.estimate;
  }

  /** Keeps the rules as they were written in this form from now on. */
  pack(rules: PackedPart): void {
    this.listed = rules;
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

  private *addPaths({ verbs, nonResourceURLs = [] }: PolicyRule): Steps {
    const paths = new Set<string>();
    const prefixes: string[] = [];
    yield* eachInSteps(nonResourceURLs, (path) => {
      this.estimate += entryBytes + path.length;
      if (path.endsWith(everything)) prefixes.push(pathPrefix(path));
      else paths.add(path);
    });
    this.estimate += ruleBytes + setBytes;
    this.onPaths.push({ verbs: yield* this.setOf(verbs), paths, prefixes });
  }

  private *add({ rule, names }: MergedRule, sets: Map<string, ReadonlySet<string> | undefined>): Steps {
    const { verbs, apiGroups, resources = [] } = rule;
    const compiled: CompiledRule = {
      verbs: yield* this.sharedSet(verbs, sets),
      apiGroups: yield* this.sharedSet(apiGroups, sets),
      names: names === undefined ? undefined : yield* this.namesOf(names),
    };
    this.estimate += ruleBytes;
    const distinct = yield* setInSteps(resources);
    yield* eachInSteps(distinct, (resource) => {
      if (resource === everything) this.onAll.push(compiled);
      else {
        const rules = this.byResource.get(resource);
        if (rules === undefined) {
          this.byResource.set(resource, [compiled]);
          this.estimate += 2 * entryBytes + resource.length;
        } else {
          rules.push(compiled);
          this.estimate += 8;
        }
      }
    });
  }

  private *namesOf(names: readonly string[]): Steps<Names> {
    if (names.length <= fewNames) return (yield* this.setOf(names, '')) as ReadonlySet<string>;
    const packed = yield* PackedStrings.inSteps(names);
    this.estimate += packed.bytes;
    return packed;
  }

  /** The set of the values, which rules with the same values share. */
  private *sharedSet(
    values: readonly string[] | undefined | null,
    sets: Map<string, ReadonlySet<string> | undefined>,
  ): Steps<ReadonlySet<string> | undefined> {
    const key = JSON.stringify(values ?? []);
    if (!sets.has(key)) sets.set(key, yield* this.setOf(values));
    return sets.get(key);
  }

  /** The set of the values; undefined if one of them stands for all. */
  private *setOf(
    values: readonly string[] | undefined | null,
    wildcard = everything,
  ): Steps<ReadonlySet<string> | undefined> {
    const list = values ?? [];
    if (wildcard !== '' && list.includes(wildcard)) return undefined;
    const set = yield* setInSteps(list);
    this.estimate += setBytes;
    for (const value of list) this.estimate += entryBytes + value.length;
    return set;
  }
}

/** Number of a rule and of its values. */
export function countOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number {
  const lists = [verbs, apiGroups, resources, resourceNames, nonResourceURLs];
  return lists.reduce((sum, list) => sum + (list?.length ?? 0), 1);
}

function merge(merged: Map<string, MergedRule>, rule: PolicyRule): void {
  const { verbs, apiGroups, resources, resourceNames } = rule;
  const names = resourceNames === undefined || resourceNames.length === 0 ? undefined : [...resourceNames];
  const key = JSON.stringify([verbs ?? [], apiGroups ?? [], resources]);
  const known = merged.get(key);
  if (known === undefined) merged.set(key, { rule, names });
  else if (names === undefined) known.names = undefined;
  else if (known.names !== undefined) for (const name of names) known.names.push(name);
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
