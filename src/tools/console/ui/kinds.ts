import type { Api } from './api.js';
import { ApiFault } from './api-fault.js';
import { titleOfKind } from './kind-title.js';

/** A kind that the server serves, in the version that it prefers. */
export interface Kind {
  /** The API group; empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  /** Whether the status has a path of its own. */
  readonly hasStatus?: boolean;
}

/** The kinds of a server. */
export interface Kinds {
  readonly all: readonly Kind[];
  /** The end of the names of groups that carry the vendor's, such as `k8s.io`. */
  readonly suffix: string;
  /** Groups that could not be queried. */
  readonly missing: readonly string[];
}

interface GroupList {
  readonly groups?: readonly {
    readonly name: string;
    readonly versions: readonly { readonly version: string }[];
    readonly preferredVersion?: { readonly version: string };
  }[];
}

interface ResourceList {
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs?: readonly string[];
    readonly shortNames?: readonly string[];
  }[];
}

/**
 * Queries what the server serves. A group that can't be queried (its extension server is unavailable) is left out and
 * named.
 */
export async function discover(api: Api): Promise<Kinds> {
  const { groups = [] } = await again(() => api.json<GroupList>('/apis'));
  const versions = groups.flatMap(({ name, versions, preferredVersion }) => {
    const preferred = preferredVersion?.version ?? versions[0]?.version;
    const ordered = [...versions].sort((a, b) => Number(b.version === preferred) - Number(a.version === preferred));
    return ordered.map(({ version }) => ({ group: name, version }));
  });
  const missing: string[] = [];
  const found = await Promise.all(
    [{ group: '', version: 'v1' }, ...versions].map(async ({ group, version }) => {
      try {
        const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
        const list = await again(() => api.json<ResourceList>(path));
        return kindsOf(group, version, list);
      } catch {
        missing.push(`${group}/${version}`);
        return [];
      }
    }),
  );
  const byName = new Map<string, Kind>();
  // The first version of a group that has the resource is the one it prefers.
  for (const kind of found.flat()) {
    const name = `${kind.resource}.${kind.group}`;
    if (!byName.has(name)) byName.set(name, kind);
  }
  const suffix = groups.map(({ name }) => /^authorization\.(.+)$/.exec(name)?.[1]).find((text) => text !== undefined);
  return { all: [...byName.values()], suffix: suffix ?? 'k8s.io', missing };
}

/** A connection may break for a moment; an extension server that is not there is worth no second try. */
async function again<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ApiFault && error.code === 0) return run();
    throw error;
  }
}

function kindsOf(group: string, version: string, { resources = [] }: ResourceList): Kind[] {
  const names = new Set(resources.map(({ name }) => name));
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, kind, namespaced, verbs = [], shortNames = [] }) => ({
      group,
      version,
      resource: name,
      kind,
      namespaced,
      verbs,
      shortNames,
      hasStatus: names.has(`${name}/status`),
    }));
}

export function canList({ verbs }: Kind): boolean {
  return verbs.includes('list');
}

/** The `apiVersion` of a kind: `apps/v1`, `v1`. */
export function apiVersionOf({ group, version }: Pick<Kind, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** The kind that a reference with `apiVersion` and `kind` means, whatever the version. */
export function kindOf(kinds: readonly Kind[], apiVersion: string, kind: string): Kind | undefined {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  return kinds.find((each) => each.group === group && each.kind === kind);
}

/** The path of a collection, or of an object in it. An empty namespace means all of them, or none for kinds without. */
export function pathOf(kind: Pick<Kind, 'group' | 'version' | 'resource'>, namespace: string, name?: string): string {
  const root = kind.group === '' ? `/api/${enc(kind.version)}` : `/apis/${enc(kind.group)}/${enc(kind.version)}`;
  const scope = namespace === '' ? '' : `/namespaces/${enc(namespace)}`;
  return `${root}${scope}/${enc(kind.resource)}${name === undefined ? '' : `/${enc(name)}`}`;
}

function enc(segment: string): string {
  return encodeURIComponent(segment);
}

/** Kinds whose name, title, group or short names contain the text; those that begin with it come first. */
export function searchKinds(kinds: readonly Kind[], text: string): readonly Kind[] {
  const wanted = text.trim().toLowerCase();
  const names = (kind: Kind) => [
    kind.resource,
    kind.kind.toLowerCase(),
    titleOfKind(kind).toLowerCase(),
    ...kind.shortNames,
  ];
  return kinds
    .map((kind) => ({ kind, rank: rankOf(names(kind), kind.group, wanted) }))
    .filter(({ rank }) => rank < 4)
    .sort((a, b) => a.rank - b.rank)
    .map(({ kind }) => kind);
}

function rankOf(names: readonly string[], group: string, wanted: string): number {
  if (wanted === '') return 0;
  if (names.includes(wanted)) return 0;
  if (names.some((name) => name.startsWith(wanted))) return 1;
  if (names.some((name) => name.includes(wanted))) return 2;
  return group.includes(wanted) ? 3 : 4;
}
