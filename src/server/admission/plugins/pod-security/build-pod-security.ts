import { OptionsError } from '../../../../base/config/parse-options.js';
import type { AdmissionParts } from '../../build-admission.js';
import { PodSecurity } from './pod-security.js';
import { defaultSettings, readPodSecurityConfiguration } from './pod-security-configuration.js';

/** The plugin with its configuration, if it has one. Throws an OptionsError with everything that is wrong with that. */
export function buildPodSecurity(parts: AdmissionParts): PodSecurity {
  const given = parts.configuration.of('PodSecurity');
  if (given === undefined) return new PodSecurity(parts, defaultSettings);
  const { settings, problems } = readPodSecurityConfiguration(given.value, parts.names);
  if (problems.length > 0) throw new OptionsError(problems.map((problem) => `${given.source}: ${problem}`));
  return new PodSecurity(parts, settings);
}
