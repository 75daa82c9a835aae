import { readFileSync, statSync } from 'node:fs';
import { fileProblem, waitsForWriter } from '../machinery/file-problem.js';
import { readYaml } from '../machinery/yaml/read-yaml.js';
import type { ClientConfigError } from './client-config-error.js';

/** An object of the file. */
export type ClientConfigEntry = Readonly<Record<string, unknown>>;

/** Creates the error for a problem in a file. */
export type Problem = (text: string) => ClientConfigError;

/** Reads the file. */
export function readClientConfigRoot(path: string, problem: Problem): ClientConfigEntry {
  let content: string;
  try {
    const found = statSync(path);
    // The file may be endless.
    if (found.isCharacterDevice() || found.isBlockDevice()) throw new Error('it is a device: name a file');
    if (waitsForWriter(path, found)) throw new Error('it is a pipe: name a file');
    content = readFileSync(path, 'utf8');
  } catch (error) {
    throw problem(fileProblem(error));
  }
  return rootOf(content, true, problem);
}

/**
 * Like {@link readClientConfigRoot}, for a configuration that a client sent: of duplicate keys the last one counts,
 * since comparing all keys would take long.
 */
export function parseClientConfigRoot(content: string, problem: Problem): ClientConfigEntry {
  return rootOf(content, false, problem);
}

function rootOf(content: string, uniqueKeys: boolean, problem: Problem): ClientConfigEntry {
  let root: unknown;
  try {
    root = readYaml(content, uniqueKeys);
  } catch {
    // The parser's message would quote the file, which may hold secrets.
    throw problem('is neither YAML nor JSON');
  }
  if (!isEntry(root)) throw problem('is not a client configuration');
  const { kind = 'Config', apiVersion = 'v1' } = root;
  if (kind !== 'Config' || apiVersion !== 'v1') throw problem('must be of kind Config in apiVersion v1');
  return root;
}

/** The entry of the named context, or of the current one. */
export function currentContext(root: ClientConfigEntry, problem: Problem, named?: string): ClientConfigEntry {
  const name = named ?? textOf(root, 'current-context', problem);
  if (name === '') throw problem('current-context must be set');
  return namedEntry(root, 'contexts', 'context', name, problem);
}

/** The content of a named entry of a list; throws when there is none. */
export function namedEntry(
  root: ClientConfigEntry,
  list: string,
  field: string,
  name: string,
  problem: Problem,
): ClientConfigEntry {
  const entries = root[list] ?? [];
  if (!Array.isArray(entries)) throw problem(`${list} must be a list`);
  const found = entries.find((entry) => isEntry(entry) && entry.name === name) as ClientConfigEntry | undefined;
  if (found === undefined) throw problem(`${list} has no entry ${JSON.stringify(name)}`);
  const value = found[field] ?? {};
  if (!isEntry(value)) throw problem(`${list}[${JSON.stringify(name)}].${field} must be an object`);
  return value;
}

/** A string field; empty when it is missing. */
export function textOf(entry: ClientConfigEntry, field: string, problem: Problem): string {
  const value = entry[field] ?? '';
  if (typeof value !== 'string') throw problem(`${field} must be a string`);
  return value;
}

/** A field that is true or false; false when it is missing. */
export function flagOf(entry: ClientConfigEntry, field: string, problem: Problem): boolean {
  const value = entry[field] ?? false;
  if (typeof value !== 'boolean') throw problem(`${field} must be true or false`);
  return value;
}

/** Whether a value is an object. */
export function isEntry(value: unknown): value is ClientConfigEntry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
