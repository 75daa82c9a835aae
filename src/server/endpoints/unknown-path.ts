import { pageNotFoundError, type StatusError, unknownPathError } from '../../base/machinery/status-error.js';
import type { EndpointServices } from './endpoint-services.js';

/** Roots below which every answer has the format of the API. */
const apiRoots: ReadonlySet<string> = new Set(['api', 'version']);

/**
 * The 404 of a path that nothing serves: a `Status` below the core group and other served groups, whatever the version,
 * and a plain page elsewhere. Groups that only custom resources have count as elsewhere.
 */
export function unknownPath(services: Pick<EndpointServices, 'orderedGroups' | 'registry'>, path: string): StatusError {
  const [, root = '', group = ''] = path.split('/');
  const isServed =
    root === 'apis' &&
    services.orderedGroups().some((served) => served.group === group) &&
    !isOfCustomResources(services.registry, group);
  return isServed || apiRoots.has(root) ? unknownPathError() : pageNotFoundError();
}

function isOfCustomResources(registry: Pick<EndpointServices['registry'], 'definitions'>, group: string): boolean {
  const own = registry.definitions().filter((definition) => definition.group === group);
  return own.length > 0 && own.every(({ versions: [stored] }) => stored.type.custom !== undefined);
}
