import { compareVersionPriority } from '../../machinery/version-priority.js';
import type { DefinitionSource } from './definition-source.js';

/** The warning for clients of a deprecated version; undefined for others. */
export function deprecationWarning(
  { group, names: { kind }, versions }: DefinitionSource,
  name: string,
): string | undefined {
  const own = versions.find((version) => version.name === name)?.deprecation;
  if (own !== '') return own;
  const message = `${group}/${name} ${kind} is deprecated`;
  const [better] = versions
    .filter((version) => version.isServed && version.deprecation === undefined)
    .map((version) => version.name)
    .filter((other) => compareVersionPriority(other, name) < 0)
    .sort(compareVersionPriority);
  return better === undefined ? message : `${message}; use ${group}/${better} ${kind}`;
}
