import { compareVersionPriority } from '../../../base/machinery/version-priority.js';
import type { DefinitionSource, VersionSource } from './definition-source.js';

/** The warning for clients of a deprecated version; undefined for others. */
export function deprecationWarning(source: DefinitionSource, version: VersionSource): string | undefined {
  const { name, deprecation } = version;
  if (deprecation !== '') return deprecation;
  const { group, names } = source;
  const message = `${group}/${name} ${names.kind} is deprecated`;
  const best = bestVersion(source);
  if (best === undefined || compareVersionPriority(best, name) >= 0) return message;
  return `${message}; use ${group}/${best} ${names.kind}`;
}

const bestVersions = new WeakMap<DefinitionSource, string | undefined>();

/** The most preferred version that is served and not deprecated. */
function bestVersion(source: DefinitionSource): string | undefined {
  if (bestVersions.has(source)) return bestVersions.get(source);
  let best: string | undefined;
  for (const { name, isServed, deprecation } of source.versions) {
    if (!isServed || deprecation !== undefined) continue;
    if (best === undefined || compareVersionPriority(name, best) < 0) best = name;
  }
  bestVersions.set(source, best);
  return best;
}
