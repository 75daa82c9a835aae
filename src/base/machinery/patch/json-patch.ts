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
    const message = `Request entity too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`;
    throw new PatchError('RequestEntityTooLarge', message);
  }
  checkDepth(patch);
  const run = new JsonPatchRun(document, onLong);
  for (const operation of patch) {
    if (operation === null) throw fail('Unexpected kind: unknown');
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
    const path = parsePointer(operation, 'path');
    switch (op) {
      case 'add':
        this.add(path, givenValue(operation), `doc is missing path: ${JSON.stringify(path.text)}`);
        break;
      case 'remove':
        this.remove(
          path,
          `doc is missing path: ${JSON.stringify(path.text)}`,
          `error in remove for path: '${path.text}'`,
        );
        break;
      case 'replace':
        this.replace(path, givenValue(operation));
        break;
      case 'move':
        this.move(parsePointer(operation, 'from'), path);
        break;
      case 'copy':
        this.copy(parsePointer(operation, 'from'), path);
        break;
      case 'test':
        this.test(path, getOwn(operation, 'value') ?? null);
        break;
      default:
        throw fail(`Unexpected kind: ${cut(String(op))}`);
    }
  }

  private move(from: Pointer, path: Pointer): void {
    if (path.parts.length > from.parts.length && from.parts.every((part, i) => part === path.parts[i])) {
      throw fail(`cannot move ${show(from)} into itself`);
    }
    const value = this.remove(
      from,
      `doc is missing from path: ${from.text}`,
      `error in move for path: '${cut(from.parts.at(-1) ?? '')}'`,
    );
    this.add(path, value, `doc is missing destination path: ${path.text}`, 'move');
  }

  private copy(from: Pointer, path: Pointer): void {
    const missing = `copy operation does not apply: doc is missing from path: ${from.text}`;
    if (from.parts.length === 0) throw missingValue(missing);
    const value = this.get(from, missing);
    if (value === undefined) throw fail(`cannot copy from ${show(from)}: nothing there`);
    this.copiedBytes += JSON.stringify(value).length;
    if (this.copiedBytes > maxCopiedBytes) {
      throw new PatchError('RequestEntityTooLarge', `Unable to copy more than ${maxCopiedBytes} bytes in a JSON patch`);
    }
    if (this.copiedBytes > longCopiedBytes) this.onLong();
    this.disown(value);
    this.add(path, value, `doc is missing destination path: ${path.text}`, 'copy');
  }

  private add(path: Pointer, value: unknown, missing: string, op = 'add'): void {
    const last = path.parts.at(-1);
    // Clients of this API replace the whole document by `replace` only.
    if (last === undefined) throw missingValue(`${op} operation does not apply: ${missing}`);
    const parent = this.ownedParent(path, `${op} operation does not apply: ${missing}`);
    if (!Array.isArray(parent)) {
      setOwn(parent, last, value);
      return;
    }
    const index = last === '-' ? parent.length : arrayIndex(last, parent.length + 1);
    if (index !== undefined) parent.splice(index, 0, value);
    else
      throw fail(
        `error in ${op} for path: '${path.text}': ${isNumber(last) ? '' : `value was not a proper array index: '${cut(last)}': `}${wrongIndex(last)}`,
      );
  }

  private replace(path: Pointer, value: unknown): void {
    const last = path.parts.at(-1);
    if (last === undefined) {
      this.document = value;
      return;
    }
    const parent = this.ownedParent(path, `replace operation does not apply: doc is missing path: ${path.text}`);
    if (!Array.isArray(parent)) {
      setOwn(parent, last, value);
      return;
    }
    const index = arrayIndex(last, parent.length);
    if (index === undefined) throw missingValue(`replace operation does not apply: doc is missing key: ${path.text}`);
    parent[index] = value;
  }

  private remove(path: Pointer, missing: string, problem: string): unknown {
    const last = path.parts.at(-1);
    const whole = `${problem.startsWith('error in move') ? 'move' : 'remove'} operation does not apply: ${missing}`;
    if (last === undefined) throw missingValue(whole);
    const parent = this.ownedParent(path, whole);
    if (Array.isArray(parent)) {
      const index = arrayIndex(last, parent.length);
      if (index === undefined) throw fail(`${problem}: ${wrongIndex(last)}`);
      return parent.splice(index, 1)[0];
    }
    if (!Object.hasOwn(parent, last)) throw missingValue(`${problem}: Unable to remove nonexistent key: ${cut(last)}`);
    const value = parent[last];
    delete parent[last];
    return value;
  }

  private test(path: Pointer, expected: unknown): void {
    const found = this.get(path, `test operation does not apply: is missing path: ${path.text}`) ?? null;
    if (!deepEqual(found, expected) && !deepEqual(withoutSpelling(found), withoutSpelling(expected))) {
      throw Object.assign(fail(`testing value ${path.text} failed: test failed`), { isFailedTest: true });
    }
  }

  /**
   * The value at a path; undefined when only its last part does not exist. Fails when an earlier part does not exist,
   * or when the path leads to no element of a list.
   */
  private get({ parts }: Pointer, missing: string): unknown {
    let value: unknown = this.document;
    for (const part of parts) {
      if (Array.isArray(value)) {
        const index = arrayIndex(part, value.length);
        if (index === undefined) throw missingValue(missing);
        value = value[index];
      } else if (isObject(value)) value = getOwn(value, part);
      else throw missingValue(missing);
    }
    return value;
  }

  /** The container of a path's last part, after copying every container on the way. */
  private ownedParent({ parts }: Pointer, missing: string): Container {
    let container = this.own(this.document, missing);
    this.document = container;
    for (const part of parts.slice(0, -1)) {
      if (Array.isArray(container)) {
        const index = arrayIndex(part, container.length);
        if (index === undefined) throw missingValue(missing);
        const child = this.own(container[index], missing);
        container[index] = child;
        container = child;
      } else {
        const child = this.own(getOwn(container, part), missing);
        setOwn(container, part, child);
        container = child;
      }
    }
    return container;
  }

  private own(value: unknown, missing: string): Container {
    if (!Array.isArray(value) && !isObject(value)) throw missingValue(missing);
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

interface Pointer {
  /** The pointer as it was sent, cut for messages. */
  readonly text: string;
  readonly parts: readonly string[];
}

function parsePointer(operation: JsonObject, member: 'path' | 'from'): Pointer {
  const pointer = getOwn(operation, member);
  if (typeof pointer !== 'string') {
    throw missingValue(`${cut(String(getOwn(operation, 'op')))} operation failed to decode ${member}`);
  }
  if (pointer === '') return { text: '', parts: [] };
  if (!pointer.startsWith('/')) throw fail(`${show(pointer)} is not a JSON pointer`);
  const parts = pointer.slice(1).split('/');
  const decoded = pointer.includes('~') ? parts.map((p) => p.replaceAll('~1', '/').replaceAll('~0', '~')) : parts;
  return { text: cut(pointer), parts: decoded };
}

/** The index that a part of a path stands for; undefined if the list has no such place. */
function arrayIndex(part: string, end: number): number | undefined {
  if (!isNumber(part)) return undefined;
  const given = Number(part);
  const index = given < 0 ? end + given : given;
  return index < 0 || index >= end ? undefined : index;
}

function isNumber(part: string): boolean {
  return /^(0|-?[1-9]\d{0,9})$/.test(part);
}

function wrongIndex(part: string): string {
  return isNumber(part)
    ? `Unable to access invalid index: ${part}: invalid index referenced`
    : `strconv.Atoi: parsing ${show(part)}: invalid syntax`;
}

/** A part of the patch for a message, cut if it is too long. */
function show(value: unknown): string {
  return cut(JSON.stringify(isPointer(value) ? value.text : (value ?? null)));
}

function isPointer(value: unknown): value is Pointer {
  return isObject(value) && Array.isArray(value.parts);
}

function cut(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown)}...` : text;
}

function missingValue(detail: string): PatchError {
  return fail(`${detail}: missing value`);
}

function fail(detail: string): PatchError {
  return new PatchError('Invalid', unprocessablePatchMessage, detail);
}
