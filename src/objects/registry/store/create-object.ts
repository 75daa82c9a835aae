import type { ApiObject } from '../../../base/machinery/api-object.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import { throwIfLarge } from '../../../base/machinery/large-work.js';
import { turnForWork } from '../../../base/machinery/pieces-in-turn.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import {
  alreadyExistsError,
  generateNameConflictError,
  StatusError,
  unreasonedError,
} from '../../../base/machinery/status-error.js';
import type { StoredObject } from '../../../storage/storage.interface.js';
import { StorageError } from '../../../storage/storage-error.js';
import { beforeCreate } from '../metadata/before-create.js';
import type { Reservation } from '../strategy.js';
import { namesVersion, parseStored, type VersionedText } from './object-codec.js';
import { lacksNamespaceOrDefinition, type StoreDependencies } from './store-dependencies.js';
import type { CreateOptions } from './store-options.js';
import { isOutcomeUnknown, toStatusError } from './to-status-error.js';

/** How many names are generated for one object before its client has to retry. */
const maxGeneratedNames = 8;

/** Writes a new object that is decoded, defaulted and admitted. Changes `object` to the written state. */
export async function createObject(
  dependencies: StoreDependencies,
  context: RequestContext,
  object: ApiObject,
  options: CreateOptions,
): Promise<VersionedText> {
  const { name, generateName } = object.metadata;
  if (name || !generateName) return createNamed(dependencies, context, object, options);
  // An attempt adds fields that follow from its name and uid. The next attempt starts without them.
  const asAdmitted = cloneJson(object);
  for (let attempt = 1; ; attempt++) {
    try {
      return await createNamed(dependencies, context, object, options);
    } catch (error) {
      const isTaken = error instanceof StatusError && error.reason === 'AlreadyExists';
      if (!isTaken || attempt === maxGeneratedNames) throw error;
      replaceContent(object, cloneJson(asAdmitted));
    }
  }
}

async function createNamed(
  dependencies: StoreDependencies,
  context: RequestContext,
  object: ApiObject,
  options: CreateOptions,
): Promise<VersionedText> {
  await dependencies.definition.strategy.prepareRules?.();
  await dependencies.definition.strategy.authorizeWrite?.(context, object, undefined);
  beforeCreate(context, dependencies.definition, object, dependencies.clock, dependencies.random);
  // Also for a request that admission refuses.
  dependencies.collectWarnings(context, object, undefined);
  await options.validate(object, undefined);
  // Only real writes refuse a resourceVersion: a dry run of a copied object shows the result. A string that is not a
  // number is not a version and is dropped, as in the reference: test suites of clients send it.
  const { resourceVersion } = object.metadata;
  if (namesVersion(resourceVersion) && /^\d+$/.test(resourceVersion) && !options.dryRun) {
    throw unreasonedError('resourceVersion should not be set on objects to be created');
  }
  delete object.metadata.resourceVersion;
  const { strategy } = dependencies.definition;
  let reservation: Reservation | undefined;
  let written: VersionedText;
  try {
    reservation = await strategy.reserveForCreate?.(context, object, options.dryRun);
    written = await writeNew(dependencies, context, object, options);
  } catch (error) {
    if (!isOutcomeUnknown(error)) await reservation?.rollback();
    throw toStatusError(error, dependencies.groupResource, object.metadata.name ?? '');
  }
  if (options.dryRun) await reservation?.rollback();
  else await reservation?.commit();
  return written;
}

async function writeNew(
  dependencies: StoreDependencies,
  context: RequestContext,
  object: ApiObject,
  options: CreateOptions,
): Promise<VersionedText> {
  const name = object.metadata.name as string;
  const key = dependencies.keyOf(object.metadata.namespace ?? '', name);
  const json = dependencies.encode(object, 0);
  if (options.dryRun) {
    const live = await dependencies.read(key, name);
    if (live !== undefined) throw await existsError(dependencies, context, live, object);
    return { json, resourceVersion: undefined };
  }
  const writer = options.writer?.();
  if (writer !== undefined) {
    const answer = await writer(dependencies.newWrite(key, object, json));
    if (answer.kind === 'written') return { json, resourceVersion: answer.resourceVersion };
    if (answer.current === undefined) throw await dependencies.missingNamespaceOrDefinition(key, name);
    throw await existsError(dependencies, context, answer.current, object);
  }
  try {
    return await dependencies.storage.create(key, object.metadata.uid as string, json, dependencies.creating);
  } catch (error) {
    if (lacksNamespaceOrDefinition(error)) throw await dependencies.missingNamespaceOrDefinition(key, name);
    if (error instanceof StorageError && error.code === 'KeyExists') {
      const live = await dependencies.read(key, name);
      throw live === undefined
        ? toStatusError(error, dependencies.groupResource, name)
        : await existsError(dependencies, context, live, object);
    }
    throw toStatusError(error, dependencies.groupResource, name);
  }
}

async function existsError(
  dependencies: StoreDependencies,
  context: RequestContext,
  live: StoredObject,
  object: ApiObject,
): Promise<Error> {
  const room = context.makeRoom?.(live.json.length);
  if (room !== undefined) await room;
  throwIfLarge(context, live.json);
  const turn = turnForWork(context, live.json.length);
  if (turn !== undefined) await turn;
  const name = object.metadata.name as string;
  const isDeleting = parseStored(dependencies.resource, live).metadata.deletionTimestamp !== undefined;
  if (isDeleting) return alreadyExistsError(dependencies.groupResource, name, 'object is being deleted: ');
  if (object.metadata.generateName) return generateNameConflictError(dependencies.groupResource, name);
  return alreadyExistsError(dependencies.groupResource, name);
}

/** Makes one object equal to another, in place. */
function replaceContent(object: ApiObject, content: ApiObject): void {
  for (const key of Object.keys(object)) delete object[key];
  Object.assign(object, content);
}
