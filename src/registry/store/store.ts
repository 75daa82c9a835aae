import { randomBytes } from 'node:crypto';
import { leaveLarge } from '../../large/large-work.js';
import type { ApiObject } from '../../machinery/api-object.js';
import type { Clock } from '../../machinery/clock.js';
import type { GroupResource } from '../../machinery/group-version.js';
import { cloneJson } from '../../machinery/json/exact-numbers.js';
import { withoutTimeChanges } from '../../machinery/managed-fields/index.js';
import { deepEqual } from '../../machinery/patch/json-value.js';
import { addWarning, type RequestContext } from '../../machinery/request-context.js';
import {
  alreadyExistsError,
  conflictError,
  generateNameConflictError,
  missingVersionError,
  modifiedMessage,
  notFoundError,
  requestTooLargeError,
  StatusError,
} from '../../machinery/status-error.js';
import { StorageError } from '../../storage/storage.errors.js';
import type {
  ChangeSubscription,
  ListPage,
  ListQuery,
  Storage,
  StorageKey,
  StoredObject,
  UpdateDecision,
  Write,
  WriteAnswer,
} from '../../storage/storage.interface.js';
import { beforeCreate } from '../metadata/before-create.js';
import { checkPreconditions, decideDelete, endsWithUpdate } from '../metadata/before-delete.js';
import { beforeUpdate } from '../metadata/before-update.js';
import type { RandomBytes } from '../metadata/generate-name.js';
import type { StoredResource } from '../resource-definition.js';
import type { StoredServedResource } from '../resource-registry.js';
import type { DeleteOptions, Reservation } from '../strategy.js';
import type { UpdateRules } from '../subresource-definition.js';
import {
  encodeForStorage,
  isOtherVersion,
  isPresentForm,
  namesVersion,
  parseStored,
  type VersionedText,
} from './object-codec.js';
import { endedDefinitionError, isOutcomeUnknown, terminatingNamespaceError, toStatusError } from './to-status-error.js';

/**
 * Longest text of an object in characters, as much as a request may bring. Defaults and the owners of fields can
 * multiply the size of a request.
 */
const maxStoredLength = 3 * 1024 * 1024;
/** How many names are drawn for one object before its client has to retry. */
const maxGeneratedNames = 8;

const namespaces = 'namespaces';

/** What a new object of the resource needs. */
type CreateConditions = Pick<Write, 'inLiveNamespace' | 'definedBy'>;

/** Validating admission, given by the handler: throws to refuse the write. For a delete it runs both phases. */
export type ValidateAdmission = (object: ApiObject | undefined, old: ApiObject | undefined) => Promise<void>;

/**
 * Makes the write of an object together with others (charges of quotas), in one transaction. The answer is about the
 * object. Throws a StatusError when the others don't allow it.
 */
export type ObjectWriter = (write: Write) => Promise<WriteAnswer>;

export interface CreateOptions {
  readonly dryRun: boolean;
  readonly validate: ValidateAdmission;
  /** How the object that was validated last is written; undefined, also as an answer: by itself. */
  readonly writer?: (() => ObjectWriter | undefined) | undefined;
}

export interface UpdateOptions {
  readonly dryRun: boolean;
  readonly validate: ValidateAdmission;
  /** How the object that was validated last is written; undefined, also as an answer: by itself. */
  readonly writer?: (() => ObjectWriter | undefined) | undefined;
  /** Set for writes through a subresource with rules of its own. */
  readonly subresource?: UpdateRules | undefined;
  /** Apply creates missing objects, whatever the kind allows. */
  readonly forceAllowCreate?: boolean;
  /**
   * Makes the wanted object, in the stored version, from the live one (undefined if it does not exist). Called again
   * when another writer came first, so it must not keep state. It must not change the live object.
   */
  readonly transform: (live: ApiObject | undefined) => Promise<ApiObject> | ApiObject;
}

export interface UpdateOutcome extends VersionedText {
  readonly created: boolean;
}

export interface DeleteOutcome {
  /** Whether the object is gone, or would be after a dry run. Otherwise finalizers or a grace period hold it. */
  readonly removed: boolean;
  readonly object: ApiObject;
  readonly text: VersionedText;
}

export interface StoreOptions {
  /**
   * Makes objects only in namespaces that exist and are not being deleted, whatever the caller has in memory: no object
   * survives its namespace. Left out for objects that are written before any namespace exists.
   */
  readonly inLiveNamespaces?: boolean;
}

/**
 * The one store for all resources: the rules of the kind (its strategy) around compare-and-swap writes. Throws only
 * StatusError. A write that throws left nothing behind, unless its outcome is unknown (504). Then the object may have
 * been written, so its allocations are kept.
 */
export class Store {
  readonly groupResource: GroupResource;
  private readonly definition: StoredResource;
  private readonly creating: CreateConditions;

  constructor(
    readonly resource: StoredServedResource,
    private readonly storage: Storage,
    private readonly clock: Clock,
    private readonly random: RandomBytes = randomBytes,
    options: StoreOptions = {},
  ) {
    this.definition = resource.definition;
    const { namespaced, definedBy } = resource.definition;
    this.creating = { inLiveNamespace: options.inLiveNamespaces === true && namespaced, definedBy };
    this.groupResource = { group: this.definition.group, resource: this.definition.resource };
  }

  /** Writes a new object that is decoded, defaulted and admitted. Changes `object` to the written state. */
  async create(context: RequestContext, object: ApiObject, options: CreateOptions): Promise<VersionedText> {
    const { name, generateName } = object.metadata;
    if (name || !generateName) return this.createNamed(context, object, options);
    // An attempt adds fields that follow from its name and uid. The next name starts without them.
    const asAdmitted = cloneJson(object);
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.createNamed(context, object, options);
      } catch (error) {
        const isTaken = error instanceof StatusError && error.reason === 'AlreadyExists';
        if (!isTaken || attempt === maxGeneratedNames) throw error;
        replaceContent(object, cloneJson(asAdmitted));
      }
    }
  }

  private async createNamed(
    context: RequestContext,
    object: ApiObject,
    options: CreateOptions,
  ): Promise<VersionedText> {
    await this.definition.strategy.authorizeWrite?.(context, object, undefined);
    beforeCreate(context, this.definition, object, this.clock, this.random);
    await options.validate(object, undefined);
    const { strategy } = this.definition;
    let reservation: Reservation | undefined;
    let written: VersionedText;
    try {
      reservation = await strategy.reserveForCreate?.(context, object, options.dryRun);
      written = await this.writeNew(context, object, options);
    } catch (error) {
      if (!isOutcomeUnknown(error)) await reservation?.rollback();
      throw toStatusError(error, this.groupResource, object.metadata.name ?? '');
    }
    if (options.dryRun) await reservation?.rollback();
    else await reservation?.commit();
    this.collectWarnings(context, object, undefined);
    return written;
  }

  private async writeNew(context: RequestContext, object: ApiObject, options: CreateOptions): Promise<VersionedText> {
    const name = object.metadata.name as string;
    const key = this.keyOf(object.metadata.namespace ?? '', name);
    const json = this.encode(object, 0);
    if (options.dryRun) {
      const live = await this.read(key, name);
      if (live !== undefined) throw this.existsError(context, live, object);
      return { json, resourceVersion: undefined };
    }
    const writer = options.writer?.();
    if (writer !== undefined) {
      const answer = await writer(this.newWrite(key, object, json));
      if (answer.kind === 'written') return { json, resourceVersion: answer.resourceVersion };
      if (answer.current === undefined) throw await this.withoutPlace(key, name);
      throw this.existsError(context, answer.current, object);
    }
    try {
      return await this.storage.create(key, object.metadata.uid as string, json, this.creating);
    } catch (error) {
      if (isWithoutPlace(error)) throw await this.withoutPlace(key, name);
      if (error instanceof StorageError && error.code === 'KeyExists') {
        const live = await this.read(key, name);
        throw live === undefined
          ? toStatusError(error, this.groupResource, name)
          : this.existsError(context, live, object);
      }
      throw toStatusError(error, this.groupResource, name);
    }
  }

  private newWrite(key: StorageKey, { metadata }: ApiObject, json: string): Write {
    return {
      op: 'create',
      key,
      uid: metadata.uid as string,
      expected: null,
      json,
      previousJson: undefined,
      ...this.creating,
    };
  }

  /** Refuses a text longer than its reader could send back. An object that is already that long may only not grow. */
  private encode(object: ApiObject, before: number): string {
    const json = encodeForStorage(this.resource, object);
    if (json.length > maxStoredLength && json.length > before) throw requestTooLargeError(maxStoredLength);
    return json;
  }

  private existsError(context: RequestContext, live: StoredObject, object: ApiObject): Error {
    leaveLarge(context, live.json);
    const name = object.metadata.name as string;
    const isDeleting = parseStored(this.resource, live).metadata.deletionTimestamp !== undefined;
    if (isDeleting) return alreadyExistsError(this.groupResource, name, 'object is being deleted: ');
    if (object.metadata.generateName) return generateNameConflictError(this.groupResource, name);
    return alreadyExistsError(this.groupResource, name);
  }

  /**
   * The newest committed state, or with `notOlderThan` any state from that version on; 404 when the object does not
   * exist.
   */
  async get(namespace: string, name: string, notOlderThan?: bigint): Promise<StoredObject> {
    const found = await this.read(this.keyOf(namespace, name), name, notOlderThan);
    if (found === undefined) throw notFoundError(this.groupResource, name);
    return found;
  }

  /** One page of the scope in (namespace, name) order. */
  async list(query: Omit<ListQuery, 'resource'>): Promise<ListPage> {
    try {
      return await this.storage.list({ ...query, resource: this.resource.storageResource });
    } catch (error) {
      throw toStatusError(error, this.groupResource, '', query.at ?? query.notOlderThan);
    }
  }

  /** Changes of the scope after `from`. */
  async watch(namespace: string | undefined, name: string | undefined, from: bigint): Promise<ChangeSubscription> {
    try {
      return await this.storage.watch({ resource: this.resource.storageResource, namespace, name }, from);
    } catch (error) {
      throw toStatusError(error, this.groupResource, '', from, 'watch');
    }
  }

  /** The newest committed version over all resources. */
  async head(): Promise<bigint> {
    try {
      return await this.storage.head();
    } catch (error) {
      throw toStatusError(error, this.groupResource, '');
    }
  }

  /** Writes the object that `options.transform` makes of the live one; creates it where that is allowed. */
  async update(
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
        const object = await this.transformMissing(context, name, options);
        reservation = await this.definition.strategy.reserveForCreate?.(context, object, options.dryRun);
        created = true;
        writtenObject = object;
        return { kind: 'write', json: this.encode(object, 0), uid: object.metadata.uid as string };
      }
      created = false;
      leaveLarge(context, current.json);
      const live = parseStored(this.resource, current);
      const object = await options.transform(live);
      await this.definition.strategy.authorizeWrite?.(context, object, live);
      this.checkVersion(object, live);
      beforeUpdate(context, this.definition, object, live, options.subresource);
      const owners = withoutTimeChanges(live, object);
      if (owners !== undefined) object.metadata.managedFields = owners;
      await options.validate(object, live);
      writtenObject = object;
      oldObject = live;
      if (endsWithUpdate(this.definition, object)) {
        return { kind: 'delete', json: encodeForStorage(this.resource, object) };
      }
      if (options.subresource === undefined) {
        reservation = await this.definition.strategy.reserveForUpdate?.(context, object, live, options.dryRun);
      }
      const json = this.encode(object, current.json.length);
      // An outdated text is written again even if nothing else changes, so a plain update brings storage up to date.
      const keepsText = isPresentForm(this.resource, current.json) && isUnchanged(object, live);
      if (json === current.json || keepsText) return { kind: 'unchanged' };
      return { kind: 'write', json, uid: current.uid };
    };

    const decide = async (current: StoredObject | undefined): Promise<UpdateDecision> => {
      const decision = await tryUpdate(current);
      if (decision.kind === 'write' && !options.dryRun) {
        return this.writtenTogether(current, decision, writtenObject as ApiObject, options);
      }
      if (!options.dryRun || !('json' in decision)) return decision;
      dryResult = { json: decision.json, resourceVersion: current?.resourceVersion };
      throw new DryRunDone();
    };

    let text: VersionedText;
    let isWritten = false;
    try {
      const options = { ignoreNotFound: true, ...this.creating };
      const result = await this.storage.guaranteedUpdate(this.keyOf(namespace, name), options, decide);
      isWritten = true;
      text = result.object;
      await reservation?.commit();
      if (result.outcome === 'deleted') await this.definition.strategy.afterDelete?.(writtenObject as ApiObject);
    } catch (error) {
      if (!isWritten && !isOutcomeUnknown(error)) await reservation?.rollback();
      if (isWithoutPlace(error)) throw await this.withoutPlace(this.keyOf(namespace, name), name);
      if (!(error instanceof DryRunDone)) throw toStatusError(error, this.groupResource, name);
      text = dryResult as VersionedText;
    }
    this.collectWarnings(context, writtenObject as ApiObject, oldObject);
    return { json: text.json, resourceVersion: text.resourceVersion, created };
  }

  /** Makes a write of an update itself if it goes together with others. */
  private async writtenTogether(
    current: StoredObject | undefined,
    decision: UpdateDecision & { readonly kind: 'write' },
    object: ApiObject,
    options: UpdateOptions,
  ): Promise<UpdateDecision> {
    const writer = options.writer?.();
    if (writer === undefined) return decision;
    const { json, uid } = decision;
    const { namespace = '', name = '' } = object.metadata;
    const key = current?.key ?? this.keyOf(namespace, name);
    const expected = current?.resourceVersion;
    const answer = await writer(
      expected === undefined
        ? this.newWrite(key, object, json)
        : { op: 'update', key, uid, expected, json, previousJson: current?.json },
    );
    if (answer.kind === 'written') return { kind: 'written', json, uid, resourceVersion: answer.resourceVersion };
    if (current === undefined && answer.current === undefined) {
      throw new StorageError('NoNamespace', 'the place of the object is not there or is being deleted', { key });
    }
    return { kind: 'again', current: answer.current };
  }

  private async transformMissing(context: RequestContext, name: string, options: UpdateOptions): Promise<ApiObject> {
    const mayCreate =
      options.forceAllowCreate === true || this.definition.strategyOptions?.allowCreateOnUpdate === true;
    if (!mayCreate || options.subresource !== undefined) throw notFoundError(this.groupResource, name);
    const object = await options.transform(undefined);
    if (object.metadata.uid) {
      // The caller means one certain object, which is gone.
      const { uid } = object.metadata;
      const detail =
        options.forceAllowCreate === true
          ? `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
          : `Precondition failed: UID in precondition: ${uid}, UID in object meta: `;
      throw conflictError(this.groupResource, name, detail);
    }
    // The version of a removed object says nothing about the new one.
    delete object.metadata.resourceVersion;
    await this.definition.strategy.authorizeWrite?.(context, object, undefined);
    beforeCreate(context, this.definition, object, this.clock, this.random);
    await options.validate(object, undefined);
    return object;
  }

  private checkVersion(object: ApiObject, live: ApiObject): void {
    const name = live.metadata.name as string;
    const asked = object.metadata.resourceVersion;
    if (!namesVersion(asked)) {
      if (this.definition.strategyOptions?.allowUnconditionalUpdate === false) {
        throw missingVersionError(this.groupResource, name);
      }
    } else if (isOtherVersion(asked, live.metadata.resourceVersion)) {
      throw conflictError(this.groupResource, name, modifiedMessage);
    }
  }

  /**
   * Deletes or marks one object (specification 3).
   *
   * @param uid the one object of that name that is meant; others count as not found
   */
  async delete(
    context: RequestContext,
    namespace: string,
    name: string,
    options: DeleteOptions,
    validate: ValidateAdmission,
    uid?: string,
  ): Promise<DeleteOutcome> {
    let outcome: Omit<DeleteOutcome, 'text'> | undefined;
    let dryText: VersionedText | undefined;
    let endsNext = false;

    const decide = async (current: StoredObject | undefined): Promise<UpdateDecision> => {
      if (current === undefined || (uid !== undefined && current.uid !== uid)) {
        throw notFoundError(this.groupResource, name);
      }
      leaveLarge(context, current.json);
      const live = parseStored(this.resource, current);
      checkPreconditions(this.definition, live, options);
      this.definition.strategy.checkDelete?.(live);
      await validate(undefined, live);
      const decision = decideDelete(context, this.definition, live, options, this.clock);
      endsNext = decision.kind === 'mark-and-remove';
      outcome = { removed: endsNext || decision.kind === 'remove', object: decision.object };
      const json = encodeForStorage(this.resource, decision.object);
      if (options.dryRun) {
        dryText = { json, resourceVersion: current.resourceVersion };
        throw new DryRunDone();
      }
      if (decision.kind === 'remove') return { kind: 'delete', json };
      if (decision.kind === 'nothing' || json === current.json) return { kind: 'unchanged' };
      return { kind: 'write', json, uid: current.uid };
    };

    try {
      const result = await this.storage.guaranteedUpdate(this.keyOf(namespace, name), { ignoreNotFound: true }, decide);
      const done = outcome as Omit<DeleteOutcome, 'text'>;
      const isGone = result.outcome === 'deleted' || (endsNext && (await this.removeMarked(result.object)));
      if (isGone) await this.definition.strategy.afterDelete?.(done.object);
      return { ...done, text: result.object };
    } catch (error) {
      if (error instanceof DryRunDone)
        return { ...(outcome as Omit<DeleteOutcome, 'text'>), text: dryText as VersionedText };
      throw toStatusError(error, this.groupResource, name);
    }
  }

  /**
   * Removes an object that was marked a moment ago. If this fails or the process dies before it, the mark stays, and
   * the next delete or update ends the object. False when another process was faster.
   */
  private async removeMarked(marked: StoredObject): Promise<boolean> {
    const options = { hint: marked };
    try {
      const { outcome } = await this.storage.guaranteedUpdate(marked.key, options, (current) =>
        current?.uid === marked.uid ? { kind: 'delete', json: current.json } : { kind: 'unchanged' },
      );
      return outcome === 'deleted';
    } catch (error) {
      if (error instanceof StorageError && error.code === 'KeyNotFound') return false;
      throw error;
    }
  }

  /** The answer to a create whose namespace, or the definition of its kind, was missing or being deleted. */
  private async withoutPlace({ namespace }: StorageKey, name: string): Promise<Error> {
    const { inLiveNamespace, definedBy } = this.creating;
    if (inLiveNamespace) {
      const found = await this.read({ resource: namespaces, namespace: '', name: namespace }, namespace);
      if (found === undefined) return notFoundError({ group: '', resource: namespaces }, namespace);
      const isLive = !found.json.includes('"deletionTimestamp"');
      if (definedBy === undefined || !isLive) return terminatingNamespaceError(this.groupResource, name, namespace);
    }
    return endedDefinitionError();
  }

  private async read(key: StorageKey, name: string, notOlderThan?: bigint): Promise<StoredObject | undefined> {
    try {
      return await this.storage.get(key, notOlderThan);
    } catch (error) {
      throw toStatusError(error, this.groupResource, name, notOlderThan);
    }
  }

  private keyOf(namespace: string, name: string): StorageKey {
    return {
      resource: this.resource.storageResource,
      namespace: this.definition.namespaced ? namespace : '',
      name,
    };
  }

  private collectWarnings(context: RequestContext, object: ApiObject, old: ApiObject | undefined): void {
    for (const text of this.definition.strategy.warnings?.(context, object, old) ?? []) {
      addWarning(context, text);
    }
  }
}

function isWithoutPlace(error: unknown): boolean {
  return error instanceof StorageError && (error.code === 'NoNamespace' || error.code === 'NoDefinition');
}

/** Makes one object equal to another, in place. */
function replaceContent(object: ApiObject, content: ApiObject): void {
  for (const key of Object.keys(object)) delete object[key];
  Object.assign(object, content);
}

/** Defaults that are filled in late come at another place in the text, so values are compared. */
function isUnchanged(object: ApiObject, live: ApiObject): boolean {
  const { resourceVersion: _written, ...metadata } = object.metadata;
  const { resourceVersion: _read, ...liveMetadata } = live.metadata;
  return deepEqual({ ...object, metadata }, { ...live, metadata: liveMetadata });
}

/** Leaves an update without a write once the result of a dry run is known. */
class DryRunDone extends Error {}
