import type { ApiObject } from '../../machinery/api-object.js';
import { kindRank } from '../../restoring/creation-order.js';
import { type NotTaken, resourceName } from '../format/lines.js';
import { printable } from '../format/printable.js';
import { ApiFault, type ClusterClient } from './cluster-client.js';

/** A kind that a cluster serves, in one version. */
export interface ServedKind {
  /** `v1`, `apps/v1` */
  readonly apiVersion: string;
  readonly kind: string;
  /** The word in paths. */
  readonly resource: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly hasStatus: boolean;
  /** Other words for it. */
  readonly otherNames: readonly string[];
  /** Names what is stored: the same for two names of the same objects. Empty if the server does not tell. */
  readonly storage: string;
}

/** The kinds of a cluster. */
export interface ServedKinds {
  /** All kinds whose objects can be listed and created, each in one version, in the order of creation. */
  readonly kinds: readonly ServedKind[];
  /** Groups that other servers answer for, or that nobody answers for. */
  readonly notTaken: readonly NotTaken[];
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

interface Group {
  readonly name: string;
  /** The preferred one first. */
  readonly versions: readonly string[];
}

interface ApiResourceList {
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs: readonly string[];
    readonly singularName?: string;
    readonly shortNames?: readonly string[];
    readonly storageVersionHash?: string;
  }[];
}

/** Documents of groups that are asked for at the same time. */
const atOnce = 8;

/**
 * Asks a cluster what it serves.
 *
 * @param allVersions whether to tell of each kind in all its versions
 */
export async function servedKinds(
  client: ClusterClient,
  signal: AbortSignal,
  allVersions = false,
): Promise<ServedKinds> {
  const groups = await groupsOf(client, signal);
  const remote = await remoteVersions(client, groups, signal);
  const stored = await storedVersions(client, groups, signal);
  const notTaken: NotTaken[] = [];
  const wanted: GroupVersion[] = [];
  for (const { name: group, versions } of groups) {
    for (const version of versions) {
      if (!remote.has(`${version}.${group}`)) wanted.push({ group, version });
      else notTaken.push({ what: apiVersionOf(group, version), why: 'another server answers for it', asked: false });
    }
  }
  const documents: (readonly ServedKind[])[] = [];
  for (let i = 0; i < wanted.length; i += atOnce) {
    const part = wanted.slice(i, i + atOnce);
    documents.push(...(await Promise.all(part.map((one) => kindsOf(client, one, notTaken, signal)))));
  }
  return { kinds: allVersions ? documents.flat() : chosen(documents.flat(), stored), notTaken };
}

/** The path of all objects of a kind, or of those in a namespace. */
export function collectionPath(
  { apiVersion, resource }: Pick<ServedKind, 'apiVersion' | 'resource'>,
  namespace?: string,
) {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return namespace === undefined
    ? `${root}/${resource}`
    : `${root}/namespaces/${encodeURIComponent(namespace)}/${resource}`;
}

/** One kind of each resource: in the version that is stored, if it is known, or else in the preferred one. */
function chosen(all: readonly ServedKind[], stored: ReadonlyMap<string, string>): readonly ServedKind[] {
  const byName = new Map<string, ServedKind>();
  const byStorage = new Map<string, string>();
  for (const kind of all) {
    if (!['list', 'create'].every((verb) => kind.verbs.includes(verb))) continue;
    const name = resourceName(kind);
    const isStored = stored.get(name) === kind.apiVersion;
    if (byName.has(name) && !isStored) continue;
    // Events and some others are served in two groups, with the same objects.
    const storage = kind.storage === '' ? '' : `${kind.resource} ${kind.storage}`;
    const twin = byStorage.get(storage);
    if (storage !== '' && twin !== undefined && twin !== name) continue;
    byStorage.set(storage, name);
    byName.set(name, kind);
  }
  for (const name of [...byName.keys()]) {
    // Where the server does not tell: the group that everything has left.
    const [resource = ''] = name.split('.', 1);
    const isTwin = [...byName.keys()].some((other) => other !== name && other.startsWith(`${resource}.`));
    if ((name.endsWith('.extensions') && isTwin) || (/^events\.events\./.test(name) && byName.has('events'))) {
      byName.delete(name);
    }
  }
  const rank = ({ apiVersion, kind }: ServedKind) => kindRank(apiVersion, kind);
  return [...byName.values()].sort((a, b) => rank(a) - rank(b) || (resourceName(a) < resourceName(b) ? -1 : 1));
}

async function groupsOf(client: ClusterClient, signal: AbortSignal): Promise<readonly Group[]> {
  const core = await client.send<{ versions?: string[] }>('GET', '/api', { signal });
  const others = await client.send<{
    groups?: { name: string; versions: { version: string }[]; preferredVersion?: { version: string } }[];
  }>('GET', '/apis', { signal });
  return [
    { name: '', versions: core.versions ?? [] },
    ...(others.groups ?? []).map(({ name, versions, preferredVersion }) => {
      const names = versions.map(({ version }) => version);
      const preferred = preferredVersion?.version;
      return { name, versions: preferred === undefined ? names : [...new Set([preferred, ...names])] };
    }),
  ];
}

/** Names of the group versions, `v1.example.com`, for which extension servers answer; none if nobody may know. */
async function remoteVersions(
  client: ClusterClient,
  groups: readonly Group[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const services = await settings(client, groups, 'apiregistration.', 'apiservices', signal);
  return new Set(
    services
      .filter(({ spec }) => (spec as { service?: unknown } | undefined)?.service != null)
      .map(({ metadata }) => metadata.name ?? ''),
  );
}

/** API versions in which custom objects are stored, by resource name. Reading them so needs no conversion. */
async function storedVersions(
  client: ClusterClient,
  groups: readonly Group[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const definitions = await settings(client, groups, 'apiextensions.', 'customresourcedefinitions', signal);
  const stored = new Map<string, string>();
  for (const { spec } of definitions) {
    const { group, names, versions } = spec as {
      readonly group: string;
      readonly names: { readonly plural: string };
      readonly versions?: readonly { readonly name: string; readonly storage: boolean; readonly served: boolean }[];
    };
    const version = versions?.find(({ storage, served }) => storage && served);
    if (version !== undefined) stored.set(`${names.plural}.${group}`, `${group}/${version.name}`);
  }
  return stored;
}

async function settings(
  client: ClusterClient,
  groups: readonly Group[],
  prefix: string,
  resource: string,
  signal: AbortSignal,
): Promise<readonly ApiObject[]> {
  const group = groups.find(({ name }) => name.startsWith(prefix));
  if (group === undefined) return [];
  const objects: ApiObject[] = [];
  try {
    let token = '';
    do {
      const path = collectionPath({ apiVersion: apiVersionOf(group.name, group.versions[0] ?? ''), resource });
      const query = `?limit=250${token === '' ? '' : `&continue=${encodeURIComponent(token)}`}`;
      const found = await client.list(`${path}${query}`, signal, async (item) => {
        objects.push(JSON.parse(item.toString('utf8')) as ApiObject);
      });
      token = found.continue ?? '';
    } while (token !== '');
    return objects;
  } catch (error) {
    if (error instanceof ApiFault && [401, 403, 404, 410].includes(error.status)) return objects;
    throw error;
  }
}

async function kindsOf(
  client: ClusterClient,
  { group, version }: GroupVersion,
  notTaken: NotTaken[],
  signal: AbortSignal,
): Promise<readonly ServedKind[]> {
  const apiVersion = apiVersionOf(group, version);
  let list: ApiResourceList;
  try {
    list = await client.send<ApiResourceList>('GET', group === '' ? `/api/${version}` : `/apis/${apiVersion}`, {
      signal,
    });
  } catch (error) {
    if (!(error instanceof ApiFault)) throw error;
    notTaken.push({ what: printable(apiVersion), why: error.message, asked: false });
    return [];
  }
  const resources = list.resources ?? [];
  const names = new Set(resources.map(({ name }) => name));
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map((resource) => ({
      apiVersion,
      kind: resource.kind,
      resource: resource.name,
      namespaced: resource.namespaced,
      verbs: resource.verbs,
      hasStatus: names.has(`${resource.name}/status`),
      otherNames: [resource.singularName ?? '', ...(resource.shortNames ?? [])].filter((word) => word !== ''),
      storage: resource.storageVersionHash ?? '',
    }));
}

function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}
