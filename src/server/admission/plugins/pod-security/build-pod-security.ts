import { OptionsError } from '../../../../base/config/options-error.js';
import type { AdmissionDependencies } from '../../admission-dependencies.js';
import { PodSecurity } from './pod-security.js';
import { defaultSettings, readPodSecurityConfiguration } from './pod-security-configuration.js';

/** The plugin with its configuration, if it has one. Throws an OptionsError with all faults of that configuration. */
export function buildPodSecurity(dependencies: AdmissionDependencies): PodSecurity {
  const given = dependencies.configuration.of('PodSecurity');
  if (given === undefined) return new PodSecurity(dependencies, defaultSettings);
  const { settings, problems } = readPodSecurityConfiguration(given.value, dependencies.names);
  if (problems.length > 0) throw new OptionsError(problems.map((problem) => `${given.source}: ${problem}`));
  return new PodSecurity(dependencies, settings);
}
