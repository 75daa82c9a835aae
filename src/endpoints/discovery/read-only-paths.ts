import type { ResourceRegistry } from '../../registry/resource-registry.js';

const fixedPaths: readonly string[] = ['/api', '/apis', '/metrics', '/openapi/v2', '/openapi/v3', '/version'];

/** Paths that are no resources and can only be read. */
export function readOnlyPaths(registry: ResourceRegistry): string[] {
  const paths = [...fixedPaths];
  for (const { group, versions } of registry.groups()) {
    const base = group === '' ? '/api' : `/apis/${group}`;
    if (group !== '') paths.push(base);
    for (const version of versions) paths.push(`${base}/${version}`);
  }
  return paths;
}
