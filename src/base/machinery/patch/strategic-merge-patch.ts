import { type Field, jsonFields, type ResolvedType, resolveType, type SchemaType } from '../schema/index.js';
import { goPrint } from './go-print.js';
import { getOwn, isObject, type JsonObject, setOwn } from './json-value.js';
import { type ElementKey, itemKeyOf, orderMerged, positions } from './list-order.js';
import { checkDepth, PatchError } from './patch-error.js';

const patchDirective = '$patch';
const retainKeysDirective = '$retainKeys';
const setOrderPrefix = '$setElementOrder/';
const deleteFromPrefix = '$deleteFromPrimitiveList/';

/** How a member merges according to its declaration; all undefined without a declaration. */
interface Member {
  readonly type: ResolvedType | undefined;
  readonly strategy: 'merge' | 'replace' | undefined;
  readonly mergeKey: string | undefined;
}

const undeclared: Member = { type: undefined, strategy: undefined, mergeKey: undefined };

/**
 * Applies a strategic merge patch: like a merge patch, but lists marked in the declaration merge by their merge key.
 * Directives (`$patch`, `$retainKeys`, `$setElementOrder/<list>`, `$deleteFromPrimitiveList/<list>`) express what a
 * plain patch can't. `document` is an object of `type`. Neither argument is changed; unchanged parts are shared with
 * them. Undeclared fields merge as in a merge patch and are left to the decoder. Throws a PatchError.
 */
export function applyStrategicMergePatch(type: SchemaType, document: unknown, patch: JsonObject): unknown {
  checkDepth(patch);
  return mergeObject(isObject(document) ? document : {}, patch, resolveType(type));
}

function mergeObject(original: JsonObject, patch: JsonObject, type: ResolvedType | undefined): Record<string, unknown> {
  const directive = getOwn(patch, patchDirective);
  if (directive === 'delete') return {};
  if (directive === 'replace') {
    const { [patchDirective]: _, ...members } = patch;
    return members;
  }
  if (directive !== undefined) throw unknownDirective(directive, patch);

  const result: Record<string, unknown> = { ...original };
  retainKeys(result, patch);
  const done = new Set<string>();
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(setOrderPrefix)) continue;
    const name = key.slice(setOrderPrefix.length);
    done.add(name);
    mergeOrdered(result, patch, name, listOf(patch[key], key), type);
  }
  for (const key of Object.keys(patch)) {
    if (key.startsWith(deleteFromPrefix)) {
      const name = key.slice(deleteFromPrefix.length);
      const list = getOwn(result, name);
      if (Array.isArray(list)) setOwn(result, name, withoutValues(list, listOf(patch[key], key)));
    } else if (!isDirective(key) && !done.has(key)) {
      const value = patch[key];
      const merged = value === null ? dropped : mergeMember(getOwn(result, key), value, memberOf(type, key));
      if (merged === dropped) delete result[key];
      else setOwn(result, key, merged);
    }
  }
  return result;
}

function mergeMember(original: unknown, patch: unknown, member: Member): unknown {
  if (isObject(patch) && isObject(original) && member.strategy !== 'replace') {
    return mergeObject(original, patch, member.type);
  }
  if (Array.isArray(patch) && Array.isArray(original) && member.strategy === 'merge') {
    return mergeList(original, patch, member);
  }
  // A value that is replaced as a whole is taken literally: the decoder reports a directive in it as an unknown field.
  return formOf(patch) === formOf(original) ? patch : inserted(patch);
}

function formOf(value: unknown): string {
  return Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value;
}

/** Merges a list with an order directive: first merges the items of the patch, then sorts all. */
function mergeOrdered(
  result: Record<string, unknown>,
  patch: JsonObject,
  name: string,
  order: readonly unknown[],
  type: ResolvedType | undefined,
): void {
  const member = memberOf(type, name);
  const live = getOwn(result, name);
  const items = getOwn(patch, name);
  if (items === null) {
    delete result[name];
    return;
  }
  if (items !== undefined && !Array.isArray(items)) throw new PatchError('BadRequest', `${name} must be a list`);
  const key = itemKeyOf(member.mergeKey);
  for (const element of order) requireKey(element, member);
  if (items !== undefined) checkOrder(items, order, key);
  if (!Array.isArray(live)) {
    if (items !== undefined) setOwn(result, name, orderMerged(inserted(items) as unknown[], order, [], key));
    return;
  }
  const merged = items === undefined ? live : mergeMember(live, items, member);
  setOwn(result, name, orderMerged(merged as unknown[], order, live, key));
}

/** The items of a patch must follow the order of its directive and all be listed there. */
function checkOrder(items: readonly unknown[], order: readonly unknown[], key: ElementKey): void {
  const wanted = positions(order, key);
  let last = -1;
  for (const item of items) {
    if (isObject(item) && getOwn(item, patchDirective) !== undefined) continue;
    const place = wanted.get(key(item)) ?? -1;
    if (place <= last) {
      const message = `The order in patch list:\n${goPrint(items)}\n doesn't match $setElementOrder list:\n${goPrint(order)}\n`;
      throw new PatchError('BadRequest', message);
    }
    last = place;
  }
}

function mergeList(original: readonly unknown[], patch: readonly unknown[], member: Member): unknown[] {
  if (![...patch, ...original].some(isObject)) {
    const merged = [...new Set([...original, ...patch])];
    return orderMerged(merged, patch, original, itemKeyOf(undefined));
  }
  if (![...patch, ...original].every(isObject)) throw mixedTypes(original, patch);
  const { mergeKey } = member;
  if (mergeKey === undefined) throw new PatchError('BadRequest', 'cannot merge lists without merge key');
  const elementType = member.type?.type === 'list' ? resolveType(member.type.element) : undefined;
  const key = itemKeyOf(mergeKey);

  const items: JsonObject[] = [];
  const deleted = new Set<unknown>();
  let replace = false;
  for (const item of patch) {
    if (!isObject(item)) continue;
    const directive = getOwn(item, patchDirective);
    if (directive === 'replace') replace = true;
    else if (directive === 'delete') {
      requireKey(item, member);
      deleted.add(item[mergeKey]);
    } else if (directive === undefined) items.push(item);
    else if (directive === 'merge') throw new PatchError('', 'merging lists cannot yet be specified in the patch');
    else throw unknownDirective(directive, item);
  }
  if (replace) return items;

  const merged: unknown[] =
    deleted.size === 0 ? [...original] : original.filter((element) => !deleted.has(key(element)));
  const places = positions(merged, key);
  for (const item of items) {
    requireKey(item, member);
    const place = places.get(item[mergeKey]);
    if (place === undefined) {
      places.set(item[mergeKey], merged.length);
      merged.push(item);
    } else {
      const element = merged[place];
      merged[place] = isObject(element) ? mergeObject(element, item, elementType) : item;
    }
  }
  return orderMerged(merged, items, original, key);
}

/** Stands for a value that its own `$patch` takes away. */
const dropped = Symbol('dropped');

/**
 * The value that a patch sets if there was none before, or one of another form: without nulls, and without the objects
 * that have a `$patch`. Other directives stay, and the decoder finds them.
 */
function inserted(patch: unknown): unknown {
  if (Array.isArray(patch)) return patch.map(inserted).filter((item) => item !== dropped);
  if (!isObject(patch)) return patch;
  if (getOwn(patch, patchDirective) !== undefined) return dropped;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(patch)) {
    const value = patch[key] === null ? dropped : inserted(patch[key]);
    if (value !== dropped) setOwn(result, key, value);
  }
  return result;
}

function mixedTypes(original: readonly unknown[], patch: readonly unknown[]): PatchError {
  return new PatchError('', `list element types are not identical: ${goPrint([original, patch])}`);
}

/** `$retainKeys` lists the members to keep; it must include everything that the patch itself sets. */
function retainKeys(result: Record<string, unknown>, patch: JsonObject): void {
  const directive = getOwn(patch, retainKeysDirective);
  if (directive === undefined) return;
  if (!Array.isArray(directive)) throw new PatchError('BadRequest', 'invalid patch format of retainKeys');
  const kept = new Set(directive);
  for (const key of Object.keys(patch)) {
    if (patch[key] !== null && !isDirective(key) && !kept.has(key)) {
      throw new PatchError('BadRequest', 'invalid patch format of retainKeys');
    }
  }
  for (const key of Object.keys(result)) if (!kept.has(key)) delete result[key];
}

/** Removes values from a list of scalars. */
function withoutValues(list: readonly unknown[], values: readonly unknown[]): unknown[] {
  const gone = new Set(values);
  return list.filter((element) => !gone.has(element));
}

function isDirective(key: string): boolean {
  return (
    key === patchDirective ||
    key === retainKeysDirective ||
    key.startsWith(setOrderPrefix) ||
    key.startsWith(deleteFromPrefix)
  );
}

function listOf(value: unknown, directive: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new PatchError('BadRequest', `${directive} must be a list`);
  return value;
}

function requireKey(element: unknown, member: Member): void {
  const { mergeKey } = member;
  if (mergeKey === undefined) return;
  if (!isObject(element) || getOwn(element, mergeKey) === undefined) {
    throw new PatchError('', `map: ${goPrint(element)} does not contain declared merge key: ${mergeKey}`);
  }
}

function unknownDirective(directive: unknown, patch: JsonObject): PatchError {
  return new PatchError('', `unknown patch type: ${goPrint(directive)} in map: ${goPrint(patch)}`);
}

function memberOf(type: ResolvedType | undefined, name: string): Member {
  if (type?.type === 'struct') {
    const field = jsonFields(type).get(name);
    return field === undefined ? undeclared : declaredMember(field);
  }
  if (type?.type === 'map') return { type: resolveType(type.value), strategy: undefined, mergeKey: undefined };
  return undeclared;
}

const members = new WeakMap<Field, Member>();

function declaredMember(field: Field): Member {
  let member = members.get(field);
  if (member === undefined) {
    member = { type: resolveType(field.type), strategy: field.patch?.strategy, mergeKey: field.patch?.key };
    members.set(field, member);
  }
  return member;
}
