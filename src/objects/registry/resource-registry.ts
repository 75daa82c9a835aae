import { formatGroupResource, type GroupVersionResource, parseApiVersion } from '../../base/machinery/group-version.js';
import { compareVersionPriority } from '../../base/machinery/version-priority.js';
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
  /** Whether the served version is the stored one, so stored bytes can be sent unchanged. */
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
  /** The served versions, the preferred one first. */
  readonly versions: readonly string[];
}

/** A change of a definition. Listeners receive it after the registry has changed. */
export interface RegistryChange {
  /** The definition that look-ups no longer find; undefined for an addition. */
  readonly before: ResourceDefinition | undefined;
  /** The definition that look-ups find now; undefined for a removal. */
  readonly after: ResourceDefinition | undefined;
  /** The version of the store at which the definition changed; undefined for changes without one. */
  readonly at: bigint | undefined;
}

type RegistryListener = (change: RegistryChange) => void;

/**
 * All resources this server knows. Group modules register at start. Custom resources come, change and go at run time,
 * so every look-up uses this registry. A change is made at once: look-ups find the old or the new definition, never
 * parts of both, and a request that has found one keeps it. Versions that are switched off stay known, because their
 * objects stay stored. Only look-ups for clients are limited to served versions.
 */
export class ResourceRegistry {
  /** Each definition with its resources, in the order of registration. */
  private readonly registered = new Map<ResourceDefinition, readonly ServedResource[]>();
  private readonly byPath = new Map<string, ServedResource>();
  private readonly servedByPath = new Map<string, ServedResource>();
  private readonly byStorage = new Map<string, StoredServedResource>();
  private readonly servedByStorage = new Map<string, readonly ServedResource[]>();
  /** Served resources by group, version and plural name. No map within it is ever empty. */
  private readonly servedGroups = new Map<string, Map<string, Map<string, ServedResource>>>();
  private readonly listeners = new Set<RegistryListener>();
  private changeCount = 0;
  private lastChangedAt = 0n;

  /** @param isServed which resources are served under which versions; default: all. */
  constructor(
    private readonly isServed: (resource: GroupVersionResource, served: ServedVersion) => boolean = () => true,
  ) {}

  /** Grows with every change, so that data derived from all resources is recomputed only when it is outdated. */
  get changes(): number {
    return this.changeCount;
  }

  /** The newest version of the store among those of all changes. */
  get changedAt(): bigint {
    return this.lastChangedAt;
  }

  /** Calls back after every change until the returned function is called. The listener must not throw. */
  onChange(listener: RegistryListener): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  /**
   * Adds a definition under all of its versions; throws when one is taken, and adds nothing then.
   *
   * @param at the version of the store with which it came
   */
  register(definition: ResourceDefinition, at?: bigint): void {
    this.change({ before: undefined, after: definition, at });
  }

  /** Removes a registered definition. Requests that have found it keep using it. */
  unregister(definition: ResourceDefinition, at?: bigint): void {
    this.change({ before: definition, after: undefined, at });
  }

  /** Replaces a registered definition by another; throws when a third definition has one of its versions. */
  replace(before: ResourceDefinition, after: ResourceDefinition, at?: bigint): void {
    this.change({ before, after, at });
  }

  private change(change: RegistryChange): void {
    const { before, after, at } = change;
    const gone = before === undefined ? [] : this.registered.get(before);
    if (gone === undefined) throw new Error(`resource ${before?.resource} is not registered`);
    const leaving = new Set(gone);
    const made = after === undefined ? [] : resourcesOfDefinition(after);
    for (const resource of made) {
      const path = pathOfResource(resource);
      const holder = this.byPath.get(path);
      if (holder !== undefined && !leaving.has(holder)) throw new Error(`resource ${path} is registered twice`);
    }
    for (const resource of gone) this.remove(resource);
    for (const resource of made) this.add(resource);
    this.changeViews(leaving, made);
    if (before !== undefined) this.registered.delete(before);
    if (after !== undefined) this.registered.set(after, made);
    this.changeCount++;
    if (at !== undefined && at > this.lastChangedAt) this.lastChangedAt = at;
    for (const listener of this.listeners) listener(change);
  }

  private add(entry: ServedResource): void {
    const path = pathOfResource(entry);
    this.byPath.set(path, entry);
    this.addToStorage(entry);
    const { definition, served } = entry;
    const { group, resource } = definition;
    if (!(served.isServed ?? this.isServed({ group, version: served.version, resource }, served))) return;
    this.servedByPath.set(path, entry);
    const versions = this.servedGroups.get(group) ?? new Map<string, Map<string, ServedResource>>();
    const resources = versions.get(served.version) ?? new Map<string, ServedResource>();
    this.servedGroups.set(group, versions.set(served.version, resources.set(resource, entry)));
  }

  /** A definition that stores its own objects comes before one that shares its storage place. */
  private addToStorage(entry: ServedResource): void {
    if (!isStoredResource(entry)) return;
    const isFirst = entry.served === entry.definition.versions[0] && !this.byStorage.has(entry.storageResource);
    if (isFirst || entry.isStored) this.byStorage.set(entry.storageResource, entry);
  }

  private remove(entry: ServedResource): void {
    const path = pathOfResource(entry);
    this.byPath.delete(path);
    const { definition, served, storageResource } = entry;
    if (this.byStorage.get(storageResource) === entry) {
      this.byStorage.delete(storageResource);
      for (const other of this.byPath.values()) {
        if (other.storageResource === storageResource && other.definition !== definition) this.addToStorage(other);
      }
    }
    if (!this.servedByPath.delete(path)) return;
    const versions = this.servedGroups.get(definition.group);
    const resources = versions?.get(served.version);
    resources?.delete(definition.resource);
    if (resources?.size === 0) versions?.delete(served.version);
    if (versions?.size === 0) this.servedGroups.delete(definition.group);
  }

  /** Changes the views of all versions in one pass: a definition may have thousands of them. */
  private changeViews(gone: ReadonlySet<ServedResource>, made: readonly ServedResource[]): void {
    for (const storage of new Set([...gone, ...made].map(({ storageResource }) => storageResource))) {
      const views = [
        ...(this.servedByStorage.get(storage) ?? []).filter((view) => !gone.has(view)),
        ...made.filter(
          (view) => view.storageResource === storage && this.servedByPath.get(pathOfResource(view)) === view,
        ),
      ];
      if (views.length === 0) this.servedByStorage.delete(storage);
      else this.servedByStorage.set(storage, views);
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

  /** A resource that clients may use under this version, by the kind of its objects. */
  findKind(group: string, version: string, kind: string): ServedResource | undefined {
    for (const resource of this.servedGroups.get(group)?.get(version)?.values() ?? []) {
      if (resource.definition.kind === kind) return resource;
    }
    return undefined;
  }

  /**
   * The same objects under another `apiVersion`, of the same group or another one; undefined when there is no such
   * version.
   */
  findView(resource: ServedResource, apiVersion: string): ServedResource | undefined {
    const parsed = parseApiVersion(apiVersion);
    const found = parsed && this.find(parsed.group, parsed.version, resource.definition.resource);
    return found?.storageResource === resource.storageResource ? found : undefined;
  }

  /** All ways in which clients can reach the same objects: every served version, in every group. */
  servedViews(resource: ServedResource): readonly ServedResource[] {
    return this.servedByStorage.get(resource.storageResource) ?? [];
  }

  /** Whether look-ups still find this resource: its definition was neither removed nor replaced. */
  isCurrent(resource: ServedResource): boolean {
    return this.byPath.get(pathOfResource(resource)) === resource;
  }

  /** Whether any resource of the group is served. */
  hasGroup(group: string): boolean {
    return this.servedGroups.has(group);
  }

  /** Whether any resource of the group version is served. */
  hasGroupVersion(group: string, version: string): boolean {
    return this.servedGroups.get(group)?.has(version) ?? false;
  }

  /** Served groups with their versions, the core group first, the others by name. */
  groups(): ServedGroup[] {
    return [...this.servedGroups]
      .map(([group, versions]) => ({ group, versions: [...versions.keys()].sort(compareVersionPriority) }))
      .sort((a, b) => (a.group < b.group ? -1 : 1));
  }

  /** One served group with its versions; undefined when none of its resources is served. */
  group(group: string): ServedGroup | undefined {
    const versions = this.servedGroups.get(group);
    return versions === undefined ? undefined : { group, versions: [...versions.keys()].sort(compareVersionPriority) };
  }

  /** Served resources of one group version by plural name. */
  resourcesOf(group: string, version: string): ServedResource[] {
    const resources = this.servedGroups.get(group)?.get(version)?.values() ?? [];
    return [...resources].sort((a, b) => (a.definition.resource < b.definition.resource ? -1 : 1));
  }

  /** Every definition once, served or not. */
  definitions(): ResourceDefinition[] {
    return [...this.registered.keys()];
  }
}

/** A definition under each of its versions. */
function resourcesOfDefinition(definition: ResourceDefinition): ServedResource[] {
  const stored = definition.versions[0];
  const storageResource = formatGroupResource(storageOf(definition));
  const isAlias = isStoredKind(definition) && definition.storedAs !== undefined;
  const paths = new Set<string>();
  return definition.versions.map((served) => {
    const path = pathOf(definition.group, served.version, definition.resource);
    if (paths.has(path)) throw new Error(`resource ${path} is registered twice`);
    paths.add(path);
    return {
      definition: served.definition ?? definition,
      served,
      isStored: served === stored && !isAlias,
      apiVersion: definition.group === '' ? served.version : `${definition.group}/${served.version}`,
      storageResource,
    };
  });
}

function pathOfResource({ definition, served }: ServedResource): string {
  return pathOf(definition.group, served.version, definition.resource);
}

function pathOf(group: string, version: string, resource: string): string {
  return `${group}/${version}/${resource}`;
}
