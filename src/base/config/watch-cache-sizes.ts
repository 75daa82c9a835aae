/**
 * The minimum number of recent changes that the watch cache keeps of each resource; 0: the resource is not kept in
 * memory.
 */
export interface WatchCacheSizes {
  /** @param resource `resource` or `resource.group` */
  of(resource: string): number;
}

const largestSize = 1_000_000;
const pairPattern = /^([a-z0-9]+(?:\.[a-z0-9]([-a-z0-9.]*[a-z0-9])?)?)#(\d{1,9})$/;

/** The problem with one or more pairs `resource[.group]#size`; undefined when there is none. */
export function watchCacheSizesProblem(pairs: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (const pair of pairs) {
    const [, resource, , size] = pairPattern.exec(pair) ?? [];
    if (resource === undefined) return `has ${JSON.stringify(pair)}, which is not resource[.group]#size`;
    if (Number(size) > largestSize) return `has a size above ${largestSize} for ${resource}`;
    if (seen.has(resource)) return `names ${resource} twice`;
    seen.add(resource);
  }
  return undefined;
}

/** The resources that pairs name. */
export function watchCacheResources(pairs: readonly string[]): readonly string[] {
  return pairs.map((pair) => pair.slice(0, pair.indexOf('#')));
}

/** @param pairs already checked by {@link watchCacheSizesProblem} */
export function watchCacheSizes(defaultSize: number, pairs: readonly string[]): WatchCacheSizes {
  const own = new Map(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('#')), Number(pair.slice(pair.indexOf('#') + 1))]),
  );
  return { of: (resource) => own.get(resource) ?? defaultSize };
}
