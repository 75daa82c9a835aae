import { throwIfLarge } from '../../../base/machinery/large-work.js';
import { turnForWork } from '../../../base/machinery/pieces-in-turn.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { notFoundError } from '../../../base/machinery/status-error.js';
import type { StoredObject, UpdateDecision } from '../../../storage/storage.interface.js';
import { StorageError } from '../../../storage/storage-error.js';
import { checkPreconditions, decideDelete, warnOfDependents } from '../metadata/before-delete.js';
import { DryRunDone } from './dry-run-done.js';
import { encodeForStorage, parseStored, type VersionedText } from './object-codec.js';
import { preconditionError } from './precondition-error.js';
import type { StoreDependencies } from './store-dependencies.js';
import type { DeleteOutcome, StoreDeleteOptions } from './store-options.js';
import { toStatusError } from './to-status-error.js';

/** The last part of the message that refuses a delete meant for unreadable objects; clients match on it. */
const readableMessage = 'unsafe deletion is not allowed because the object is decodable from storage';

/** Deletes or marks one object (specification 3). */
export async function deleteObject(
  dependencies: StoreDependencies,
  context: RequestContext,
  namespace: string,
  name: string,
  options: StoreDeleteOptions,
): Promise<DeleteOutcome> {
  const { validate, uid, cachedCopy } = options;
  let outcome: Omit<DeleteOutcome, 'text'> | undefined;
  let dryText: VersionedText | undefined;
  let endsNext = false;

  const decide = async (current: StoredObject | undefined): Promise<UpdateDecision> => {
    if (current === undefined || (uid !== undefined && current.uid !== uid)) {
      warnOfDependents(context, dependencies.definition, options);
      throw notFoundError(dependencies.groupResource, name);
    }
    const room = context.makeRoom?.(current.json.length);
    if (room !== undefined) await room;
    throwIfLarge(context, current.json);
    const turn = turnForWork(context, current.json.length);
    if (turn !== undefined) await turn;
    const live = parseStored(dependencies.resource, current);
    if (options.onlyUnreadable === true) {
      throw preconditionError(dependencies.definition, namespace, name, readableMessage);
    }
    dependencies.definition.strategy.checkDelete?.(live);
    checkPreconditions(dependencies.definition, live, options);
    await validate(undefined, live);
    const decision = decideDelete(context, dependencies.definition, live, options, dependencies.clock);
    endsNext = decision.kind === 'mark-and-remove';
    outcome = { removed: endsNext || decision.kind === 'remove', object: decision.object };
    const json = encodeForStorage(dependencies.resource, decision.object);
    if (options.dryRun) {
      dryText = { json, resourceVersion: current.resourceVersion };
      throw new DryRunDone();
    }
    if (decision.kind === 'remove') return { kind: 'delete', json };
    if (decision.kind === 'nothing' || json === current.json) return { kind: 'unchanged' };
    return { kind: 'write', json, uid: current.uid };
  };

  try {
    const result = await dependencies.storage.guaranteedUpdate(
      dependencies.keyOf(namespace, name),
      { ignoreNotFound: true, cachedCopy },
      decide,
    );
    const done = outcome as Omit<DeleteOutcome, 'text'>;
    const removed = endsNext ? await removeMarked(dependencies, result.object) : undefined;
    const isGone = result.outcome === 'deleted' || removed !== undefined;
    if (isGone) await dependencies.definition.strategy.afterDelete?.(done.object);
    return { ...done, text: removed ?? result.object };
  } catch (error) {
    if (error instanceof DryRunDone)
      return { ...(outcome as Omit<DeleteOutcome, 'text'>), text: dryText as VersionedText };
    throw toStatusError(error, dependencies.groupResource, name);
  }
}

/**
 * Removes an object that was marked a moment ago. If this fails or the process dies before it, the mark stays, and the
 * next delete or update removes the object. Returns its last state, or undefined when another process was faster.
 */
async function removeMarked(dependencies: StoreDependencies, marked: StoredObject): Promise<StoredObject | undefined> {
  const options = { cachedCopy: marked };
  try {
    const { outcome, object } = await dependencies.storage.guaranteedUpdate(marked.key, options, (current) =>
      current?.uid === marked.uid ? { kind: 'delete', json: current.json } : { kind: 'unchanged' },
    );
    return outcome === 'deleted' ? object : undefined;
  } catch (error) {
    if (error instanceof StorageError && error.code === 'KeyNotFound') return undefined;
    throw error;
  }
}
