import { readFileSync } from 'node:fs';
import { durationMilliseconds, parseDuration } from '../../base/machinery/values/duration.js';
import { readYaml } from '../../base/machinery/yaml/read-yaml.js';
import { covers, neverEncrypted } from './encryption.js';

/** A key that is stored in the configuration itself. */
export interface LocalKey {
  readonly name: string;
  readonly secret: Buffer;
}

/** A key management service. Times are in milliseconds. */
export interface KmsSettings {
  readonly name: string;
  /** Path of the service's unix socket. */
  readonly socket: string;
  readonly timeoutMs: number;
}

export type ProviderSettings =
  | { readonly kind: 'aesgcm' | 'aescbc' | 'secretbox'; readonly keys: readonly LocalKey[] }
  | { readonly kind: 'kms'; readonly kms: KmsSettings }
  | { readonly kind: 'identity' };

/** One validated entry of the configuration. */
export interface EncryptionEntry {
  readonly resources: readonly string[];
  readonly providers: readonly ProviderSettings[];
}

type Fields = Readonly<Record<string, unknown>>;
type Report = (problem: string) => void;

const providerKinds = ['aesgcm', 'aescbc', 'secretbox', 'kms', 'identity'] as const;
const keyBytes = { aesgcm: [16, 24, 32], aescbc: [16, 24, 32], secretbox: [32] } as const;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const defaultTimeoutMs = 3_000;

/**
 * Reads `--encryption-provider-config`: kind EncryptionConfiguration of `apiserver.config.<suffix>/v1`.
 *
 * @throws an Error that names everything that is wrong with the file; it quotes no part of a key
 */
export function readEncryptionConfiguration(file: string, suffix: string): readonly EncryptionEntry[] {
  const problems: string[] = [];
  const entries = checked(
    readRoot(file, (problem) => problems.push(problem)),
    suffix,
    (problem) => problems.push(problem),
  );
  if (problems.length > 0) throw new Error(problems.map((problem) => `${file}: ${problem}`).join('\n'));
  return entries;
}

function readRoot(file: string, report: Report): Fields | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    report(`can't be read: ${(error as Error).message}`);
    return undefined;
  }
  try {
    const value: unknown = readYaml(text);
    if (isFields(value)) return value;
    report('must be an object');
  } catch {
    // The parser's message would quote the file.
    report('is neither YAML nor JSON, or has a key twice');
  }
  return undefined;
}

function checked(root: Fields | undefined, suffix: string, report: Report): readonly EncryptionEntry[] {
  if (root === undefined) return [];
  const apiVersion = `apiserver.config.${suffix}/v1`;
  if (root.kind !== 'EncryptionConfiguration') report('kind must be EncryptionConfiguration');
  if (root.apiVersion !== apiVersion) report(`apiVersion must be ${apiVersion}`);
  refuseOthers(root, ['kind', 'apiVersion', 'resources'], '', report);
  const list = listOf(root.resources, 'resources', report);
  if (list.length === 0) report('resources must have at least one entry');
  const entries = list.map((entry, i) => checkEntry(entry, `resources[${i}]`, report));
  refuseMasked(entries, report);
  refuseTwiceNamed(entries, report);
  return entries;
}

function checkEntry(value: unknown, at: string, report: Report): EncryptionEntry {
  if (!isFields(value)) {
    report(`${at} must be an object`);
    return { resources: [], providers: [] };
  }
  refuseOthers(value, ['resources', 'providers'], at, report);
  const resources: string[] = [];
  for (const [i, name] of listOf(value.resources, `${at}.resources`, report).entries()) {
    const problem = resourceProblem(name);
    if (problem === undefined) resources.push(name as string);
    else report(`${at}.resources[${i}] ${problem}`);
  }
  const providers = listOf(value.providers, `${at}.providers`, report);
  if (resources.length === 0) report(`${at}.resources must name at least one resource`);
  if (providers.length === 0) report(`${at}.providers must have at least one provider`);
  const settings = providers.map((provider, i) => checkProvider(provider, `${at}.providers[${i}]`, report));
  return { resources, providers: settings.filter((one) => one !== undefined) };
}

function resourceProblem(name: unknown): string | undefined {
  if (typeof name !== 'string' || name === '') return 'must be a name';
  if (name === '*') return 'must be *.* for all resources, or *.group';
  if (name.includes('/')) return 'names a subresource, which is not stored';
  if (/[A-Z\s]/.test(name)) return 'must be in lower case';
  if (name.includes('*') && !/^\*\.(?:\*|[^*]*)$/.test(name)) return 'may have * only as *.* or *.group';
  if (neverEncrypted.has(name)) return `names ${name}, which the database has to read and which can't be encrypted`;
  return undefined;
}

/** Refuses a resource that an earlier name covers already, since the later entry would never apply to it. */
function refuseMasked(entries: readonly EncryptionEntry[], report: Report): void {
  const seen: string[] = [];
  for (const [i, { resources }] of entries.entries()) {
    for (const name of resources) {
      const earlier = seen.find((one) => covers(one, name) || (one === '*.*' && name.startsWith('*.')));
      if (earlier !== undefined) report(`resources[${i}] names ${name}, which ${earlier} before it covers already`);
      seen.push(name);
    }
  }
}

/**
 * Refuses two keys of the same kind that share a name, unless their bytes are equal: the name determines which key
 * decrypts a text.
 */
function refuseTwiceNamed(entries: readonly EncryptionEntry[], report: Report): void {
  for (const [i, { providers }] of entries.entries()) {
    const names = new Set<string>();
    for (const provider of providers) {
      const own = provider.kind === 'identity' ? [] : provider.kind === 'kms' ? [provider.kms] : [...provider.keys];
      for (const { name } of own) {
        const label = `${provider.kind} ${name}`;
        if (names.has(label)) report(`resources[${i}].providers has ${label} twice`);
        names.add(label);
      }
    }
    if (providers.filter(({ kind }) => kind === 'identity').length > 1) {
      report(`resources[${i}].providers has identity twice`);
    }
  }
}

function checkProvider(value: unknown, at: string, report: Report): ProviderSettings | undefined {
  if (!isFields(value)) {
    report(`${at} must be an object`);
    return undefined;
  }
  refuseOthers(value, providerKinds, at, report);
  const kinds = providerKinds.filter((kind) => value[kind] !== undefined);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    report(`${at} must have one of ${providerKinds.join(', ')}`);
    return undefined;
  }
  const own = value[kind] ?? {};
  if (!isFields(own)) {
    report(`${at}.${kind} must be an object`);
    return undefined;
  }
  if (kind === 'identity') {
    refuseOthers(own, [], `${at}.identity`, report);
    return { kind };
  }
  if (kind === 'kms') return checkKms(own, `${at}.kms`, report);
  refuseOthers(own, ['keys'], `${at}.${kind}`, report);
  const keys = listOf(own.keys, `${at}.${kind}.keys`, report);
  if (keys.length === 0) report(`${at}.${kind}.keys must have at least one key`);
  const found = keys.map((key, i) => checkKey(key, `${at}.${kind}.keys[${i}]`, keyBytes[kind], report));
  return { kind, keys: found.filter((key) => key !== undefined) };
}

function checkKey(value: unknown, at: string, sizes: readonly number[], report: Report): LocalKey | undefined {
  if (!isFields(value)) {
    report(`${at} must be an object`);
    return undefined;
  }
  refuseOthers(value, ['name', 'secret'], at, report);
  const { name, secret } = value;
  if (typeof name !== 'string' || name === '') {
    report(`${at}.name must be set`);
    return undefined;
  }
  if (typeof secret !== 'string' || secret === '' || !base64.test(secret.trim())) {
    report(`${at}.secret must be in base64`);
    return undefined;
  }
  const bytes = Buffer.from(secret, 'base64');
  if (sizes.includes(bytes.length)) return { name, secret: bytes };
  report(`${at}.secret must have ${sizes.join(', ')} bytes, not ${bytes.length}`);
  return undefined;
}

function checkKms(own: Fields, at: string, report: Report): ProviderSettings | undefined {
  refuseOthers(own, ['apiVersion', 'name', 'endpoint', 'timeout', 'cachesize'], at, report);
  const { apiVersion = 'v1', name, endpoint, timeout, cachesize } = own;
  if (apiVersion !== 'v2') report(`${at}.apiVersion must be v2: version 1 is not spoken any more`);
  if (cachesize !== undefined) report(`${at}.cachesize belongs to version 1`);
  if (typeof name !== 'string' || name === '' || name.includes(':')) report(`${at}.name must be set, without a colon`);
  const socket = typeof endpoint === 'string' ? /^unix:\/\/(\/.*|@.+)$/.exec(endpoint)?.[1] : undefined;
  if (socket === undefined) report(`${at}.endpoint must be unix:// and the absolute path of a socket`);
  const timeoutMs = timeout === undefined ? defaultTimeoutMs : durationMs(timeout);
  if (timeoutMs === undefined || timeoutMs <= 0) report(`${at}.timeout must be a time above 0, such as 3s`);
  if (typeof name !== 'string' || socket === undefined || timeoutMs === undefined) return undefined;
  return { kind: 'kms', kms: { name, socket, timeoutMs } };
}

function durationMs(value: unknown): number | undefined {
  try {
    return typeof value === 'string' ? durationMilliseconds(parseDuration(value)) : undefined;
  } catch {
    return undefined;
  }
}

function listOf(value: unknown, at: string, report: Report): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (value !== undefined && value !== null) report(`${at} must be a list`);
  return [];
}

function refuseOthers(entry: Fields, known: readonly string[], at: string, report: Report): void {
  for (const key of Object.keys(entry)) {
    if (!known.includes(key)) report(`unknown field ${at === '' ? key : `${at}.${key}`}`);
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
