import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import type { VendorNames } from '../machinery/vendor.js';
import { readYaml } from '../machinery/yaml/read-yaml.js';

/** The configuration of one plugin. */
export interface PluginConfiguration {
  /** The document, as read; the plugin checks it. */
  readonly value: unknown;
  /** The place to name in error messages: the file, and the plugin too if the configuration is in the common file. */
  readonly source: string;
  /** The folder that paths in the document are relative to. */
  readonly folder: string;
}

/** The content of `--admission-control-config-file`. Plain data, so that it can be handed to another thread. */
export interface AdmissionConfiguration {
  /** The configurations by the name of the plugin. */
  readonly plugins: Readonly<Record<string, PluginConfiguration>>;
  /** All problems in the file and in the files that it names. */
  readonly problems: readonly string[];
}

/** The configuration when no file is given. */
export const noAdmissionConfiguration: AdmissionConfiguration = Object.freeze({ plugins: {}, problems: [] });

const flag = '--admission-control-config-file';

/**
 * Reads the file with the configuration of the admission plugins (specification 5.5): kind AdmissionConfiguration, with
 * `plugins[]` of `name` and either `path` or an inline `configuration`. Throws nothing: faults are in `problems`.
 *
 * @param known names of all plugins
 */
export function readAdmissionConfiguration(
  file: string,
  names: VendorNames,
  known: readonly string[],
): AdmissionConfiguration {
  const problems: string[] = [];
  const plugins: Record<string, PluginConfiguration> = {};
  const report = (problem: string) => problems.push(`${flag} ${file}: ${problem}`);
  const root = readDocument(file, report);
  if (root === undefined) return { plugins, problems };
  checkRoot(root, names, report);
  const list = root.plugins ?? [];
  if (!Array.isArray(list)) report('plugins must be a list');
  for (const [index, entry] of (Array.isArray(list) ? list : []).entries()) {
    const at = `plugins[${index}]`;
    if (!isEntry(entry)) {
      report(`${at} must be an object`);
      continue;
    }
    refuseOthers(entry, ['name', 'path', 'configuration'], at, report);
    const { name, path = '', configuration } = entry;
    if (typeof name !== 'string' || name === '') report(`${at}.name must be set`);
    else if (!known.includes(name)) report(`${at}.name: there is no plugin ${JSON.stringify(name)}`);
    else if (name in plugins) report(`${at}.name: ${name} is configured twice`);
    else if (typeof path !== 'string') report(`${at}.path must be a string`);
    else if (path !== '' && configuration !== undefined) report(`${at} has both path and configuration`);
    else if (path !== '') {
      const own = isAbsolute(path) ? path : resolve(dirname(file), path);
      const value = readDocument(own, (problem) => problems.push(`${own}: ${problem}`));
      if (value !== undefined) plugins[name] = { value, source: own, folder: dirname(own) };
    } else if (configuration === undefined || configuration === null) report(`${at} needs path or configuration`);
    else plugins[name] = { value: configuration, source: `${file}, ${name}`, folder: dirname(file) };
  }
  return { plugins, problems };
}

type Entry = Readonly<Record<string, unknown>>;
type Report = (problem: string) => void;

function checkRoot(root: Entry, names: VendorNames, report: Report): void {
  const group = `apiserver.config.${names.suffix}`;
  // Existing files still use the older name of the group.
  const versions = [`${group}/v1`, `apiserver.${names.suffix}/v1alpha1`];
  if (root.kind !== 'AdmissionConfiguration') report('must be of kind AdmissionConfiguration');
  if (!versions.some((version) => version === root.apiVersion)) report(`apiVersion must be ${versions.join(' or ')}`);
  refuseOthers(root, ['apiVersion', 'kind', 'plugins'], '', report);
}

function refuseOthers(entry: Entry, known: readonly string[], at: string, report: Report): void {
  for (const key of Object.keys(entry)) {
    if (!known.includes(key)) report(`unknown field ${at === '' ? key : `${at}.${key}`}`);
  }
}

function readDocument(file: string, report: Report): Entry | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    report(`can't be read: ${(error as Error).message}`);
    return undefined;
  }
  let value: unknown;
  try {
    value = readYaml(text);
  } catch {
    // The parser's message would quote the file, which may hold secrets.
    report('is neither YAML nor JSON, or has a key twice');
    return undefined;
  }
  if (isEntry(value)) return value;
  report('must be an object');
  return undefined;
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
