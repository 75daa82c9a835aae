import { isAbsolute, resolve } from 'node:path';
import type { PluginConfiguration } from '../../../../base/config/admission-configuration.js';
import { OptionsError } from '../../../../base/config/options-error.js';
import { type ClientConfig, loadClientConfig } from '../../../../base/outgoing/client-config.js';
import { ClientConfigError } from '../../../../base/outgoing/client-config-error.js';
import { type Fields, StrictFields } from '../../configuration/strict-fields.js';

/** How the plugin calls the webhook, and its decision if there is no response. Times are in milliseconds. */
export interface ImagePolicySettings {
  readonly client: ClientConfig;
  /** How long approvals and (next field) denials are cached; 0: not at all. */
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  /** Delay before the second attempt; 0: none. */
  readonly retryBackoffMs: number;
  /** Whether pods are allowed when the webhook gives no response. */
  readonly defaultAllow: boolean;
}

const name = 'ImagePolicyWebhook';
const keys = ['kubeConfigFile', 'allowTTL', 'denyTTL', 'retryBackoff', 'defaultAllow'];
const ttl = { unitMs: 1000, unit: 'seconds', most: 30 * 60 };
const backoff = { unitMs: 1, unit: 'milliseconds', most: 5 * 60_000 };

/**
 * Reads the configuration of the plugin: `imagePolicy` with a client configuration, two times to live, the wait between
 * attempts, and the decision if there is no response (specification 5.5). A time of 0 means the default, -1 none.
 *
 * @throws OptionsError with all its faults.
 */
export function readImagePolicy(given: PluginConfiguration | undefined): ImagePolicySettings {
  if (given === undefined) throw new OptionsError([`the admission plugin ${name} needs a configuration`]);
  const fields = StrictFields.of(given);
  const root = fields.object(given.value, '', ['imagePolicy']);
  const at = 'imagePolicy';
  const policy = fields.object(root.imagePolicy, at, keys);
  const settings = {
    allowTtlMs: time(fields, policy, 'allowTTL', 5 * 60, ttl),
    denyTtlMs: time(fields, policy, 'denyTTL', 30, ttl),
    retryBackoffMs: time(fields, policy, 'retryBackoff', 500, backoff),
    defaultAllow: fields.boolean(policy, 'defaultAllow', at, false),
  };
  const file = fields.text(policy, 'kubeConfigFile', at);
  const client = file === '' ? undefined : load(isAbsolute(file) ? file : resolve(given.folder, file), fields);
  if (file === '') fields.report(`${at}.kubeConfigFile must be set`);
  if (fields.problems.length > 0 || client === undefined) throw new OptionsError(fields.problems);
  return { ...settings, client };
}

function time(
  fields: StrictFields,
  policy: Fields,
  field: string,
  preset: number,
  { unitMs, unit, most }: { readonly unitMs: number; readonly unit: string; readonly most: number },
): number {
  const given = fields.integer(policy, field, 'imagePolicy', 0);
  if (given === -1) return 0;
  const value = given === 0 ? preset : given;
  if (value < 1 || value > most) fields.report(`imagePolicy.${field} must be from 1 to ${most} ${unit}, 0 or -1`);
  return value * unitMs;
}

function load(path: string, fields: StrictFields): ClientConfig | undefined {
  try {
    return loadClientConfig(path);
  } catch (error) {
    if (!(error instanceof ClientConfigError)) throw error;
    fields.report(`imagePolicy.kubeConfigFile: ${error.message}`);
    return undefined;
  }
}
