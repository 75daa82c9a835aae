import { ExactNumber } from '../json/exact-numbers.js';
import { deepEqual, getOwn, isObject, type JsonObject, setOwn } from './json-value.js';
import { checkDepth, PatchError, unprocessablePatchMessage } from './patch-error.js';

const maxOperations = 10_000;
/** The most bytes that `copy` operations may add in total: a few of them could double an object again and again. */
const maxCopiedBytes = 3 * 1024 * 1024;
/** Copying more than this takes noticeable time. */
const longCopiedBytes = 256 * 1024;
const maxShown = 200;

/**
 * Applies an RFC 6902 patch and returns the new document; changes neither argument and shares unchanged parts with
 * them. Clients of this API rely on three deviations: `replace` adds a member that is absent, `test` for `null`
 * succeeds if the member is absent, and indexes of lists may be negative (-1 is the last element, and for `add` the
 * end). Throws a {@link PatchError}: `Invalid` when an operation fails (none takes effect then), `BadRequest` for
 * invalid operations, `RequestEntityTooLarge` above 10,000 operations or 3 MiB of copied data.
 *
 * @param onLong called as soon as the patch turns out to take noticeable time; may throw to stop it
 */
export function applyJsonPatch(document: unknown, patch: readonly unknown[], onLong: () => void = () => {}): unknown {
  if (patch.length > maxOperations) {
    const message = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`;
    throw new PatchError('RequestEntityTooLarge', message);
  }
  checkDepth(patch);
  const run = new JsonPatchRun(document, onLong);
  for (const operation of patch) {
    if (!isObject(operation)) throw new PatchError('BadRequest', 'a JSON patch must be a list of operations');
    run.apply(operation);
  }
  return run.document;
}

type Container = unknown[] | Record<string, unknown>;

/** One application of a patch. Containers are copied before their first change; `owned` holds the copies. */
class JsonPatchRun {
  document: unknown;
  private readonly owned = new Set<object>();
  private copiedBytes = 0;

  constructor(
    document: unknown,
    private readonly onLong: () => void,
  ) {
    this.document = document;
  }

  apply(operation: JsonObject): void {
    const op = getOwn(operation, 'op');
    const path = parsePointer(getOwn(operation, 'path'), 'path');
    switch (op) {
      case 'add':
        this.add(path, givenValue(operation));
        break;
      case 'remove':
        this.remove(path);
        break;
      case 'replace':
        this.replace(path, givenValue(operation));
        break;
      case 'move':
        this.move(parsePointer(getOwn(operation, 'from'), 'from'), path);
        break;
      case 'copy':
        this.copy(parsePointer(getOwn(operation, 'from'), 'from'), path);
        break;
      case 'test':
        this.test(path, getOwn(operation, 'value') ?? null);
        break;
      default:
        throw fail(`unknown operation ${show(op)}`);
    }
  }

  private move(from: readonly string[], path: readonly string[]): void {
    if (path.length > from.length && from.every((part, i) => part === path[i])) {
      throw fail(`cannot move ${show(from)} into itself`);
    }
    // Moving the root to itself changes nothing; any other value is removed first.
    if (from.length > 0) this.add(path, this.remove(from));
  }

  private copy(from: readonly string[], path: readonly string[]): void {
    const value = this.get(from);
    if (value === undefined) throw fail(`cannot copy from ${show(from)}: nothing there`);
    this.copiedBytes += JSON.stringify(value).length;
    if (this.copiedBytes > maxCopiedBytes) {
      throw new PatchError('RequestEntityTooLarge', `Unable to copy more than ${maxCopiedBytes} bytes in a JSON patch`);
    }
    if (this.copiedBytes > longCopiedBytes) this.onLong();
    this.disown(value);
    this.add(path, value);
  }

  private add(path: readonly string[], value: unknown): void {
    const last = path.at(-1);
    if (last === undefined) {
      this.document = value;
      return;
    }
    const parent = this.ownedParent(path);
    if (Array.isArray(parent)) {
      const index = last === '-' ? parent.length : arrayIndex(last, parent.length + 1, path);
      parent.splice(index, 0, value);
    } else {
      setOwn(parent, last, value);
    }
  }

  private replace(path: readonly string[], value: unknown): void {
    const last = path.at(-1);
    if (last === undefined) {
      this.document = value;
      return;
    }
    const parent = this.ownedParent(path);
    if (Array.isArray(parent)) parent[arrayIndex(last, parent.length, path)] = value;
    else setOwn(parent, last, value);
  }

  private remove(path: readonly string[]): unknown {
    const last = path.at(-1);
    if (last === undefined) throw fail('cannot remove the whole document');
    const parent = this.ownedParent(path);
    if (Array.isArray(parent)) return parent.splice(arrayIndex(last, parent.length, path), 1)[0];
    if (!Object.hasOwn(parent, last)) throw fail(`cannot remove ${show(path)}: nothing there`);
    const value = parent[last];
    delete parent[last];
    return value;
  }

  private test(path: readonly string[], expected: unknown): void {
    const found = this.get(path) ?? null;
    if (!deepEqual(found, expected) && !deepEqual(withoutSpelling(found), withoutSpelling(expected))) {
      throw Object.assign(fail(`test of ${show(path)} failed`), { isFailedTest: true });
    }
  }

  /**
   * The value at a path; undefined when only its last part does not exist. Fails when an earlier part does not exist.
   */
  private get(path: readonly string[]): unknown {
    let value: unknown = this.document;
    for (let i = 0; i < path.length; i++) {
      const part = path[i] as string;
      if (Array.isArray(value)) value = value[arrayIndex(part, value.length, path)];
      else if (isObject(value)) value = getOwn(value, part);
      else throw fail(`${show(path.slice(0, i))} has no members`);
    }
    return value;
  }

  /** The container of a path's last part, after copying every container on the way. */
  private ownedParent(path: readonly string[]): Container {
    let container = this.own(this.document, path, 0);
    this.document = container;
    for (let i = 0; i < path.length - 1; i++) {
      const part = path[i] as string;
      if (Array.isArray(container)) {
        const index = arrayIndex(part, container.length, path);
        const child = this.own(container[index], path, i + 1);
        container[index] = child;
        container = child;
      } else {
        const child = this.own(getOwn(container, part), path, i + 1);
        setOwn(container, part, child);
        container = child;
      }
    }
    return container;
  }

  private own(value: unknown, path: readonly string[], depth: number): Container {
    if (!Array.isArray(value) && !isObject(value)) throw fail(`${show(path.slice(0, depth))} has no members`);
    if (this.owned.has(value)) return value as Container;
    const copy: Container = Array.isArray(value) ? [...value] : { ...value };
    this.owned.add(copy);
    return copy;
  }

  /** A value in two places must be copied again before it changes in one of them. */
  private disown(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    this.owned.delete(value);
    for (const child of Object.values(value)) this.disown(child);
  }
}

/** The value with equal numbers spelled equally: `test` compares values, not spellings. */
function withoutSpelling(value: unknown): unknown {
  if (value instanceof ExactNumber) return value.valueOf();
  if (Array.isArray(value)) return value.map(withoutSpelling);
  if (!isObject(value)) return value;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) setOwn(result, key, withoutSpelling(value[key]));
  return result;
}

function givenValue(operation: JsonObject): unknown {
  const value = getOwn(operation, 'value');
  if (value === undefined) throw fail(`operation ${show(operation.op)} on ${show(operation.path)} has no value`);
  return value;
}

function parsePointer(pointer: unknown, member: string): string[] {
  if (typeof pointer !== 'string') throw fail(`the operation has no ${member}`);
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) throw fail(`${show(pointer)} is not a JSON pointer`);
  const parts = pointer.slice(1).split('/');
  return pointer.includes('~') ? parts.map((p) => p.replaceAll('~1', '/').replaceAll('~0', '~')) : parts;
}

function arrayIndex(part: string, end: number, path: readonly string[]): number {
  const given = /^(0|-?[1-9]\d{0,9})$/.test(part) ? Number(part) : end;
  const index = given < 0 ? end + given : given;
  if (index < 0 || index >= end) throw fail(`${show(path)}: ${show(part)} is not an index of the list`);
  return index;
}

/** A part of the patch for a message, cut if it is too long. */
function show(value: unknown): string {
  const text = JSON.stringify(Array.isArray(value) ? `/${value.join('/')}` : (value ?? null));
  return text.length > maxShown ? `${text.slice(0, maxShown)}...` : text;
}

function fail(detail: string): PatchError {
  return new PatchError('Invalid', unprocessablePatchMessage, detail);
}
