import { formatApiVersion, type GroupVersionKind, parseApiVersion } from '../../../base/machinery/group-version.js';
import type { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import { OtherKindError } from '../negotiation/body-errors.js';

/** Kinds that every version has beside those of its resources. */
const sharedKinds: ReadonlySet<string> = new Set([
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'Status',
  'UpdateOptions',
  'WatchEvent',
]);

/**
 * Runs `decode`. A 400 for a body of another kind says whether its version has such a kind at all: a client that
 * misspelt a kind reads that it does not exist, and a client that sent it to the wrong path reads that it does not fit.
 */
export function withUnknownKind<T>(registry: ResourceRegistry, expected: GroupVersionKind, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof OtherKindError)) throw error;
    const { kind, apiVersion } = error.identity;
    throw isBuiltIn(registry, apiVersion || formatApiVersion(expected), kind) ? error : error.asUnknown();
  }
}

function isBuiltIn(registry: ResourceRegistry, apiVersion: string, kind: string): boolean {
  const parsed = parseApiVersion(apiVersion);
  if (parsed === undefined) return false;
  const { group, version } = parsed;
  if (kind === 'List') return group === '';
  if (sharedKinds.has(kind)) return registry.hasGroupVersion(group, version);
  const found = registry.findKind(group, version, kind.endsWith('List') ? kind.slice(0, -'List'.length) : kind);
  return found !== undefined && found.served.type.custom === undefined;
}
