import type { EndpointServices } from '../endpoint-services.js';

const fixedPaths: readonly string[] = [
  '/api',
  '/apis',
  '/flagz',
  '/metrics',
  '/metrics/slis',
  '/openapi/v2',
  '/openapi/v3',
  '/statusz',
  '/version',
];

/** Non-resource paths that can only be read. */
export function readOnlyPaths(services: Pick<EndpointServices, 'orderedGroups' | 'options'>): string[] {
  const paths = [...fixedPaths, ...(services.options.documentPaths?.() ?? [])];
  for (const { group, versions } of services.orderedGroups()) {
    const base = group === '' ? '/api' : `/apis/${group}`;
    if (group !== '') paths.push(base);
    for (const version of versions) paths.push(`${base}/${version}`);
  }
  return paths;
}
