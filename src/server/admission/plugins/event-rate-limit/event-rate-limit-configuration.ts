import type { PluginConfiguration } from '../../../../base/config/admission-configuration.js';
import { OptionsError } from '../../../../base/config/options-error.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import { StrictFields } from '../../configuration/strict-fields.js';

/** How events are grouped into buckets: one for all, or one per value of this property. */
export const limitTypes = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const;
export type LimitType = (typeof limitTypes)[number];

export interface EventLimit {
  readonly type: LimitType;
  /** Average number of events per second. */
  readonly qps: number;
  /** Maximum number of events in a burst. */
  readonly burst: number;
  /** How many buckets are kept; the least recently used bucket is removed first. */
  readonly cacheSize: number;
}

const defaultCacheSize = 4096;
const name = 'EventRateLimit';

/**
 * Reads the configuration of the plugin: kind `Configuration` of `eventratelimit.admission.<vendor>/v1alpha1`, with at
 * least one limit.
 *
 * @throws OptionsError with all its faults.
 */
export function readEventLimits(given: PluginConfiguration | undefined, names: VendorNames): readonly EventLimit[] {
  if (given === undefined) throw new OptionsError([`the admission plugin ${name} needs a configuration with limits`]);
  const fields = StrictFields.of(given);
  const root = fields.object(given.value, '', ['apiVersion', 'kind', 'limits']);
  const apiVersion = `eventratelimit.admission.${names.suffix}/v1alpha1`;
  if (root.apiVersion !== apiVersion) fields.report(`apiVersion must be ${apiVersion}`);
  if (root.kind !== 'Configuration') fields.report('must be of kind Configuration');
  const list = root.limits ?? [];
  if (!Array.isArray(list) || list.length === 0) fields.report('limits must be a list with at least one entry');
  const limits = (Array.isArray(list) ? list : []).map((entry, i) => readLimit(fields, entry, `limits[${i}]`));
  if (fields.problems.length > 0) throw new OptionsError(fields.problems);
  return limits;
}

function readLimit(fields: StrictFields, value: unknown, at: string): EventLimit {
  const entry = fields.object(value, at, ['type', 'qps', 'burst', 'cacheSize']);
  const type = entry.type as LimitType;
  if (!limitTypes.includes(type)) fields.report(`${at}.type must be one of ${limitTypes.join(', ')}`);
  const burst = fields.integer(entry, 'burst', at, 0);
  const qps = fields.integer(entry, 'qps', at, 0);
  const cacheSize = fields.integer(entry, 'cacheSize', at, 0);
  if (burst <= 0) fields.report(`${at}.burst must be positive`);
  if (qps <= 0) fields.report(`${at}.qps must be positive`);
  if (cacheSize < 0) fields.report(`${at}.cacheSize must not be negative`);
  return { type, qps, burst, cacheSize: cacheSize === 0 ? defaultCacheSize : cacheSize };
}
