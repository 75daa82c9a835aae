import type { EndpointServices } from '../services.js';

const fixedPaths: readonly string[] = ['/api', '/apis', '/metrics', '/openapi/v2', '/openapi/v3', '/version'];

/** Non-resource paths that can only be read. */
export function readOnlyPaths({ registry, options }: Pick<EndpointServices, 'registry' | 'options'>): string[] {
  const paths = [...fixedPaths, ...(options.documentPaths?.() ?? [])];
  for (const { group, versions } of registry.groups()) {
    const base = group === '' ? '/api' : `/apis/${group}`;
    if (group !== '') paths.push(base);
    for (const version of versions) paths.push(`${base}/${version}`);
  }
  return paths;
}
