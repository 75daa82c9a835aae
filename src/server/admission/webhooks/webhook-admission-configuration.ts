import { isAbsolute, resolve } from 'node:path';
import type { PluginConfiguration } from '../../../base/config/admission-configuration.js';
import { OptionsError } from '../../../base/config/options-error.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';

const kind = 'WebhookAdmissionConfiguration';
const known: readonly string[] = ['apiVersion', 'kind', 'kubeConfigFile'];

/**
 * The path of the client configuration that a WebhookAdmissionConfiguration names; undefined when it names none.
 *
 * @throws OptionsError with all faults of the document
 */
export function readClientConfigFile(
  { value, source, folder }: PluginConfiguration,
  names: VendorNames,
): string | undefined {
  const problems: string[] = [];
  const report = (problem: string) => problems.push(`${source}: ${problem}`);
  const fields = typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  const versions = [`apiserver.config.${names.suffix}/v1`, `apiserver.config.${names.suffix}/v1alpha1`];
  if (fields.kind !== kind) report(`must be of kind ${kind}`);
  if (!versions.some((version) => version === fields.apiVersion)) report(`apiVersion must be ${versions.join(' or ')}`);
  for (const field of Object.keys(fields)) if (!known.includes(field)) report(`unknown field ${field}`);
  const { kubeConfigFile = '' } = fields;
  if (typeof kubeConfigFile !== 'string') report('kubeConfigFile must be a string');
  if (problems.length > 0) throw new OptionsError(problems);
  const path = kubeConfigFile as string;
  return path === '' ? undefined : isAbsolute(path) ? path : resolve(folder, path);
}
