import type { ApiObject } from '../../../base/machinery/api-object.js';
import { apiRelease } from '../../../base/machinery/api-release.js';
import { formatApiVersion } from '../../../base/machinery/group-version.js';
import { decode, type KindType } from '../../../base/machinery/schema/index.js';
import type { ServedVersion } from '../resource-definition.js';

/**
 * An object in the canonical form of another version: a copy with its fields in the order of that version's
 * declaration.
 */
export function asVersion(type: KindType, object: object): ApiObject {
  return decode(type, { ...object, kind: type.kind.kind, apiVersion: formatApiVersion(type.kind) }).value as ApiObject;
}

export interface VersionDeprecation {
  /** Served name, with the vendor suffix where it has one. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The release in which the version was deprecated, such as `1.21`. */
  readonly since: string;
  readonly removed: string;
  /** Version of the same group and kind to use instead, if there is one. */
  readonly replacement?: string;
}

/** The warning for clients of a deprecated version, in the words that tools look for. */
export function deprecation(version: VersionDeprecation): NonNullable<ServedVersion['deprecated']> {
  const { group, kind, since, removed, replacement } = version;
  const advice = replacement === undefined ? '' : `; use ${group}/${replacement} ${kind}`;
  return {
    warning: `${group}/${version.version} ${kind} is deprecated in v${since}+, unavailable in v${removed}+${advice}`,
    removedRelease: removed,
    isRemoved: isReached(removed),
  };
}

/** Whether a release such as `1.25` is the current API release or an earlier one. */
function isReached(release: string): boolean {
  const [major = 0, minor = 0] = release.split('.').map(Number);
  const own = Number(apiRelease.major);
  return major < own || (major === own && minor <= Number(apiRelease.minor));
}
