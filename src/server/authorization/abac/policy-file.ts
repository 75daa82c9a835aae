import { readFileSync } from 'node:fs';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { PolicyFileError } from './policy-file-error.js';

/**
 * One line of a policy file (specification 5.4): what a subject may do. An empty field matches only an empty value: a
 * policy without a namespace applies to cluster-scoped resources.
 */
export interface AbacPolicy {
  /** If empty, any user matches, provided that `group` is set. */
  readonly user: string;
  /** If empty, any group matches, provided that `user` is set. */
  readonly group: string;
  /** Only get, list and watch. */
  readonly readonly: boolean;
  /** `*` in this and the next two fields matches everything. */
  readonly apiGroup: string;
  readonly namespace: string;
  readonly resource: string;
  /** A path, which may end in `*`. */
  readonly nonResourcePath: string;
}

/** The policies of a file, in order. */
export interface AbacPolicies {
  readonly policies: readonly AbacPolicy[];
  /** The number of lines in the old form, which has no version. */
  readonly unversionedLines: number;
}

const everything = '*';
const allAuthenticated = 'system:authenticated';
const texts = ['user', 'group', 'apiGroup', 'namespace', 'resource', 'nonResourcePath'] as const;
const unversionedTexts: readonly string[] = ['user', 'group', 'namespace', 'resource'];

/** Reads a policy file: one JSON object per line. Empty lines and lines that start with `#` are skipped. */
export function readPolicyFile(path: string, names: VendorNames): AbacPolicies {
  let text: string;
  try {
    // Reject invalid UTF-8: all invalid bytes would decode to the same character and make different names equal.
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    throw new PolicyFileError(`the authorization policy can't be read: ${(error as Error).message}`);
  }
  return parsePolicies(text, path, names);
}

/**
 * Parses a policy file. Throws {@link PolicyFileError} for the first unusable line.
 *
 * @param path path of the file, for messages.
 */
export function parsePolicies(text: string, path: string, names: VendorNames): AbacPolicies {
  const policies: AbacPolicy[] = [];
  let unversionedLines = 0;
  for (const [i, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const problem = (detail: string) => new PolicyFileError(`${path}, line ${i + 1}: ${detail}`);
    const value = parseLine(line, problem);
    if (value.apiVersion === undefined && value.kind === undefined) {
      unversionedLines++;
      policies.push(unversionedPolicy(value, problem));
    } else {
      policies.push(versionedPolicy(value, names, problem));
    }
  }
  return { policies, unversionedLines };
}

type Problem = (detail: string) => PolicyFileError;
type Entry = Readonly<Record<string, unknown>>;

function parseLine(line: string, problem: Problem): Entry {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw problem(`is not JSON: ${(error as Error).message}`);
  }
  if (!isEntry(value)) throw problem('is not a JSON object');
  return value;
}

function versionedPolicy(value: Entry, names: VendorNames, problem: Problem): AbacPolicy {
  const expected = `${groupName('abac.authorization', names)}/v1beta1`;
  if (value.apiVersion !== expected || value.kind !== 'Policy') {
    throw problem(`must be of kind Policy in apiVersion ${expected}`);
  }
  const { apiVersion: _version, kind: _kind, metadata: _metadata, spec = {}, ...others } = value;
  refuseOthers(Object.keys(others), problem);
  if (!isEntry(spec)) throw problem('spec must be an object');
  const policy = fieldsOf(spec, texts, problem);
  return Object.freeze({ ...policy, ...subjectOf(policy) });
}

/**
 * In lines of the old form, an empty field allows more: an empty subject matches every authenticated user, and an empty
 * resource matches everything.
 */
function unversionedPolicy(value: Entry, problem: Problem): AbacPolicy {
  const policy = fieldsOf(value, unversionedTexts, problem);
  const { user, group, namespace, resource } = policy;
  return Object.freeze({
    ...policy,
    ...subjectOf({ user, group: user === '' && group === '' ? everything : group }),
    apiGroup: everything,
    namespace: namespace || everything,
    resource: resource || everything,
    nonResourcePath: namespace === '' && resource === '' ? everything : '',
  });
}

/** The wildcard stands for all authenticated users. Beside a named user or group it adds nothing. */
function subjectOf({ user, group }: Pick<AbacPolicy, 'user' | 'group'>): Pick<AbacPolicy, 'user' | 'group'> {
  if (user !== everything && group !== everything) return { user, group };
  const named = group === everything ? '' : group;
  return { user: user === everything ? '' : user, group: named || allAuthenticated };
}

function fieldsOf(value: Entry, known: readonly string[], problem: Problem): AbacPolicy {
  // A misspelled field would silently change the meaning of the policy.
  refuseOthers(
    Object.keys(value).filter((key) => key !== 'readonly' && !known.includes(key)),
    problem,
  );
  const readonly = value.readonly ?? false;
  if (typeof readonly !== 'boolean') throw problem('readonly must be true or false');
  const text = (key: (typeof texts)[number]): string => {
    const field = value[key] ?? '';
    if (typeof field !== 'string') throw problem(`${key} must be a string`);
    return field;
  };
  const [user = '', group = '', apiGroup = '', namespace = '', resource = '', nonResourcePath = ''] = texts.map(text);
  return { user, group, readonly, apiGroup, namespace, resource, nonResourcePath };
}

function refuseOthers(keys: readonly string[], problem: Problem): void {
  if (keys.length > 0) throw problem(`has unknown fields: ${keys.join(', ')}`);
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
