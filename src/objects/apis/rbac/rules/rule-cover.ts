import { atOnce, eachInSteps, type Steps } from '../../../../base/machinery/turns.js';
import { pathPrefix } from './path-pattern.js';
import { TooManyPermissions } from './too-many-permissions.js';

/** A permission as roles and authorizers write it. */
export interface Permission {
  readonly verbs: readonly string[] | null;
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** The lists of a {@link Permission}, all of them present. */
interface Lists<L = readonly string[]> {
  readonly verbs: L;
  readonly apiGroups: L;
  readonly resources: L;
  readonly resourceNames: L;
  readonly nonResourceURLs: readonly string[];
}

/** The values of a list of a held rule, indexed once for all requested rules. */
interface Values {
  readonly length: number;
  has(value: string): boolean;
}

/**
 * The most combinations to check one by one. A rule covers every combination of its lists, so a short rule can request
 * billions of them.
 */
const maxCombinations = 20_000;
/** Lists longer than this are looked up by hash. */
const mostLookedThrough = 16;
/** The most comparisons: each requested rule is compared with each held one. */
const maxComparisons = 2_000_000;
/** The cost of the comparisons of one step, in looked-up values. */
const costOfStep = 10_000;

/**
 * The permissions in `asked` that `held` does not contain, each cut down to one verb, group, resource and name, or to
 * one verb and path. Only the same wildcard contains a wildcard; a list of all existing values does not.
 *
 * @throws TooManyPermissions when rules that no single held rule contains have more than 20,000 combinations, or there
 * are very many rules on both sides.
 */
export function uncoveredPermissions(held: readonly Permission[], asked: readonly Permission[]): Permission[] {
  return atOnce(findingUncovered(held, asked));
}

/** {@link uncoveredPermissions} in steps. */
export function* findingUncovered(held: readonly Permission[], asked: readonly Permission[]): Steps<Permission[]> {
  const owned: Lists<Values>[] = [];
  yield* eachInSteps(held, (permission) => owned.push(valuesOf(listsOf(permission))));
  const uncovered: Permission[] = [];
  let combinations = 0;
  let comparisons = 0;
  let cost = 0;
  const isCovered = function* (rule: Lists): Steps<boolean> {
    comparisons += owned.length;
    if (comparisons > maxComparisons) throw new TooManyPermissions('there are too many rules to be checked');
    for (const own of owned) {
      cost += costOf(own, rule);
      if (cost >= costOfStep) {
        cost = 0;
        yield;
      }
      if (covers(own, rule)) return true;
    }
    return false;
  };
  for (const permission of asked) {
    const rule = unique(listsOf(permission));
    // Usually a held rule covers the whole requested rule, which then need not be split.
    if (yield* isCovered(rule)) continue;
    combinations += countSingle(rule);
    if (combinations > maxCombinations)
      throw new TooManyPermissions('the rules have too many combinations to be checked');
    for (const single of singlePermissions(rule)) {
      if (!(yield* isCovered(single))) uncovered.push(single);
    }
  }
  return uncovered;
}

function listsOf(permission: Permission): Lists {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = permission;
  return { verbs: verbs ?? [], apiGroups, resources, resourceNames, nonResourceURLs };
}

function unique(lists: Lists): Lists {
  return {
    verbs: [...new Set(lists.verbs)],
    apiGroups: [...new Set(lists.apiGroups)],
    resources: [...new Set(lists.resources)],
    resourceNames: [...new Set(lists.resourceNames)],
    nonResourceURLs: [...new Set(lists.nonResourceURLs)],
  };
}

function countSingle({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Lists): number {
  const onResources = apiGroups.length * resources.length * Math.max(resourceNames.length, 1);
  return verbs.length * (onResources + nonResourceURLs.length);
}

function* singlePermissions({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Lists): Generator<Lists> {
  const names = resourceNames.length === 0 ? [[]] : resourceNames.map((name) => [name]);
  for (const apiGroup of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        for (const resourceName of names) {
          const lists = { verbs: [verb], apiGroups: [apiGroup], resources: [resource] };
          yield { ...lists, resourceNames: resourceName, nonResourceURLs: [] };
        }
      }
    }
  }
  for (const path of nonResourceURLs) {
    for (const verb of verbs) {
      yield { verbs: [verb], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [path] };
    }
  }
}

function valuesOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Lists): Lists<Values> {
  return {
    verbs: valuesIn(verbs),
    apiGroups: valuesIn(apiGroups),
    resources: valuesIn(resources),
    resourceNames: valuesIn(resourceNames),
    nonResourceURLs,
  };
}

function valuesIn(list: readonly string[]): Values {
  const { length } = list;
  if (length <= mostLookedThrough) return { length, has: (value) => list.includes(value) };
  const set = new Set(list);
  return { length, has: (value) => set.has(value) };
}

/** The cost of a comparison, in looked-up values of the requested rule. */
function costOf(own: Lists<Values>, { verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Lists): number {
  const values = verbs.length + apiGroups.length + resources.length + resourceNames.length;
  return 1 + values + own.nonResourceURLs.length * nonResourceURLs.length;
}

function covers(own: Lists<Values>, asked: Lists): boolean {
  return (
    coversAll(own.verbs, asked.verbs) &&
    coversAll(own.apiGroups, asked.apiGroups) &&
    asked.resources.every((resource) => coversResource(own.resources, resource)) &&
    coversNames(own.resourceNames, asked.resourceNames) &&
    asked.nonResourceURLs.every((path) => own.nonResourceURLs.some((ownPath) => coversPath(ownPath, path)))
  );
}

function coversAll(own: Values, asked: readonly string[]): boolean {
  return own.has('*') || asked.every((value) => own.has(value));
}

function coversResource(own: Values, resource: string): boolean {
  if (own.has('*') || own.has(resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && own.has(`*${resource.slice(slash)}`);
}

/** A rule without names covers all names. */
function coversNames(own: Values, asked: readonly string[]): boolean {
  if (own.length === 0) return true;
  return asked.length > 0 && asked.every((name) => own.has(name));
}

function coversPath(own: string, path: string): boolean {
  if (own === '*' || own === path) return true;
  return own.endsWith('*') && path.startsWith(pathPrefix(own));
}
