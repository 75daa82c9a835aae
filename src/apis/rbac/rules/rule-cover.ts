/** A permission as roles and authorizers write it. */
export interface Permission {
  readonly verbs: readonly string[] | null;
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** The lists of a {@link Permission}, none absent. */
interface Lists {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** A rule names every combination of its lists, so that a small text can ask for billions of them. */
const maxCombinations = 20_000;
/** Each asked rule is compared with each held one. */
const maxComparisons = 2_000_000;

/** Too many single permissions to be checked one by one. */
export class TooManyPermissions extends Error {}

/**
 * The permissions in `asked` that `held` does not contain, each cut down to one verb, group, resource and name, or to
 * one verb and path. A wildcard is contained in the same wildcard only, not in a list of everything there is.
 *
 * @throws TooManyPermissions when rules that no single held rule contains have more than 20,000 combinations, or there are
 * very many rules on both sides.
 */
export function uncoveredPermissions(held: readonly Permission[], asked: readonly Permission[]): Permission[] {
  const owned = held.map(listsOf);
  const uncovered: Permission[] = [];
  let combinations = 0;
  let comparisons = 0;
  const compare = () => {
    comparisons += owned.length;
    if (comparisons > maxComparisons) throw new TooManyPermissions('there are too many rules to be checked');
  };
  for (const permission of asked) {
    const rule = unique(listsOf(permission));
    compare();
    // Usual rules are granted as they are held; then there is nothing to take apart.
    if (owned.some((own) => covers(own, rule))) continue;
    combinations += countSingle(rule);
    if (combinations > maxCombinations)
      throw new TooManyPermissions('the rules have too many combinations to be checked');
    for (const single of singlePermissions(rule)) {
      compare();
      if (!owned.some((own) => covers(own, single))) uncovered.push(single);
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

function covers(own: Lists, asked: Lists): boolean {
  return (
    coversAll(own.verbs, asked.verbs) &&
    coversAll(own.apiGroups, asked.apiGroups) &&
    asked.resources.every((resource) => coversResource(own.resources, resource)) &&
    coversNames(own.resourceNames, asked.resourceNames) &&
    asked.nonResourceURLs.every((path) => own.nonResourceURLs.some((ownPath) => coversPath(ownPath, path)))
  );
}

function coversAll(own: readonly string[], asked: readonly string[]): boolean {
  return own.includes('*') || asked.every((value) => own.includes(value));
}

function coversResource(own: readonly string[], resource: string): boolean {
  if (own.includes('*') || own.includes(resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && own.includes(`*${resource.slice(slash)}`);
}

/** No names means all of them. */
function coversNames(own: readonly string[], asked: readonly string[]): boolean {
  if (own.length === 0) return true;
  return asked.length > 0 && asked.every((name) => own.includes(name));
}

function coversPath(own: string, path: string): boolean {
  if (own === '*' || own === path) return true;
  return own.endsWith('*') && path.startsWith(own.replace(/\*+$/, ''));
}
