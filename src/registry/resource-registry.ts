import { formatGroupResource } from '../machinery/group-version.js';
import type { ResourceDefinition, ServedVersion } from './resource-definition.js';

/** A definition seen through one of its served versions: what a request is about. */
export interface ServedResource {
  readonly definition: ResourceDefinition;
  readonly served: ServedVersion;
  /** Whether the served version is the stored one, so stored bytes can be answered as they are. */
  readonly isStored: boolean;
  /** `<group>/<version>` or `v1`. */
  readonly apiVersion: string;
  /** `resource` column of the store. */
  readonly storageResource: string;
}

/** Groups in the order of `/apis`; the core group is the empty name. */
export interface ServedGroup {
  readonly group: string;
  /** Preferred one first. */
  readonly versions: readonly string[];
}

/**
 * All resources this server knows. Group modules register at start; later additions (custom resources) may register and
 * unregister at run time, so look-ups always go through here.
 */
export class ResourceRegistry {
  private readonly byPath = new Map<string, ServedResource>();
  private readonly groupVersions = new Map<string, string[]>();

  /** Adds a definition under all of its versions; throws when one is taken. */
  register(definition: ResourceDefinition): void {
    const stored = definition.versions[0];
    const storedAs = definition.storedAs ?? { group: definition.group, resource: definition.resource };
    for (const served of definition.versions) {
      const path = pathOf(definition.group, served.version, definition.resource);
      if (this.byPath.has(path)) throw new Error(`resource ${path} is registered twice`);
      this.byPath.set(path, {
        definition,
        served,
        isStored: served === stored && definition.storedAs === undefined,
        apiVersion: definition.group === '' ? served.version : `${definition.group}/${served.version}`,
        storageResource: formatGroupResource(storedAs),
      });
      const versions = this.groupVersions.get(definition.group) ?? [];
      if (!versions.includes(served.version)) versions.push(served.version);
      versions.sort(compareVersions);
      this.groupVersions.set(definition.group, versions);
    }
  }

  find(group: string, version: string, resource: string): ServedResource | undefined {
    return this.byPath.get(pathOf(group, version, resource));
  }

  hasGroup(group: string): boolean {
    return this.groupVersions.has(group);
  }

  hasGroupVersion(group: string, version: string): boolean {
    return this.groupVersions.get(group)?.includes(version) ?? false;
  }

  /** Groups with their versions, the core group first, the others by name. */
  groups(): ServedGroup[] {
    return [...this.groupVersions]
      .map(([group, versions]) => ({ group, versions }))
      .sort((a, b) => (a.group < b.group ? -1 : 1));
  }

  /** Resources of one group version by plural name. */
  resourcesOf(group: string, version: string): ServedResource[] {
    return [...this.byPath.values()]
      .filter((r) => r.definition.group === group && r.served.version === version)
      .sort((a, b) => (a.definition.resource < b.definition.resource ? -1 : 1));
  }

  /** Every definition once. */
  definitions(): ResourceDefinition[] {
    return [...new Set([...this.byPath.values()].map((r) => r.definition))];
  }
}

function pathOf(group: string, version: string, resource: string): string {
  return `${group}/${version}/${resource}`;
}

/** GA before beta before alpha, higher numbers first: the order of preference. */
export function compareVersions(a: string, b: string): number {
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
