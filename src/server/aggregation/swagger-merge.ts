import { deepEqual } from '../../base/machinery/patch/json-value.js';
import type { Steps } from '../../base/machinery/turns.js';

type Json = Readonly<Record<string, unknown>>;

/** Paths and definitions of a Swagger 2.0 document, as maps, because maps can be iterated in steps. */
export interface SwaggerParts {
  readonly paths: ReadonlyMap<string, unknown>;
  readonly definitions: ReadonlyMap<string, unknown>;
}

const definitionPrefix = '#/definitions/';
const parameterPrefix = '#/parameters/';
/** A definition or path with more values is refused, since each is compared and copied in one step. */
const maxValues = 20_000;
/**
 * Documents with more paths or definitions are refused, since the names of an object are read in one step. Large
 * servers have about a thousand.
 */
const maxMembers = 10_000;
const kindsField = 'x-kubernetes-group-version-kind';

/**
 * The part of an extension server's document that describes one group version.
 *
 * @throws Error for anything that is not a Swagger document, has a huge definition or a huge number of definitions.
 */
export function* swaggerOf(value: unknown, group: string, version: string): Steps<SwaggerParts> {
  const { paths, definitions = {}, parameters = {} } = (value ?? {}) as Record<string, unknown>;
  if (!isJson(paths) || !isJson(definitions) || !isJson(parameters)) {
    throw new Error('the response is not an OpenAPI document');
  }
  const base = `/apis/${group}/${version}`;
  const isOwn = (path: string) => path === base || path.startsWith(`${base}/`);
  const names = Object.keys(paths);
  yield;
  if (names.length > maxMembers || Object.keys(definitions).length > maxMembers) {
    throw new Error(`the document has more than ${maxMembers} paths or definitions`);
  }
  const own = new Map<string, unknown>();
  for (const path of names.filter(isOwn)) {
    own.set(path, withParameters(paths[path], parameters));
    yield;
  }
  const used = new Map<string, unknown>();
  const pending: unknown[] = [...own.values()].reverse();
  yield;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const name of referencesIn(next)) {
      if (used.has(name) || name === '__proto__' || !Object.hasOwn(definitions, name)) continue;
      used.set(name, definitions[name]);
      pending.push(definitions[name]);
    }
    yield;
  }
  return { paths: own, definitions: used };
}

/** Inlines the shared parameters of a document into a path, since another document may use other names for them. */
function withParameters(item: unknown, parameters: Json): unknown {
  const filled = (list: unknown): unknown =>
    Array.isArray(list)
      ? list.map((each: unknown) => {
          const reference = isJson(each) && typeof each.$ref === 'string' ? each.$ref : '';
          const name = reference.startsWith(parameterPrefix) ? reference.slice(parameterPrefix.length) : '';
          return Object.hasOwn(parameters, name) ? parameters[name] : each;
        })
      : list;
  if (!isJson(item)) return item;
  return Object.fromEntries(
    Object.entries(item).map(([key, member]) => {
      if (key === 'parameters') return [key, filled(member)];
      return [
        key,
        isJson(member) && 'parameters' in member ? { ...member, parameters: filled(member.parameters) } : member,
      ];
    }),
  );
}

/**
 * Adds documents of other servers to our own. An existing path stays. A definition whose name is taken by a different
 * definition is renamed, as are the definitions that refer to it. No added definition claims a kind that one of our own
 * describes.
 */
export function* mergeSwagger(own: SwaggerParts, others: readonly SwaggerParts[]): Steps<SwaggerParts> {
  const paths = new Map<string, unknown>();
  const definitions = new Map<string, unknown>();
  const ownKinds = new Set<string>();
  for (const [path, item] of own.paths) {
    paths.set(path, item);
    yield;
  }
  for (const [name, definition] of own.definitions) {
    definitions.set(name, definition);
    for (const kind of kindsOf(definition)) ownKinds.add(kindKey(kind));
    yield;
  }
  for (const other of others) {
    const added = new Map<string, unknown>();
    for (const [name, definition] of other.definitions) {
      const isShared = definitions.has(name) && isEqual(definitions.get(name), definition);
      added.set(name, isShared ? definition : withoutKinds(definition, ownKinds));
      yield;
    }
    const names = yield* newNames(definitions, added);
    for (const [name, definition] of added) {
      const target = names.get(name) ?? name;
      if (!definitions.has(target)) definitions.set(target, renamed(definition, names));
      yield;
    }
    for (const [path, item] of other.paths) {
      if (!paths.has(path)) paths.set(path, renamed(item, names));
      yield;
    }
  }
  return { paths, definitions };
}

/** New names for the definitions that can't keep theirs. */
function* newNames(
  taken: ReadonlyMap<string, unknown>,
  added: ReadonlyMap<string, unknown>,
): Steps<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  const rename = (name: string) => {
    let number = 2;
    while (taken.has(`${name}_v${number}`) || added.has(`${name}_v${number}`)) number++;
    names.set(name, `${name}_v${number}`);
  };
  const referrers = new Map<string, string[]>();
  for (const [name, definition] of added) {
    if (!taken.has(name)) continue;
    if (!isEqual(taken.get(name), definition)) rename(name);
    for (const reference of new Set(referencesIn(definition))) {
      const known = referrers.get(reference);
      if (known === undefined) referrers.set(reference, [name]);
      else known.push(name);
    }
    yield;
  }
  // A definition that refers to a renamed one differs from our definition of the same name. The loop also visits the
  // names that it adds.
  for (const name of names.keys()) {
    for (const referrer of referrers.get(name) ?? []) if (!names.has(referrer)) rename(referrer);
    yield;
  }
  return names;
}

function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (names.size === 0) return value;
  const copy = (from: unknown): unknown => {
    if (Array.isArray(from)) return from.map(copy);
    if (!isJson(from)) return from;
    return Object.fromEntries(
      Object.entries(from).map(([key, member]) => {
        const name = key === '$ref' && typeof member === 'string' ? member.slice(definitionPrefix.length) : '';
        const other = names.get(name);
        return [key, other === undefined ? copy(member) : `${definitionPrefix}${other}`];
      }),
    );
  };
  return copy(value);
}

function isEqual(a: unknown, b: unknown): boolean {
  return deepEqual(a as never, b as never);
}

/** The kinds that a definition claims to describe. */
function kindsOf(definition: unknown): Json[] {
  const kinds = isJson(definition) ? definition[kindsField] : undefined;
  return Array.isArray(kinds) ? kinds.filter(isJson) : [];
}

function kindKey({ group, version, kind }: Json): string {
  return JSON.stringify([group, version, kind]);
}

/**
 * Removes the kinds in `taken`. Clients look definitions up by kind, and could mistake another server's definition of a
 * built-in kind for this server's.
 */
function withoutKinds(definition: unknown, taken: ReadonlySet<string>): unknown {
  const kinds = kindsOf(definition);
  const kept = kinds.filter((kind) => !taken.has(kindKey(kind)));
  if (kept.length === kinds.length) return definition;
  const { [kindsField]: _kinds, ...rest } = definition as Json;
  return kept.length === 0 ? rest : { ...rest, [kindsField]: kept };
}

/** @throws Error for a value with too many others in it. */
function referencesIn(value: unknown): string[] {
  const found: string[] = [];
  let count = 0;
  const visit = (at: unknown): void => {
    if (++count > maxValues) throw new Error(`a definition has more than ${maxValues} values`);
    if (Array.isArray(at)) at.forEach(visit);
    else if (isJson(at)) {
      for (const [key, member] of Object.entries(at)) {
        if (key === '$ref' && typeof member === 'string' && member.startsWith(definitionPrefix)) {
          found.push(member.slice(definitionPrefix.length));
        } else visit(member);
      }
    }
  };
  visit(value);
  return found;
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
