import type { ApiObject } from '../../../base/machinery/api-object.js';
import { leaveLarge } from '../../../base/machinery/large-work.js';
import { withoutTimeChanges } from '../../../base/machinery/managed-fields/index.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { turnFor } from '../../../base/machinery/pieces-in-turn.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import {
  conflictError,
  missingVersionError,
  modifiedMessage,
  notFoundError,
} from '../../../base/machinery/status-error.js';
import type { StoredObject, UpdateDecision } from '../../../storage/storage.interface.js';
import { StorageError } from '../../../storage/storage-error.js';
import { beforeCreate } from '../metadata/before-create.js';
import { endsWithUpdate } from '../metadata/before-delete.js';
import { beforeUpdate } from '../metadata/before-update.js';
import type { Reservation } from '../strategy.js';
import {
  encodeForStorage,
  isOtherVersion,
  isPresentForm,
  namesVersion,
  parseStored,
  type VersionedText,
} from './object-codec.js';
import type { UpdateOptions, UpdateOutcome } from './store-options.js';
import { DryRunDone, isWithoutPlace, type StoreParts } from './store-parts.js';
import { isOutcomeUnknown, toStatusError } from './to-status-error.js';

/** Writes the object that `options.transform` makes from the live one; creates it where that is allowed. */
export async function updateObject(
  parts: StoreParts,
  context: RequestContext,
  namespace: string,
  name: string,
  options: UpdateOptions,
): Promise<UpdateOutcome> {
  let reservation: Reservation | undefined;
  let created = false;
  let dryResult: VersionedText | undefined;
  let writtenObject: ApiObject | undefined;
  let oldObject: ApiObject | undefined;

  const tryUpdate = async (current: StoredObject | undefined): Promise<UpdateDecision> => {
    await reservation?.rollback();
    reservation = undefined;
    if (current === undefined) {
      const object = await transformMissing(parts, context, name, options);
      reservation = await parts.definition.strategy.reserveForCreate?.(context, object, options.dryRun);
      created = true;
      writtenObject = object;
      return { kind: 'write', json: parts.encode(object, 0), uid: object.metadata.uid as string };
    }
    created = false;
    leaveLarge(context, current.json);
    const turn = turnFor(context, current.json.length);
    if (turn !== undefined) await turn;
    const read = parseStored(parts.resource, current);
    const live = options.converted === undefined ? read : await options.converted(read);
    const object = await options.transform(live);
    await parts.definition.strategy.prepareRules?.();
    await parts.definition.strategy.authorizeWrite?.(context, object, live);
    checkVersion(parts, object, live);
    beforeUpdate(context, parts.definition, object, live, options.subresource);
    const owners = withoutTimeChanges(live, object);
    if (owners !== undefined) object.metadata.managedFields = owners;
    await options.validate(object, live);
    writtenObject = object;
    oldObject = live;
    if (endsWithUpdate(parts.definition, object)) {
      return { kind: 'delete', json: encodeForStorage(parts.resource, object) };
    }
    if (options.subresource === undefined) {
      reservation = await parts.definition.strategy.reserveForUpdate?.(context, object, live, options.dryRun);
    }
    const json = parts.encode(object, current.json.length);
    // An outdated text is written again even if nothing else changes, so a plain update brings storage up to date.
    const keepsText = isPresentForm(parts.resource, current.json) && isUnchanged(object, live);
    if (json === current.json || keepsText) return { kind: 'unchanged' };
    return { kind: 'write', json, uid: current.uid };
  };

  const decide = async (current: StoredObject | undefined): Promise<UpdateDecision> => {
    const decision = await tryUpdate(current);
    if (decision.kind === 'write' && !options.dryRun) {
      return writtenTogether(parts, current, decision, writtenObject as ApiObject, options);
    }
    if (!options.dryRun || !('json' in decision)) return decision;
    dryResult = { json: decision.json, resourceVersion: current?.resourceVersion };
    throw new DryRunDone();
  };

  let text: VersionedText;
  let isWritten = false;
  try {
    const options = { ignoreNotFound: true, ...parts.creating };
    const result = await parts.storage.guaranteedUpdate(parts.keyOf(namespace, name), options, decide);
    isWritten = true;
    text = result.object;
    await reservation?.commit();
    if (result.outcome === 'deleted') await parts.definition.strategy.afterDelete?.(writtenObject as ApiObject);
  } catch (error) {
    if (!isWritten && !isOutcomeUnknown(error)) await reservation?.rollback();
    if (isWithoutPlace(error)) throw await parts.withoutPlace(parts.keyOf(namespace, name), name);
    if (!(error instanceof DryRunDone)) throw toStatusError(error, parts.groupResource, name);
    text = dryResult as VersionedText;
  }
  parts.collectWarnings(context, writtenObject as ApiObject, oldObject);
  return { json: text.json, resourceVersion: text.resourceVersion, created };
}

/** Makes a write of an update itself if it belongs to a transaction with others. */
async function writtenTogether(
  parts: StoreParts,
  current: StoredObject | undefined,
  decision: UpdateDecision & { readonly kind: 'write' },
  object: ApiObject,
  options: UpdateOptions,
): Promise<UpdateDecision> {
  const writer = options.writer?.();
  if (writer === undefined) return decision;
  const { json, uid } = decision;
  const { namespace = '', name = '' } = object.metadata;
  const key = current?.key ?? parts.keyOf(namespace, name);
  const expected = current?.resourceVersion;
  const answer = await writer(
    expected === undefined
      ? parts.newWrite(key, object, json)
      : { op: 'update', key, uid, expected, json, previousJson: current?.json },
  );
  if (answer.kind === 'written') return { kind: 'written', json, uid, resourceVersion: answer.resourceVersion };
  if (current === undefined && answer.current === undefined) {
    throw new StorageError('NoNamespace', 'the place of the object is not there or is being deleted', { key });
  }
  return { kind: 'again', current: answer.current };
}

async function transformMissing(
  parts: StoreParts,
  context: RequestContext,
  name: string,
  options: UpdateOptions,
): Promise<ApiObject> {
  const mayCreate = options.forceAllowCreate === true || parts.definition.strategyOptions?.allowCreateOnUpdate === true;
  if (!mayCreate || options.subresource !== undefined) throw notFoundError(parts.groupResource, name);
  const object = await options.transform(undefined);
  if (object.metadata.uid) {
    // The caller means one certain object, which is gone.
    const { uid } = object.metadata;
    const detail =
      options.forceAllowCreate === true
        ? `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
        : `Precondition failed: UID in precondition: ${uid}, UID in object meta: `;
    throw conflictError(parts.groupResource, name, detail);
  }
  // The version of a removed object has no meaning for the new one.
  delete object.metadata.resourceVersion;
  await parts.definition.strategy.prepareRules?.();
  await parts.definition.strategy.authorizeWrite?.(context, object, undefined);
  beforeCreate(context, parts.definition, object, parts.clock, parts.random);
  await options.validate(object, undefined);
  return object;
}

function checkVersion(parts: StoreParts, object: ApiObject, live: ApiObject): void {
  const name = live.metadata.name as string;
  const asked = object.metadata.resourceVersion;
  if (!namesVersion(asked)) {
    if (parts.definition.strategyOptions?.allowUnconditionalUpdate === false) {
      throw missingVersionError(parts.groupResource, name);
    }
  } else if (isOtherVersion(asked, live.metadata.resourceVersion)) {
    throw conflictError(parts.groupResource, name, modifiedMessage);
  }
}

/** Defaults that are filled in late appear at another place in the text, so values are compared. */
function isUnchanged(object: ApiObject, live: ApiObject): boolean {
  const { resourceVersion: _written, ...metadata } = object.metadata;
  const { resourceVersion: _read, ...liveMetadata } = live.metadata;
  return deepEqual({ ...object, metadata }, { ...live, metadata: liveMetadata });
}
