import { invariant } from '../../base/machinery/invariant.js';
import type { Definer, Write } from '../storage.interface.js';
import { bigintArray, smallintArray, textArray } from './binary-array.js';
import { isQuiet } from './quiet-update.js';
import type { QueuedWrite } from './write-queue.js';

const OP_CODES = { create: 0, update: 1, delete: 2 } as const;
const CREATE_IN_LIVE_NAMESPACE = 3;
/** An update that is quiet by the first rule. Another rule needs another code. */
const QUIET_UPDATE = 4;

/**
 * A batch as the columns of `plinth.write_batch`, in the order of its arguments. A column that no write uses is null.
 *
 * @throws InvariantError for two writes of one key: each would pass its check before the other is made
 */
export function batchColumns(batch: readonly QueuedWrite[]): readonly (Buffer | null)[] {
  if (batch.length > 1) {
    const keys = new Set(batch.map(({ keyString }) => keyString));
    invariant(keys.size === batch.length, 'two writes of one key never share a batch', keys.size, batch.length);
  }
  const texts = (textOf: (entry: QueuedWrite) => string) => textArray(batch.map(textOf));
  return [
    smallintArray(batch.map(({ write }) => opCode(write))),
    groupColumn(batch),
    texts(({ write }) => write.key.resource),
    texts(({ write }) => write.key.namespace),
    texts(({ write }) => write.key.name),
    texts(({ write }) => write.uid),
    bigintArray(batch.map(({ write }) => write.expected)),
    texts(({ stored }) => stored),
    ...definitionColumns(batch),
  ];
}

function opCode({ op, inLiveNamespace, key, json, previousJson }: Write): number {
  if (op === 'create' && inLiveNamespace === true) return CREATE_IN_LIVE_NAMESPACE;
  if (op === 'update' && previousJson !== undefined && isQuiet(key.resource, previousJson, json)) return QUIET_UPDATE;
  return OP_CODES[op];
}

/** A number for each write that tied writes share. */
function groupColumn(batch: readonly QueuedWrite[]): Buffer | null {
  const numbers = new Map<readonly QueuedWrite[], number>();
  const column = batch.map(({ tied }) => {
    if (tied === undefined || tied.length === 1) return null;
    const number = numbers.get(tied) ?? numbers.size + 1;
    numbers.set(tied, number);
    return number;
  });
  return numbers.size === 0 ? null : smallintArray(column);
}

/** Resource, name and uid of the definition that a create requires. */
function definitionColumns(batch: readonly QueuedWrite[]): readonly (Buffer | null)[] {
  const definers = batch.map(({ write }) => (write.op === 'create' ? write.definedBy : undefined));
  if (definers.every((definer) => definer === undefined)) return [null, null, null];
  const column = (name: keyof Definer) => textArray(definers.map((definer) => definer?.[name] ?? null));
  return [column('resource'), column('name'), column('uid')];
}
