import type { ApiObject } from '../../../base/machinery/api-object.js';
import { throwIfLarge } from '../../../base/machinery/large-work.js';
import { withoutTimeChanges } from '../../../base/machinery/managed-fields/index.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { turnForWork } from '../../../base/machinery/pieces-in-turn.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import {
  conflictError,
  missingVersionError,
  modifiedMessage,
  notFoundError,
} from '../../../base/machinery/status-error.js';
import type { StoredObject, UpdateDecision } from '../../../storage/storage.interface.js';
import { StorageError } from '../../../storage/storage-error.js';
import type { StorageKey } from '../../../storage/storage-key.js';
import { beforeCreate } from '../metadata/before-create.js';
import { endsWithUpdate } from '../metadata/before-delete.js';
import { beforeUpdate } from '../metadata/before-update.js';
import type { Reservation } from '../strategy.js';
import { DryRunDone } from './dry-run-done.js';
import {
  encodeForStorage,
  isOtherVersion,
  isPresentForm,
  namesVersion,
  parseResourceVersion,
  parseStored,
  type VersionedText,
} from './object-codec.js';
import { preconditionError, uidMismatch } from './precondition-error.js';
import { lacksNamespaceOrDefinition, type StoreDependencies } from './store-dependencies.js';
import type { StoreUpdateOptions, UpdateOutcome } from './store-options.js';
import { isOutcomeUnknown, toStatusError } from './to-status-error.js';

/** Writes the object that `options.transform` makes from the live one; creates it where that is allowed. */
export async function updateObject(
  dependencies: StoreDependencies,
  context: RequestContext,
  namespace: string,
  name: string,
  options: StoreUpdateOptions,
): Promise<UpdateOutcome> {
  let reservation: Reservation | undefined;
  let created = false;
  let dryResult: VersionedText | undefined;
  let writtenObject: ApiObject | undefined;

  const tryUpdate = async (current: StoredObject | undefined): Promise<UpdateDecision> => {
    await reservation?.rollback();
    reservation = undefined;
    if (current === undefined) {
      const object = await transformMissing(dependencies, context, { namespace, name }, options);
      reservation = await dependencies.definition.strategy.reserveForCreate?.(context, object, options.dryRun);
      created = true;
      writtenObject = object;
      return { kind: 'write', json: dependencies.encode(object, 0), uid: object.metadata.uid as string };
    }
    created = false;
    const { live, object } = await transformLive(dependencies, context, current, options);
    writtenObject = object;
    if (endsWithUpdate(dependencies.definition, object)) {
      return { kind: 'delete', json: encodeForStorage(dependencies.resource, object) };
    }
    if (options.subresource === undefined) {
      reservation = await dependencies.definition.strategy.reserveForUpdate?.(context, object, live, options.dryRun);
    }
    const json = dependencies.encode(object, current.json.length);
    // Outdated JSON is written again even if nothing else changes, so a plain update brings storage up to date.
    const keepsText = isPresentForm(dependencies.resource, current.json) && isUnchanged(object, live);
    if (json === current.json || keepsText) return { kind: 'unchanged' };
    return { kind: 'write', json, uid: current.uid };
  };

  const decide = async (current: StoredObject | undefined): Promise<UpdateDecision> => {
    const decision = await tryUpdate(current);
    if (decision.kind === 'write' && !options.dryRun) {
      return writtenTogether(dependencies, current, decision, writtenObject as ApiObject, options);
    }
    if (!options.dryRun || !('json' in decision)) return decision;
    dryResult = { json: decision.json, resourceVersion: current?.resourceVersion };
    throw new DryRunDone();
  };

  let text: VersionedText;
  let isWritten = false;
  try {
    const options = { ignoreNotFound: true, ...dependencies.creating };
    const result = await dependencies.storage.guaranteedUpdate(dependencies.keyOf(namespace, name), options, decide);
    isWritten = true;
    text = result.object;
    await reservation?.commit();
    if (result.outcome === 'deleted') await dependencies.definition.strategy.afterDelete?.(writtenObject as ApiObject);
  } catch (error) {
    if (!isWritten && !isOutcomeUnknown(error)) await reservation?.rollback();
    if (lacksNamespaceOrDefinition(error))
      throw await dependencies.missingNamespaceOrDefinition(dependencies.keyOf(namespace, name), name);
    if (!(error instanceof DryRunDone)) throw toStatusError(error, dependencies.groupResource, name);
    text = dryResult as VersionedText;
  }
  return { json: text.json, resourceVersion: text.resourceVersion, created };
}

/** Makes the write of an update right away if it belongs in a transaction with others. */
async function writtenTogether(
  dependencies: StoreDependencies,
  current: StoredObject | undefined,
  decision: UpdateDecision & { readonly kind: 'write' },
  object: ApiObject,
  options: StoreUpdateOptions,
): Promise<UpdateDecision> {
  const writer = options.writer?.();
  if (writer === undefined) return decision;
  const { json, uid } = decision;
  const { namespace = '', name = '' } = object.metadata;
  const key = current?.key ?? dependencies.keyOf(namespace, name);
  const expected = current?.resourceVersion;
  const answer = await writer(
    expected === undefined
      ? dependencies.newWrite(key, object, json)
      : { op: 'update', key, uid, expected, json, previousJson: current?.json },
  );
  if (answer.kind === 'written') return { kind: 'written', json, uid, resourceVersion: answer.resourceVersion };
  if (current === undefined && answer.current === undefined) {
    throw new StorageError(
      'NoNamespace',
      'the namespace or the definition of the object does not exist or is being deleted',
      { key },
    );
  }
  return { kind: 'again', current: answer.current };
}

async function transformLive(
  dependencies: StoreDependencies,
  context: RequestContext,
  current: StoredObject,
  options: StoreUpdateOptions,
): Promise<{ readonly live: ApiObject; readonly object: ApiObject }> {
  const room = context.makeRoom?.(current.json.length);
  if (room !== undefined) await room;
  throwIfLarge(context, current.json);
  const turn = turnForWork(context, current.json.length);
  if (turn !== undefined) await turn;
  const read = parseStored(dependencies.resource, current);
  const live = options.converted === undefined ? read : await options.converted(read);
  const object = await options.transform(live);
  await dependencies.definition.strategy.prepareRules?.();
  await dependencies.definition.strategy.authorizeWrite?.(context, object, live);
  checkVersion(dependencies, object, live);
  beforeUpdate(context, dependencies.definition, object, live, options.subresource);
  const owners = withoutTimeChanges(live, object);
  if (owners !== undefined) object.metadata.managedFields = owners;
  // Also for a request that admission refuses.
  dependencies.collectWarnings(context, object, live);
  await options.validate(object, live);
  return { live, object };
}

async function transformMissing(
  dependencies: StoreDependencies,
  context: RequestContext,
  { namespace, name }: Pick<StorageKey, 'namespace' | 'name'>,
  options: StoreUpdateOptions,
): Promise<ApiObject> {
  const mayCreate =
    options.forceAllowCreate === true || dependencies.definition.strategyOptions?.allowCreateOnUpdate === true;
  if (!mayCreate || options.subresource !== undefined) throw notFoundError(dependencies.groupResource, name);
  const object = await options.transform(undefined);
  if (object.metadata.uid) {
    // The caller refers to one particular object, which is gone.
    const { uid } = object.metadata;
    if (options.forceAllowCreate !== true) {
      throw preconditionError(dependencies.definition, namespace, name, uidMismatch(uid, ''));
    }
    const detail = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw conflictError(dependencies.groupResource, name, detail);
  }
  // The version of a removed object has no meaning for the new one, but a text that is not a version is a mistake of
  // the client.
  parseResourceVersion(object.metadata.resourceVersion, '');
  delete object.metadata.resourceVersion;
  await dependencies.definition.strategy.prepareRules?.();
  await dependencies.definition.strategy.authorizeWrite?.(context, object, undefined);
  beforeCreate(context, dependencies.definition, object, dependencies.clock, dependencies.random);
  dependencies.collectWarnings(context, object, undefined);
  await options.validate(object, undefined);
  return object;
}

function checkVersion(dependencies: StoreDependencies, object: ApiObject, live: ApiObject): void {
  const name = live.metadata.name as string;
  const asked = object.metadata.resourceVersion;
  if (!namesVersion(asked)) {
    if (dependencies.definition.strategyOptions?.allowUnconditionalUpdate === false) {
      throw missingVersionError(dependencies.groupResource, name);
    }
  } else if (isOtherVersion(asked, live.metadata.resourceVersion)) {
    throw conflictError(dependencies.groupResource, name, modifiedMessage);
  }
}

/** Defaults that are filled in late appear at another place in the JSON, so values are compared. */
function isUnchanged(object: ApiObject, live: ApiObject): boolean {
  const { resourceVersion: _written, ...metadata } = object.metadata;
  const { resourceVersion: _read, ...liveMetadata } = live.metadata;
  return deepEqual({ ...object, metadata }, { ...live, metadata: liveMetadata });
}
