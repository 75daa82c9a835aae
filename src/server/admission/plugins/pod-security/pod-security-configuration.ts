import { duplicate, type FieldError, FieldPath, invalid, required } from '../../../../base/machinery/field-error.js';
import { isDns1123Label, isDns1123Subdomain } from '../../../../base/machinery/names.js';
import {
  always,
  DecodeError,
  decode,
  list,
  optional,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { NamespacePolicy, PolicyMode } from './namespace-policy.js';
import { type LevelVersion, latest, levelProblem, parseLevel, parseVersion, versionProblem } from './policy-version.js';

/** The defaults of the plugin, and its exemptions. */
export interface PodSecuritySettings {
  readonly defaults: NamespacePolicy;
  readonly exemptUsers: ReadonlySet<string>;
  readonly exemptNamespaces: ReadonlySet<string>;
  readonly exemptRuntimeClasses: ReadonlySet<string>;
}

const unrestricted: LevelVersion = { level: 'privileged', version: latest };

/** The settings without a configuration: namespaces restrict nothing unless they have labels. */
export const defaultSettings: PodSecuritySettings = {
  defaults: { enforce: unrestricted, audit: unrestricted, warn: unrestricted },
  exemptUsers: new Set(),
  exemptNamespaces: new Set(),
  exemptRuntimeClasses: new Set(),
};

const configuration = struct('PodSecurityConfiguration', {
  apiVersion: optional(1, string),
  kind: optional(2, string),
  defaults: always(
    3,
    struct('PodSecurityDefaults', {
      enforce: optional(1, string),
      'enforce-version': optional(2, string),
      audit: optional(3, string),
      'audit-version': optional(4, string),
      warn: optional(5, string),
      'warn-version': optional(6, string),
    }),
  ),
  exemptions: always(
    4,
    struct('PodSecurityExemptions', {
      usernames: optional(1, list(string)),
      namespaces: optional(2, list(string)),
      runtimeClasses: optional(3, list(string)),
    }),
  ),
});

const versions = ['v1', 'v1beta1', 'v1alpha1'];

/**
 * Reads a `PodSecurityConfiguration`; all its problems are in `problems`, each with the path of its field. Unknown fields
 * are a problem.
 */
export function readPodSecurityConfiguration(
  input: unknown,
  names: VendorNames,
): { readonly settings: PodSecuritySettings; readonly problems: readonly string[] } {
  let decoded: ReturnType<typeof decode<typeof configuration>>;
  try {
    decoded = decode(configuration, input);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { settings: defaultSettings, problems: [error.message] };
  }
  const { value, unknownFields } = decoded;
  const problems = unknownFields.map((field) => `${field}: unknown field`);
  const group = `pod-security.admission.config.${names.suffix}`;
  const accepted = versions.map((version) => `${group}/${version}`);
  if (value.kind !== 'PodSecurityConfiguration') problems.push('kind: must be PodSecurityConfiguration');
  if (!accepted.includes(value.apiVersion ?? '')) problems.push(`apiVersion: must be one of ${accepted.join(', ')}`);
  const errors: FieldError[] = [];
  const mode = (name: PolicyMode) => readMode(value.defaults, name, errors);
  const defaults = { enforce: mode('enforce'), audit: mode('audit'), warn: mode('warn') };
  const { usernames = [], namespaces = [], runtimeClasses = [] } = value.exemptions;
  const settings: PodSecuritySettings = {
    defaults,
    exemptUsers: readNames(usernames, 'usernames', () => [], errors),
    exemptNamespaces: readNames(namespaces, 'namespaces', isDns1123Label, errors),
    exemptRuntimeClasses: readNames(runtimeClasses, 'runtimeClasses', isDns1123Subdomain, errors),
  };
  return { settings, problems: [...problems, ...errors.map(({ field, message }) => `${field}: ${message}`)] };
}

function readMode(
  defaults: Readonly<Partial<Record<PolicyMode | `${PolicyMode}-version`, string>>>,
  mode: PolicyMode,
  errors: FieldError[],
): LevelVersion {
  const path = FieldPath.of('defaults');
  const levelText = defaults[mode] || 'privileged';
  const level = parseLevel(levelText);
  if (level === undefined) errors.push(invalid(path.child(mode), levelText, levelProblem));
  const versionText = defaults[`${mode}-version`] || 'latest';
  const version = parseVersion(versionText);
  if (version === undefined) errors.push(invalid(path.child(`${mode}-version`), versionText, versionProblem));
  return { level: level ?? 'restricted', version: version ?? latest };
}

function readNames(
  values: readonly string[],
  field: string,
  rule: (value: string) => readonly string[],
  errors: FieldError[],
): ReadonlySet<string> {
  const names = new Set<string>();
  values.forEach((value, i) => {
    const path = FieldPath.of('exemptions', field).index(i);
    if (value === '') errors.push(required(path));
    else if (names.has(value)) errors.push(duplicate(path, value));
    else for (const message of rule(value)) errors.push(invalid(path, value, message));
    names.add(value);
  });
  return names;
}
