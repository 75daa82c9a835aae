import { invariant } from '../../base/machinery/invariant.js';
import type {
  Preconditions,
  StorageCreateOptions,
  StoredObject,
  UpdateDecision,
  UpdateOptions,
  UpdateResult,
  Write,
  WriteAnswer,
} from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import type { StorageKey } from '../storage-key.js';

/** The most rounds of one update. Only hundreds of concurrent writers of one object reach this limit. */
const MOST_ROUNDS = 500;

/** The functions of the store that an update needs. */
export interface ReadAndWrite {
  get(key: StorageKey): Promise<StoredObject | undefined>;
  write(write: Write): Promise<WriteAnswer>;
}

/**
 * The compare-and-swap loop behind `Storage.guaranteedUpdate`. A refused write returns the conflicting object, so a
 * lost race costs no read. A cached copy is only a first attempt: a copy that may be stale is never the reason to
 * refuse an update or to find the object unchanged.
 */
export async function guaranteedUpdate(
  store: ReadAndWrite,
  key: StorageKey,
  options: UpdateOptions,
  tryUpdate: (current: StoredObject | undefined) => Promise<UpdateDecision> | UpdateDecision,
): Promise<UpdateResult> {
  let current = options.cachedCopy ?? (await store.get(key));
  let certain = options.cachedCopy === undefined;
  // Reads the object of which the caller holds a copy. Returns whether the copy was right, so that the decision based
  // on it holds.
  const wasRight = async (): Promise<boolean> => {
    const copy = current;
    current = await store.get(key);
    certain = true;
    return copy?.resourceVersion === current?.resourceVersion;
  };
  for (let round = 0; round < MOST_ROUNDS; round++) {
    let decision: UpdateDecision;
    try {
      if (current === undefined && options.ignoreNotFound !== true) {
        throw new StorageError('KeyNotFound', 'no object lives under the key', { key });
      }
      checkPreconditions(key, current, options.preconditions);
      decision = await tryUpdate(current);
    } catch (error) {
      if (certain || (await wasRight())) throw error;
      continue;
    }

    if (decision.kind === 'again') {
      current = decision.current;
      certain = true;
      continue;
    }
    if (decision.kind === 'written') {
      const { uid, resourceVersion, json } = decision;
      return { outcome: 'written', object: { key, uid, resourceVersion, json } };
    }
    if (decision.kind === 'unchanged' || (decision.kind === 'delete' && current === undefined)) {
      if (!certain && !(await wasRight())) continue;
      if (current === undefined) throw new StorageError('KeyNotFound', 'no object lives under the key', { key });
      if (decision.kind === 'delete' || current.isOutdated !== true) return { outcome: 'unchanged', object: current };
      // The text is the same, but must be encrypted again.
      decision = { kind: 'write', json: current.json, uid: current.uid };
    }

    const uid = decision.kind === 'write' ? decision.uid : (current?.uid ?? '');
    checkUid(key, uid, current);
    const op = decision.kind === 'delete' ? 'delete' : current === undefined ? 'create' : 'update';
    const answer: WriteAnswer = await store.write({
      op,
      key,
      uid,
      expected: current?.resourceVersion ?? null,
      json: decision.json,
      previousJson: current?.json,
      inLiveNamespace: options.inLiveNamespace,
      definedBy: options.definedBy,
    });
    if (answer.kind === 'written') {
      checkNewer(answer.resourceVersion, current);
      const object = { key, uid, resourceVersion: answer.resourceVersion, json: decision.json };
      return { outcome: op === 'delete' ? 'deleted' : 'written', object };
    }
    if (op === 'create' && answer.current === undefined) throw missingNamespaceOrDefinition(key, options);
    current = answer.current;
    certain = true;
  }
  throw new StorageError('Conflict', `the object changed during each of ${MOST_ROUNDS} attempts`, { key });
}

/** The error for a refused create under a key that has no object. */
export function missingNamespaceOrDefinition(key: StorageKey, { definedBy }: StorageCreateOptions): StorageError {
  if (definedBy !== undefined) {
    const message = 'the definition of the kind or the namespace does not exist or is being deleted';
    return new StorageError('NoDefinition', message, { key });
  }
  return new StorageError('NoNamespace', 'the namespace does not exist or is being deleted', { key });
}

function checkUid(key: StorageKey, uid: string, current: StoredObject | undefined): void {
  if (current === undefined || uid === current.uid) return;
  throw new StorageError('Invalid', 'an update cannot change the uid of an object', { key });
}

/** @throws InvariantError when a write did not replace its object by a newer one */
function checkNewer(version: bigint, current: StoredObject | undefined): void {
  const isNewer = current === undefined || version > current.resourceVersion;
  invariant(isNewer, 'versions only rise', version, current?.resourceVersion);
}

function checkPreconditions(
  key: StorageKey,
  current: StoredObject | undefined,
  preconditions: Preconditions | undefined,
): void {
  if (preconditions === undefined || current === undefined) return;
  const { uid, resourceVersion } = preconditions;
  if (uid !== undefined && uid !== current.uid) {
    throw new StorageError('PreconditionFailed', `the uid is ${current.uid}, not ${uid}`, {
      key,
      resourceVersion: current.resourceVersion,
    });
  }
  if (resourceVersion !== undefined && resourceVersion !== current.resourceVersion) {
    throw new StorageError(
      'PreconditionFailed',
      `the resourceVersion is ${current.resourceVersion}, not ${resourceVersion}`,
      { key, resourceVersion: current.resourceVersion },
    );
  }
}
