import type { PluginConfiguration } from '../../../../base/config/admission-configuration.js';
import { OptionsError } from '../../../../base/config/options-error.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { LimitedResource } from '../../../../objects/quota/limited-resources.js';
import type { ScopeRequirement } from '../../../../objects/quota/usage-evaluator.js';

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'];
const scopes = [
  'BestEffort',
  'CrossNamespacePodAffinity',
  'NotBestEffort',
  'NotTerminating',
  'PriorityClass',
  'Terminating',
  'VolumeAttributesClass',
];

type Entry = Readonly<Record<string, unknown>>;

/**
 * Reads from a ResourceQuotaConfiguration which resources may be used only if a quota covers them.
 *
 * @throws OptionsError with all faults.
 */
export function readQuotaConfiguration(
  configuration: PluginConfiguration | undefined,
  names: VendorNames,
): readonly LimitedResource[] {
  if (configuration === undefined) return [];
  const problems: string[] = [];
  const reader = new Reader((problem) => problems.push(`${configuration.source}: ${problem}`));
  const found = reader.document(configuration.value, names);
  if (problems.length > 0) throw new OptionsError(problems);
  return found;
}

class Reader {
  constructor(private readonly report: (problem: string) => void) {}

  document(value: unknown, names: VendorNames): LimitedResource[] {
    const root = this.entry(value, 'the document', ['apiVersion', 'kind', 'limitedResources']);
    if (root === undefined) return [];
    const kinds: Readonly<Record<string, string>> = {
      [`apiserver.config.${names.suffix}/v1`]: 'ResourceQuotaConfiguration',
      [`resourcequota.admission.${names.suffix}/v1beta1`]: 'Configuration',
      [`resourcequota.admission.${names.suffix}/v1alpha1`]: 'Configuration',
    };
    const { apiVersion, kind, limitedResources } = root;
    const wanted = typeof apiVersion === 'string' && Object.hasOwn(kinds, apiVersion) ? kinds[apiVersion] : undefined;
    if (wanted === undefined) this.report(`apiVersion must be one of ${Object.keys(kinds).join(', ')}`);
    else if (kind !== wanted) this.report(`must be of kind ${wanted}`);
    return this.list(limitedResources, 'limitedResources').map((item, i) =>
      this.limited(item, `limitedResources[${i}]`),
    );
  }

  private limited(value: unknown, at: string): LimitedResource {
    const entry = this.entry(value, at, ['apiGroup', 'resource', 'matchContains', 'matchScopes']) ?? {};
    const resource = this.text(entry.resource, `${at}.resource`);
    if (resource === '') this.report(`${at}.resource must be set`);
    return {
      group: this.text(entry.apiGroup, `${at}.apiGroup`),
      resource,
      contains: this.texts(entry.matchContains, `${at}.matchContains`),
      scopes: this.list(entry.matchScopes, `${at}.matchScopes`).map((item, i) =>
        this.requirement(item, `${at}.matchScopes[${i}]`),
      ),
    };
  }

  private requirement(value: unknown, at: string): ScopeRequirement {
    const entry = this.entry(value, at, ['scopeName', 'operator', 'values']) ?? {};
    const values = this.texts(entry.values, `${at}.values`);
    const scopeName = this.oneOf(entry.scopeName, scopes, `${at}.scopeName`) as ScopeRequirement['scopeName'];
    const operator = this.oneOf(entry.operator, operators, `${at}.operator`) as ScopeRequirement['operator'];
    if ((operator === 'In' || operator === 'NotIn') === (values.length === 0)) {
      this.report(`${at}.values must ${values.length === 0 ? '' : 'not '}be set for ${operator}`);
    }
    return { scopeName, operator, values };
  }

  private entry(value: unknown, at: string, known: readonly string[]): Entry | undefined {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.report(`${at} must be an object`);
      return undefined;
    }
    for (const key of Object.keys(value)) if (!known.includes(key)) this.report(`${at}: unknown field ${key}`);
    return value as Entry;
  }

  private list(value: unknown, at: string): readonly unknown[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value;
    this.report(`${at} must be a list`);
    return [];
  }

  private text(value: unknown, at: string): string {
    if (typeof value === 'string') return value;
    if (value !== undefined && value !== null) this.report(`${at} must be a string`);
    return '';
  }

  private texts(value: unknown, at: string): string[] {
    return this.list(value, at).map((item, i) => this.text(item, `${at}[${i}]`));
  }

  private oneOf(value: unknown, allowed: readonly string[], at: string): string {
    if (typeof value !== 'string' || !allowed.includes(value))
      this.report(`${at} must be one of ${allowed.join(', ')}`);
    return String(value);
  }
}
