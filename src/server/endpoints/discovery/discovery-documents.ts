import { createHash } from 'node:crypto';
import { formatApiVersion, type GroupVersionKind } from '../../../base/machinery/group-version.js';
import { decode, type KindType } from '../../../base/machinery/schema/index.js';
import {
  isStoredKind,
  type StoredResource,
  subresourcesOf,
  verbsOf,
} from '../../../objects/registry/resource-definition.js';
import type { ResourceRegistry, ServedResource } from '../../../objects/registry/resource-registry.js';
import {
  bodyKindOf,
  type SubresourceDefinition,
  subresourceVerbs,
} from '../../../objects/registry/subresource-definition.js';
import type { OrderedGroup } from '../../aggregation/group-order.js';
import type { RemoteResource } from '../../aggregation/remote-resources.js';
import { jsonText } from '../negotiation/json-text.js';
import { protobufCodec } from '../negotiation/protobuf-codec.js';

interface ApiResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly storageVersionHash?: string;
}

/** `/api`: the versions of the core group. */
export function apiVersions(registry: ResourceRegistry, serverAddress: string): unknown {
  const core = registry.groups().find((g) => g.group === '');
  return {
    kind: 'APIVersions',
    versions: core?.versions ?? [],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** `/apis`: the named groups. */
export function apiGroupList(groups: readonly OrderedGroup[]): unknown {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.filter((g) => g.group !== '').map(groupBody) };
}

/** `/apis/<group>`. */
export function apiGroup(group: OrderedGroup): unknown {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupBody(group) };
}

function groupBody({ group, versions }: OrderedGroup) {
  const entries = versions.map((version) => ({ groupVersion: formatApiVersion({ group, version }), version }));
  return { name: group, versions: entries, preferredVersion: entries[0] };
}

/** `/api/v1` and `/apis/<group>/<version>`: resources and subresources with their verbs. */
export function apiResourceList(registry: ResourceRegistry, group: string, version: string): unknown {
  const resources: ApiResource[] = [];
  for (const resource of registry.resourcesOf(group, version)) {
    resources.push(resourceEntry(resource));
    const subresources = sortedSubresources(resource);
    for (const sub of subresources) resources.push(subresourceEntry(resource, sub));
  }
  // Clients expect the list of the core group without an apiVersion.
  const apiVersion = group === '' ? {} : { apiVersion: 'v1' };
  return { kind: 'APIResourceList', ...apiVersion, groupVersion: formatApiVersion({ group, version }), resources };
}

function resourceEntry({ definition }: ServedResource): ApiResource {
  return {
    name: definition.resource,
    singularName: definition.singular,
    namespaced: definition.namespaced,
    kind: definition.kind,
    verbs: verbsOf(definition),
    ...(definition.shortNames === undefined ? {} : { shortNames: definition.shortNames }),
    ...(definition.categories === undefined ? {} : { categories: definition.categories }),
    ...(isStoredKind(definition) ? { storageVersionHash: storageVersionHash(definition) } : {}),
  };
}

function subresourceEntry({ definition, served }: ServedResource, sub: SubresourceDefinition): ApiResource {
  const own = { group: definition.group, version: served.version };
  const kind = bodyKindOf(sub)?.kind;
  const differs = kind !== undefined && (kind.group !== own.group || kind.version !== own.version);
  return {
    name: `${definition.resource}/${sub.name}`,
    singularName: '',
    namespaced: definition.namespaced,
    ...(differs ? { group: kind.group, version: kind.version } : {}),
    kind: kind?.kind ?? definition.kind,
    verbs: [...subresourceVerbs(sub)].sort(),
  };
}

function sortedSubresources({ definition }: ServedResource): SubresourceDefinition[] {
  const subresources = subresourcesOf(definition);
  // Those of custom kinds come in the order of their definition.
  if (definition.versions[0].type.custom !== undefined) return [...subresources];
  return subresources.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * A digest of the stored group, version and kind, by which clients notice that objects are now stored in another
 * version.
 */
export function storageVersionHash(definition: StoredResource): string {
  const { group } = definition.storedAs ?? definition;
  // Clients know definitions by the digest of the version that the release names for them.
  const isDefinition = group.startsWith('apiextensions.') && definition.kind === 'CustomResourceDefinition';
  const version = isDefinition ? 'v1beta1' : definition.versions[0].version;
  const text = `${group}/${version}/${definition.kind}`;
  return createHash('sha256').update(text).digest().subarray(0, 8).toString('base64');
}

/** What an extension server reports about a group version, and whether it could be reached. */
export interface RemoteVersion {
  readonly resources: readonly RemoteResource[];
  readonly isCurrent: boolean;
}

/**
 * The aggregated form as JSON: every resource of the groups in one document, generated group by group.
 *
 * @param items from {@link aggregatedGroups}
 */
export function* aggregatedText(items: Iterable<object>, apiVersion: string): Generator<string, void, undefined> {
  const head = JSON.stringify({ kind: 'APIGroupDiscoveryList', apiVersion, metadata: {}, items: [] });
  yield head.slice(0, -']}'.length);
  let separator = '';
  for (const item of items) {
    yield separator;
    yield* jsonText(item);
    separator = ',';
  }
  yield ']}\n';
}

/** Like {@link aggregatedText}, as protobuf. @param type declares the items */
export function* aggregatedBytes(
  items: Iterable<object>,
  apiVersion: string,
  type: KindType,
): Generator<Uint8Array, void, undefined> {
  const { encodeProtobuf, encodeEnvelopeHead, repeatedHead } = protobufCodec();
  // The fields of the list message: its metadata, which is empty, and the items.
  const parts: Uint8Array[] = [Uint8Array.of(0x0a, 0)];
  for (const item of items) {
    const bytes = encodeProtobuf(type, decode(type, item).value);
    parts.push(repeatedHead(2, bytes.length), bytes);
    yield noBytes;
  }
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  yield encodeEnvelopeHead(apiVersion, 'APIGroupDiscoveryList', length);
  yield* parts;
}

const noBytes = new Uint8Array();

/**
 * The items of the aggregated form.
 *
 * @param remotes group versions of extension servers by `<group>/<version>`
 */
export function* aggregatedGroups(
  registry: ResourceRegistry,
  groups: readonly OrderedGroup[],
  remotes: ReadonlyMap<string, RemoteVersion>,
): Generator<object, void, undefined> {
  for (const { group, versions } of groups) {
    yield {
      metadata: { name: group === '' ? undefined : group },
      versions: versions.map((version) => {
        const remote = remotes.get(`${group}/${version}`);
        const resources =
          remote?.resources ?? registry.resourcesOf(group, version).map((r) => aggregatedResource(r, group, version));
        return { version, resources, freshness: remote?.isCurrent === false ? 'Stale' : 'Current' };
      }),
    };
  }
}

function aggregatedResource(resource: ServedResource, group: string, version: string): unknown {
  const { definition } = resource;
  const subresources = sortedSubresources(resource);
  // Clients replace an empty group and version by those of the document; custom kinds are named in full.
  const isDefined = definition.type === 'stored' && definition.definedBy !== undefined;
  const own = isDefined ? { group, version } : { group: '', version: '' };
  const kindOf = (kind: GroupVersionKind | undefined) => {
    if (kind === undefined) return { ...own, kind: definition.kind };
    return kind.group === group && kind.version === version ? { ...own, kind: kind.kind } : kind;
  };
  return {
    resource: definition.resource,
    responseKind: kindOf(undefined),
    scope: definition.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: definition.singular,
    verbs: verbsOf(definition),
    shortNames: definition.shortNames,
    categories: definition.categories,
    subresources:
      subresources.length === 0
        ? undefined
        : subresources.map((sub) => ({
            subresource: sub.name,
            responseKind: kindOf(bodyKindOf(sub)?.kind),
            verbs: [...subresourceVerbs(sub)].sort(),
          })),
  };
}
