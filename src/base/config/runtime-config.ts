import type { GroupVersionResource } from '../machinery/group-version.js';
import { describeDeprecation } from './deprecation.js';

/** Versions by the stability that their names express, in the order in which the keys below apply. */
const stabilityPatterns = {
  'api/ga': /^v\d+$/,
  'api/beta': /^v\d+beta\d+$/,
  'api/alpha': /^v\d+alpha\d+$/,
} as const;
const stabilityKeys = Object.keys(stabilityPatterns) as (keyof typeof stabilityPatterns)[];

/** Accepted because old command lines contain it. No served version has ever depended on it. */
const legacyKey = 'api/legacy';
const legacyEnd = { since: '0.1', until: '0.4', advice: 'it has no effect; name the version instead' };
const generalKeys: ReadonlySet<string> = new Set(['api/all', ...stabilityKeys, legacyKey]);

const trueTexts: ReadonlySet<string> = new Set(['', 'true', '1']);
const falseTexts: ReadonlySet<string> = new Set(['false', '0']);
const version = 'v\\d+((alpha|beta)\\d+)?';
const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const keyPattern = new RegExp(`^(${label}(\\.${label})*/)?${version}(/[a-z0-9]+)?$`);

interface VersionStanding {
  readonly isOffByDefault?: boolean | undefined;
  /** The version or resource is on only if a key names it. */
  readonly isOnlyByName?: boolean | undefined;
}

/**
 * The served versions and resources, as `--runtime-config` selects them: pairs `key[=value]` where the key is
 * `api/all`, `api/ga`, `api/beta`, `api/alpha`, `<group>/<version>` (`v1` or `api/v1` for the core group) or one of its resources,
 * `<group>/<version>/<resource>`. The more specific key wins, whatever the order; of equal keys, the later one. Alpha
 * versions, and versions whose definition requires it, are off unless switched on. Versions that the API release does
 * not have, or no longer has, are on only where their own key says so.
 */
export class RuntimeConfig {
  private constructor(private readonly settings: ReadonlyMap<string, boolean>) {}

  /** @param pairs already checked by {@link runtimeConfigProblem}; invalid pairs are skipped. */
  static of(pairs: readonly string[]): RuntimeConfig {
    const settings = new Map<string, boolean>();
    for (const pair of pairs) {
      const { key, value } = readPair(pair);
      if (value !== undefined) settings.set(key, value);
    }
    return new RuntimeConfig(settings);
  }

  /**
   * Whether a resource is served under a version.
   *
   * @param standing `isOffByDefault`, for a version that is not alpha: off unless a key switches it on; `isOnlyByName`:
   * off unless a key names the version or the resource
   */
  readonly isServed = (
    { group, version, resource }: GroupVersionResource,
    { isOffByDefault = false, isOnlyByName = false }: VersionStanding = {},
  ): boolean => {
    const versionKey = group === '' ? version : `${group}/${version}`;
    const own = this.settings.get(`${versionKey}/${resource}`) ?? this.settings.get(versionKey);
    return own ?? (!isOnlyByName && this.byStability(version, isOffByDefault));
  };

  private byStability(version: string, isOffByDefault: boolean): boolean {
    const key = stabilityKeys.find((candidate) => stabilityPatterns[candidate].test(version));
    const own = key === undefined ? undefined : this.settings.get(key);
    return own ?? this.settings.get('api/all') ?? (key !== 'api/alpha' && !isOffByDefault);
  }

  /** One message for each key that matches no version or resource of this server. */
  unknownKeys(known: readonly GroupVersionResource[]): string[] {
    const keys = new Set<string>();
    for (const { group, version, resource } of known) {
      const versionKey = group === '' ? version : `${group}/${version}`;
      keys.add(versionKey).add(`${versionKey}/${resource}`);
    }
    const own = [...this.settings.keys()].filter((key) => !generalKeys.has(key) && !keys.has(key));
    return own.map((key) => `--runtime-config ${key}: no such version or resource`);
  }
}

/** Warnings about the key that has no effect any more. */
export function runtimeConfigWarnings(pairs: readonly string[]): readonly string[] {
  if (!pairs.some((pair) => readPair(pair).key === legacyKey)) return [];
  return [`${legacyKey} is deprecated ${describeDeprecation(legacyEnd)}`];
}

/** The problem with the form of one or more pairs; undefined when there is none. */
export function runtimeConfigProblem(pairs: readonly string[]): string | undefined {
  const problems: string[] = [];
  for (const pair of pairs) {
    const { key, value } = readPair(pair);
    if (!generalKeys.has(key) && !keyPattern.test(key)) {
      problems.push(`${JSON.stringify(key)} is not a key such as api/beta, v1 or <group>/<version>`);
    } else if (value === undefined) problems.push(`${key} must be true or false`);
  }
  const settings = new Map(pairs.map(readPair).map(({ key, value }) => [key, value]));
  if (settings.size === 1 && settings.get('api/all') === false) problems.push('api/all=false alone serves nothing');
  return problems.length === 0 ? undefined : problems.join('; ');
}

function readPair(pair: string): { key: string; value: boolean | undefined } {
  const equals = pair.indexOf('=');
  // `api/v1` is another spelling of `v1`.
  const key = (equals < 0 ? pair : pair.slice(0, equals)).trim().replace(/^api\/(?=v\d)/, '');
  const text = equals < 0 ? '' : pair.slice(equals + 1).trim();
  // A key without a value means true as well.
  if (trueTexts.has(text.toLowerCase())) return { key, value: true };
  return { key, value: falseTexts.has(text.toLowerCase()) ? false : undefined };
}
