import { StartupError } from '../../../base/machinery/startup-error.js';
import { type NotTaken, resourceName } from '../format/lines.js';
import { printable } from '../format/printable.js';
import { kindRank } from '../recreate/creation-order.js';
import { ApiFault } from './api-fault.js';
import { type ClusterClient, fieldsOf } from './cluster-client.js';
import { collectionPath } from './collection-path.js';
import type { ServedKind } from './served-kind.js';

/** The kinds of a cluster. */
export interface ServedKinds {
  /** All kinds whose objects can be listed and created, each in one version, in the order of creation. */
  readonly kinds: readonly ServedKind[];
  /** Groups that other servers serve, or that no server serves. */
  readonly notTaken: readonly NotTaken[];
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

interface Group {
  readonly name: string;
  /** The versions of the group, the preferred one first. */
  readonly versions: readonly string[];
}

/** How many group documents are requested concurrently. */
const atOnce = 8;
/**
 * The most groups, which is more than any cluster has: a server must not cause endless requests, or fill the memory.
 */
const mostGroups = 5_000;
const mostSettings = 20_000;
/** The form of a word that becomes part of a path. */
const wordForm = /^[A-Za-z0-9][A-Za-z0-9.-]*$/;

/**
 * Queries what a cluster serves.
 *
 * @param allVersions whether to report each kind in all its versions
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
    // Where the server does not report the storage: drop the group from which the resource has moved.
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
  const core = fieldsOf(await client.send<unknown>('GET', '/api', { signal }));
  const others = fieldsOf(await client.send<unknown>('GET', '/apis', { signal }));
  const named = listOf(others.groups).flatMap((entry): Group[] => {
    const { name, versions, preferredVersion } = fieldsOf(entry);
    const preferred = fieldsOf(preferredVersion).version;
    const all = [preferred, ...listOf(versions).map((one) => fieldsOf(one).version)].filter(isWord);
    return isWord(name) ? [{ name, versions: [...new Set(all)] }] : [];
  });
  if (named.length > mostGroups) throw new StartupError(`${client.server} has more groups than any cluster`);
  return [{ name: '', versions: listOf(core.versions).filter(isWord) }, ...named];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textsOf(value: unknown): readonly string[] {
  return listOf(value).filter((one) => typeof one === 'string');
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && wordForm.test(value);
}

/**
 * Names of the group versions, `v1.example.com`, for which extension servers answer; none if the user may not read
 * them.
 */
async function remoteVersions(
  client: ClusterClient,
  groups: readonly Group[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const services = await settings(client, groups, 'apiregistration.', 'apiservices', signal);
  return new Set(
    services
      .filter(({ spec }) => fieldsOf(spec).service != null)
      .map(({ metadata }) => String(fieldsOf(metadata).name)),
  );
}

/**
 * API versions in which custom objects are stored, by resource name. Reading them in these versions needs no
 * conversion.
 */
async function storedVersions(
  client: ClusterClient,
  groups: readonly Group[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const definitions = await settings(client, groups, 'apiextensions.', 'customresourcedefinitions', signal);
  const stored = new Map<string, string>();
  for (const { spec } of definitions) {
    const { group, names, versions } = fieldsOf(spec);
    const stands = listOf(versions).map(fieldsOf);
    const version = stands.find(({ storage, served }) => storage === true && served === true);
    if (version !== undefined) stored.set(`${fieldsOf(names).plural}.${group}`, `${group}/${version.name}`);
  }
  return stored;
}

async function settings(
  client: ClusterClient,
  groups: readonly Group[],
  prefix: string,
  resource: string,
  signal: AbortSignal,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const group = groups.find(({ name }) => name.startsWith(prefix));
  if (group === undefined) return [];
  const objects: Readonly<Record<string, unknown>>[] = [];
  try {
    let token = '';
    do {
      const path = collectionPath({ apiVersion: apiVersionOf(group.name, group.versions[0] ?? ''), resource });
      const query = `?limit=250${token === '' ? '' : `&continue=${encodeURIComponent(token)}`}`;
      const found = await client.list(`${path}${query}`, signal, async (item) => {
        objects.push(fieldsOf(JSON.parse(item.toString('utf8'))));
        if (objects.length > mostSettings)
          throw new StartupError(`${client.server} has more ${resource} than any cluster`);
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
  let list: unknown;
  try {
    list = await client.send('GET', group === '' ? `/api/${version}` : `/apis/${apiVersion}`, { signal });
  } catch (error) {
    if (!(error instanceof ApiFault)) throw error;
    notTaken.push({ what: printable(apiVersion), why: error.message, asked: false });
    return [];
  }
  const resources = listOf(fieldsOf(list).resources).map(fieldsOf);
  const names = new Set(resources.map(({ name }) => name));
  return resources.flatMap((resource): ServedKind[] => {
    const { name, kind, namespaced, verbs, singularName = '', shortNames, storageVersionHash } = resource;
    if (!isWord(name) || !isWord(kind)) return [];
    return [
      {
        apiVersion,
        kind,
        resource: name,
        namespaced: namespaced === true,
        verbs: textsOf(verbs),
        hasStatus: names.has(`${name}/status`),
        otherNames: [...textsOf([singularName]), ...textsOf(shortNames)].filter((word) => word !== ''),
        storage: typeof storageVersionHash === 'string' ? storageVersionHash : '',
      },
    ];
  });
}

function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}
