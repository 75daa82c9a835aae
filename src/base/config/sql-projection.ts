/**
 * How SQL shows a resource: not at all, by a view over the stored objects, or by a view over rows with columns and
 * indexes; `indexed` adds an index on the whole object to the rows.
 */
export type SqlProjection = 'off' | 'views' | 'tables' | 'indexed';

/** How each resource is shown. */
export interface SqlProjectionMode {
  /** @param resource `resource` or `resource.group` */
  of(resource: string): SqlProjection;
  /** Whether any resource may be projected into rows. */
  readonly hasTables: boolean;
}

/** All values of {@link SqlProjection}. */
export const sqlProjectionModes: readonly string[] = ['off', 'views', 'tables', 'indexed'] satisfies SqlProjection[];
const modes = sqlProjectionModes;
const override = /^([a-z0-9]+(?:\.[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?)?)=(.*)$/;

/** Shows every resource by a view over the stored objects. */
export const onlyViews: SqlProjectionMode = Object.freeze({ of: () => 'views', hasTables: false });

/** The problem with the value of `--sql-projection`, or undefined. */
export function sqlProjectionProblem(value: string): string | undefined {
  return modes.includes(value) ? undefined : `must be one of ${modes.join(', ')}`;
}

/** The problem with one or more pairs `resource[.group]=mode`, or undefined. */
export function sqlProjectionOverridesProblem(pairs: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (const pair of pairs) {
    const [, resource, mode = ''] = override.exec(pair) ?? [];
    if (resource === undefined) return `has ${JSON.stringify(pair)}, which is not resource[.group]=mode`;
    if (!modes.includes(mode))
      return `has ${JSON.stringify(mode)} for ${resource}, which is none of ${modes.join(', ')}`;
    if (seen.has(resource)) return `names ${resource} twice`;
    seen.add(resource);
  }
  return undefined;
}

/** Both values must already be checked. */
export function sqlProjectionMode(value: string, pairs: readonly string[]): SqlProjectionMode {
  const own = new Map(
    pairs.map((pair) => {
      const end = pair.indexOf('=');
      return [pair.slice(0, end), pair.slice(end + 1) as SqlProjection];
    }),
  );
  return {
    of: (resource) => own.get(resource) ?? (value as SqlProjection),
    hasTables: [value as SqlProjection, ...own.values()].some((mode) => mode === 'tables' || mode === 'indexed'),
  };
}
