import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
} from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';
import type { ResourceDefinition } from '../../../objects/registry/resource-definition.js';

/** The name of a resource and the name of a kind may be the same word, so they are kept apart. */
type Sort = 'resource' | 'kind';

const builtIn = '';

/** Which definition owns each name in its group: names of built-in kinds and names that definitions were given. */
export class AcceptedNames {
  /**
   * The names of the definitions that have a name, by group, sort and name; the empty one stands for built-in kinds.
   */
  private readonly owners = new Map<string, Set<string>>();
  private readonly owned = new Map<string, readonly string[]>();

  constructor(builtIns: Iterable<ResourceDefinition> = []) {
    for (const { group, resource, singular, shortNames = [], kind } of builtIns) {
      const listKind = `${kind}List`;
      const names = { plural: resource, singular, shortNames: [...shortNames], kind, listKind };
      for (const key of keysOf(group, names)) this.own(key, builtIn);
    }
  }

  /** Records the names that a definition was given; returns whether they changed. */
  set({ metadata, spec, status }: CustomResourceDefinition): boolean {
    const name = metadata.name ?? '';
    const keys = keysOf(spec.group, status.acceptedNames);
    const before = this.owned.get(name) ?? [];
    if (keys.length === before.length && keys.every((key, i) => key === before[i])) return false;
    this.delete(name);
    if (keys.length > 0) this.owned.set(name, keys);
    for (const key of keys) this.own(key, name);
    return true;
  }

  /** Forgets a definition. */
  delete(name: string): void {
    for (const key of this.owned.get(name) ?? []) {
      const owners = this.owners.get(key);
      if (owners?.delete(name) === true && owners.size === 0) this.owners.delete(key);
    }
    this.owned.delete(name);
  }

  /** Whether a definition other than the named one, or a built-in kind, has a name. */
  isTaken(group: string, sort: Sort, name: string, byOtherThan: string): boolean {
    const owners = this.owners.get(keyOf(group, sort, name));
    return owners !== undefined && (owners.size > 1 || !owners.has(byOtherThan));
  }

  private own(key: string, owner: string): void {
    const owners = this.owners.get(key);
    if (owners === undefined) this.owners.set(key, new Set([owner]));
    else owners.add(owner);
  }
}

function keyOf(group: string, sort: Sort, name: string): string {
  return `${group}/${sort}/${name}`;
}

function keysOf(group: string, names: CustomResourceDefinitionNames): string[] {
  const { plural, singular = '', shortNames = [], kind, listKind = '' } = names;
  const keys = [plural, singular, ...shortNames]
    .filter((name) => name !== '')
    .map((name) => keyOf(group, 'resource', name));
  keys.push(...[kind, listKind].filter((name) => name !== '').map((name) => keyOf(group, 'kind', name)));
  return keys;
}
