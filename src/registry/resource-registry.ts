import { formatGroupResource, type GroupVersionResource, parseApiVersion } from '../machinery/group-version.js';
import {
  isStoredKind,
  type ResourceDefinition,
  type ServedVersion,
  type StoredResource,
  storageOf,
} from './resource-definition.js';

/** A definition under one of its served versions: the resource that a request names. */
export interface ServedResource<D extends ResourceDefinition = ResourceDefinition> {
  readonly definition: D;
  readonly served: ServedVersion;
  /** Whether the served version is the stored one, so stored bytes can be answered unchanged. */
  readonly isStored: boolean;
  /** `<group>/<version>` or `v1`. */
  readonly apiVersion: string;
  /** `resource` column of the store. */
  readonly storageResource: string;
}

/** A resource whose objects are in the store, under one of its versions. */
export type StoredServedResource = ServedResource<StoredResource>;

/** Whether the objects of a resource are ever stored. */
export function isStoredResource(resource: ServedResource): resource is StoredServedResource {
  return isStoredKind(resource.definition);
}

/** Groups in the order of `/apis`; the core group is the empty name. */
export interface ServedGroup {
  readonly group: string;
  /** Preferred one first. */
  readonly versions: readonly string[];
}

/**
 * All resources this server knows. Group modules register at start; later additions (custom resources) may register and
 * unregister at run time, so every look-up goes through here. Versions that are switched off stay known, because their
 * objects stay stored. Only look-ups for clients are limited to served versions.
 */
export class ResourceRegistry {
  private readonly byPath = new Map<string, ServedResource>();
  private readonly servedByPath = new Map<string, ServedResource>();
  private readonly byStorage = new Map<string, StoredServedResource>();
  private readonly servedByStorage = new Map<string, ServedResource[]>();
  private readonly groupVersions = new Map<string, string[]>();

  /** @param isServed which resources are served under which versions; default: all. */
  constructor(private readonly isServed: (resource: GroupVersionResource) => boolean = () => true) {}

  /** Adds a definition under all of its versions; throws when one is taken. */
  register(definition: ResourceDefinition): void {
    const stored = definition.versions[0];
    const storage = storageOf(definition);
    const isAlias = isStoredKind(definition) && definition.storedAs !== undefined;
    for (const served of definition.versions) {
      const path = pathOf(definition.group, served.version, definition.resource);
      if (this.byPath.has(path)) throw new Error(`resource ${path} is registered twice`);
      const entry: ServedResource = {
        definition,
        served,
        isStored: served === stored && !isAlias,
        apiVersion: definition.group === '' ? served.version : `${definition.group}/${served.version}`,
        storageResource: formatGroupResource(storage),
      };
      this.byPath.set(path, entry);
      // A definition that stores its own objects comes before one that shares the place.
      const isFirst = served === stored && !this.byStorage.has(entry.storageResource);
      if (isStoredResource(entry) && (isFirst || entry.isStored)) this.byStorage.set(entry.storageResource, entry);
      const { group, resource } = definition;
      if (!this.isServed({ group, version: served.version, resource })) continue;
      this.servedByPath.set(path, entry);
      const views = this.servedByStorage.get(entry.storageResource);
      if (views === undefined) this.servedByStorage.set(entry.storageResource, [entry]);
      else views.push(entry);
      const versions = this.groupVersions.get(definition.group) ?? [];
      if (!versions.includes(served.version)) versions.push(served.version);
      versions.sort(compareVersions);
      this.groupVersions.set(definition.group, versions);
    }
  }

  /** A resource under one of its versions, served or not. */
  find(group: string, version: string, resource: string): ServedResource | undefined {
    return this.byPath.get(pathOf(group, version, resource));
  }

  /** Like {@link find}, but only for a resource whose objects are stored. */
  findStoredResource(group: string, version: string, resource: string): StoredServedResource | undefined {
    const found = this.find(group, version, resource);
    return found !== undefined && isStoredResource(found) ? found : undefined;
  }

  /** The resource, in its stored version, whose objects are stored under a name. */
  findStored(storageResource: string): StoredServedResource | undefined {
    return this.byStorage.get(storageResource);
  }

  /** A resource that clients may use under this version. */
  findServed(group: string, version: string, resource: string): ServedResource | undefined {
    return this.servedByPath.get(pathOf(group, version, resource));
  }

  /**
   * The same objects under another `apiVersion`, of the same group or another one; undefined when they have no such
   * version.
   */
  findView(resource: ServedResource, apiVersion: string): ServedResource | undefined {
    const parsed = parseApiVersion(apiVersion);
    const found = parsed && this.find(parsed.group, parsed.version, resource.definition.resource);
    return found?.storageResource === resource.storageResource ? found : undefined;
  }

  /** All ways to the same objects that are open to clients: every served version, in every group. */
  servedViews(resource: ServedResource): readonly ServedResource[] {
    return this.servedByStorage.get(resource.storageResource) ?? [];
  }

  /** Whether anything of the group is served. */
  hasGroup(group: string): boolean {
    return this.groupVersions.has(group);
  }

  /** Whether anything of the group version is served. */
  hasGroupVersion(group: string, version: string): boolean {
    return this.groupVersions.get(group)?.includes(version) ?? false;
  }

  /** Served groups with their versions, the core group first, the others by name. */
  groups(): ServedGroup[] {
    return [...this.groupVersions]
      .map(([group, versions]) => ({ group, versions }))
      .sort((a, b) => (a.group < b.group ? -1 : 1));
  }

  /** Served resources of one group version by plural name. */
  resourcesOf(group: string, version: string): ServedResource[] {
    return [...this.servedByPath.values()]
      .filter((r) => r.definition.group === group && r.served.version === version)
      .sort((a, b) => (a.definition.resource < b.definition.resource ? -1 : 1));
  }

  /** Every definition once, served or not. */
  definitions(): ResourceDefinition[] {
    return [...new Set([...this.byPath.values()].map((r) => r.definition))];
  }
}

function pathOf(group: string, version: string, resource: string): string {
  return `${group}/${version}/${resource}`;
}

/** GA before beta before alpha, higher numbers first: the order of preference. */
function compareVersions(a: string, b: string): number {
  const left = parseVersion(a);
  const right = parseVersion(b);
  for (let i = 0; i < left.length; i++) {
    const difference = (right[i] as number) - (left[i] as number);
    if (difference !== 0) return difference;
  }
  return a < b ? -1 : 1;
}

function parseVersion(version: string): number[] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return [-1, 0, 0];
  const stability = match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0;
  return [stability, Number(match[1]), Number(match[3] ?? 0)];
}
