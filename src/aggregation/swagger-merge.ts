import { deepEqual } from '../machinery/patch/json-value.js';
import type { Steps } from '../machinery/turns.js';

type Json = Readonly<Record<string, unknown>>;

/** Paths and definitions of a Swagger 2.0 document. */
export interface SwaggerParts {
  readonly paths: Json;
  readonly definitions: Json;
}

const definitionPrefix = '#/definitions/';
const valuesPerStep = 2000;

/** What a document of an extension server says about one group version. Throws for anything that is no such document. */
export function swaggerOf(value: unknown, group: string, version: string): SwaggerParts {
  const { paths, definitions = {} } = (value ?? {}) as { paths?: unknown; definitions?: unknown };
  if (!isJson(paths) || !isJson(definitions)) throw new Error('the answer is no OpenAPI document');
  const base = `/apis/${group}/${version}`;
  const isOwn = (path: string) => path === base || path.startsWith(`${base}/`);
  const own = Object.fromEntries(Object.entries(paths).filter(([path]) => isOwn(path)));
  const used = new Map<string, unknown>();
  const pending: unknown[] = [own];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const name of referencesIn(next)) {
      if (used.has(name) || name === '__proto__' || !Object.hasOwn(definitions, name)) continue;
      used.set(name, definitions[name]);
      pending.push(definitions[name]);
    }
  }
  return { paths: own, definitions: Object.fromEntries(used) };
}

/**
 * Adds documents of other servers to an own one. A path that is there stays. A definition whose name is taken by a
 * different one is renamed, as are those that refer to it.
 */
export function* mergeSwagger(own: SwaggerParts, others: readonly SwaggerParts[]): Steps<SwaggerParts> {
  const paths: Record<string, unknown> = { ...own.paths };
  const definitions: Record<string, unknown> = { ...own.definitions };
  for (const other of others) {
    const names = yield* newNames(definitions, other.definitions);
    for (const [name, definition] of Object.entries(other.definitions)) {
      const target = names.get(name) ?? name;
      if (!Object.hasOwn(definitions, target)) definitions[target] = yield* renamed(definition, names);
    }
    for (const [path, item] of Object.entries(other.paths)) {
      if (!Object.hasOwn(paths, path)) paths[path] = yield* renamed(item, names);
    }
  }
  return { paths, definitions };
}

/** The definitions that can't keep their names. */
function* newNames(taken: Json, added: Json): Steps<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  const rename = (name: string) => {
    let number = 2;
    while (Object.hasOwn(taken, `${name}_v${number}`) || Object.hasOwn(added, `${name}_v${number}`)) number++;
    names.set(name, `${name}_v${number}`);
  };
  for (const [name, definition] of Object.entries(added)) {
    if (Object.hasOwn(taken, name) && !deepEqual(taken[name] as never, definition as never)) rename(name);
    yield;
  }
  // What refers to a renamed one says something else than the definition of the same name here.
  for (let isChanged = names.size > 0; isChanged; ) {
    isChanged = false;
    for (const [name, definition] of Object.entries(added)) {
      if (names.has(name) || !Object.hasOwn(taken, name)) continue;
      if (!referencesIn(definition).some((reference) => names.has(reference))) continue;
      rename(name);
      isChanged = true;
      yield;
    }
  }
  return names;
}

function* renamed(value: unknown, names: ReadonlyMap<string, string>): Steps<unknown> {
  if (names.size === 0) return value;
  let count = 0;
  const copy = (from: unknown): unknown => {
    count++;
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
  const result = copy(value);
  if (count > valuesPerStep) yield;
  return result;
}

function referencesIn(value: unknown): string[] {
  const found: string[] = [];
  const visit = (at: unknown): void => {
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
