import { pageNotFoundError, type StatusError, unknownPathError } from '../../base/machinery/status-error.js';
import type { EndpointServices } from './endpoint-services.js';

/** Path prefixes below which every error is a `Status`. */
const apiRoots: ReadonlySet<string> = new Set(['api', 'version']);

/**
 * The 404 of an unknown path: a `Status` below the core group and other served groups, whatever the version, and a
 * plain page elsewhere. Groups of custom resources get the plain page too.
 */
export function unknownPath(services: Pick<EndpointServices, 'orderedGroups' | 'registry'>, path: string): StatusError {
  const [, root = '', group = ''] = path.split('/');
  const isServed =
    root === 'apis' &&
    group !== '' &&
    services.orderedGroups().some((served) => served.group === group) &&
    !isOfCustomResources(services.registry, group);
  return isServed || apiRoots.has(root) ? unknownPathError() : pageNotFoundError();
}

/** Whether a group has custom kinds, and no others. */
export function isOfCustomResources(
  registry: Pick<EndpointServices['registry'], 'definitions'>,
  group: string,
): boolean {
  const own = registry.definitions().filter((definition) => definition.group === group);
  return own.length > 0 && own.every(({ versions: [stored] }) => stored.type.custom !== undefined);
}
