import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatApiVersion, type GroupVersionKind } from '../../../base/machinery/group-version.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import type { KindType } from '../../../base/machinery/schema/index.js';
import { conflictError, modifiedMessage, notFoundError } from '../../../base/machinery/status-error.js';
import { applyDefaults } from '../../../objects/registry/definition/apply-defaults.js';
import { beforeCreate, ensureNamespace } from '../../../objects/registry/metadata/before-create.js';
import { beforeUpdate, ensureIdentity } from '../../../objects/registry/metadata/before-update.js';
import { removeDuplicateOwners } from '../../../objects/registry/metadata/owner-references.js';
import { isStoredKind, remoteConversionOf } from '../../../objects/registry/resource-definition.js';
import { setManagedFields } from '../../../objects/registry/store/field-owner.js';
import {
  isOtherVersion,
  toServed,
  toStored,
  type VersionedText,
} from '../../../objects/registry/store/object-codec.js';
import { preconditionError, uidMismatch, versionMismatch } from '../../../objects/registry/store/precondition-error.js';
import { convertedToStored } from '../../../objects/registry/store/remote-conversion.js';
import type { ObjectWriter, UpdateOutcome, ValidateAdmission } from '../../../objects/registry/store/store-options.js';
import { bodyKindOf, updateRulesOf } from '../../../objects/registry/subresource-definition.js';
import { type BodyFormat, bodyFormat, decodeBody, decodeBodyOfAny } from '../negotiation/decode-body.js';
import { decodePatched, type PatchOrigin } from '../negotiation/decode-patched.js';
import { readBody } from '../negotiation/read-body.js';
import { parseWriteOptions, type WriteOptions, type WriteOptionsKind } from '../negotiation/write-options.js';
import type { ResourceRequest } from '../resource-request.js';
import { trackFields } from './managed-fields.js';
import { ObjectForms } from './object-forms.js';
import { withUnknownKind } from './unknown-kind.js';
import { WriteAttributes } from './write-attributes.js';

/** A body that has been read but not decoded. */
export interface ObjectBody {
  readonly format: BodyFormat;
  readonly bytes: Buffer;
}

/**
 * Makes the object to write, from the live one if needed (undefined: there is none). Called again with a newer live
 * object after a conflict. The returned object is changed afterwards.
 */
export type Candidate = (live: ObjectForms | undefined) => ApiObject | Promise<ApiObject>;

/**
 * One write, from the client's body to the stored object. All writes take these steps, whatever their verb:
 *
 *     decode ─► identity ─► defaults                    `decode`, `decodePatched`: depend on the request alone
 *       ─► owners of the fields                         `prepare`, skipped for a body that is not stored
 *       ─► mutating admission                           `admit`
 *       ─► stored version
 *       ─► store: rules of the kind, and then, on the object about to be written,
 *       ─► validating admission                         `validation`, which the store calls
 *
 * Handlers provide the object and send the answer. A subresource with its own kind takes the same steps: after mutating
 * admission its body is merged into the parent, and the store gets the parent.
 */
export class WritePipeline {
  readonly options: WriteOptions;
  /** Group, version and kind of the body. */
  readonly kind: GroupVersionKind;
  readonly type: KindType;
  /** The object to be replaced, as the transformation last saw it; undefined if there is none. */
  private lastLive: ObjectForms | undefined;
  /** The last object that passed mutating admission. */
  private admitted: ApiObject | undefined;
  /** The last object before a conversion webhook converted it to the stored version. */
  private unconverted: ApiObject | undefined;
  /** The writer that validating admission chose for the last object. */
  private writer: ObjectWriter | undefined;

  /** Checks the options of the request; throws a 422 when one is wrong, and a 415 as {@link readBody} for a create. */
  constructor(
    readonly request: ResourceRequest,
    options: WriteOptionsKind,
  ) {
    this.type = request.type;
    // Clients with both faults get the message that they know.
    if (options === 'CreateOptions') this.bodyFormat(request);
    this.options = parseWriteOptions(request.context, request.services.names, options, request.services.features);
    this.kind = request.kind;
    this.lastLive = undefined;
    this.admitted = undefined;
    this.unconverted = undefined;
    this.writer = undefined;
  }

  /** Reads a body with an object; throws a 415 for a format that objects don't have. */
  async readBody(): Promise<ObjectBody> {
    return { format: this.bodyFormat(this.request), bytes: await readBody(this.request) };
  }

  private bodyFormat({ context, services }: ResourceRequest): BodyFormat {
    return bodyFormat(context.contentType, services.accept, this.type.custom === undefined);
  }

  /**
   * Decodes a body, checks that it belongs to the object of the path, and sets defaults. Throws a 400 when it does not
   * fit.
   */
  decode({ bytes, format }: ObjectBody): ApiObject {
    const { context, subresource, services } = this.request;
    const { kind, type } = this;
    const { fieldValidation } = this.options;
    const others = subresource?.type === 'virtual' ? subresource.otherBodies : undefined;
    const object = withUnknownKind(services.registry, kind, () =>
      others === undefined
        ? decodeBody(context, type, kind, bytes, format, fieldValidation)
        : decodeBodyOfAny(context, [{ kind, type }, ...others], bytes, format, fieldValidation),
    );
    const { audit } = context;
    if (audit === undefined) return this.completed(object);
    // The audit trail shows the defaults, but not the name and namespace that the path adds.
    const { name, namespace } = object.metadata;
    const completed = this.completed(object);
    audit.requested({ ...completed, metadata: { ...completed.metadata, name, namespace } });
    return completed;
  }

  /**
   * Like {@link decode}, for the result of a patch or an apply on the live object; throws a 422 when it does not fit.
   */
  decodePatched(patched: unknown, origin?: PatchOrigin): ApiObject {
    const { context } = this.request;
    const { fieldValidation } = this.options;
    if (origin !== undefined) this.checkAsOtherKind(patched, origin);
    return this.completed(decodePatched(context, this.type, this.kind, patched, fieldValidation, origin));
  }

  /** A patch that changes the kind is refused; when its values do not even fit the other kind, for that reason. */
  private checkAsOtherKind(patched: unknown, origin: PatchOrigin): void {
    const { context, services } = this.request;
    const { group, version } = this.kind;
    const { apiVersion, kind } = (patched ?? {}) as Partial<ApiObject>;
    if (typeof kind !== 'string' || kind === this.kind.kind || apiVersion !== formatApiVersion(this.kind)) return;
    const other = services.registry.findKind(group, version, kind);
    if (other !== undefined) {
      decodePatched(
        context,
        other.served.type,
        { group, version, kind },
        patched,
        this.options.fieldValidation,
        origin,
      );
    }
  }

  /**
   * Like {@link decode}, for an update, which may need a new copy for each attempt, as the store changes the object.
   * The first copy is decoded right away, so a bad body is refused before anything is read.
   */
  async readCandidate(): Promise<() => ApiObject> {
    const body = await this.readBody();
    let first: ApiObject | undefined = this.decode(body);
    return () => {
      const object = first ?? this.decode(body);
      first = undefined;
      return object;
    };
  }

  private completed(object: ApiObject): ApiObject {
    const { resource, subresource, verb, namespace, name } = this.request;
    const { definition } = resource;
    if (name === '') ensureNamespace(definition, object, namespace);
    else {
      const isPosted = subresource?.type === 'virtual' || subresource?.type === 'created';
      const otherName = isPosted ? subresource.otherName : undefined;
      // An object created at a subresource path need not repeat its parent's name, unless its kind has a message for
      // that; a replacing body must contain it.
      if (verb === 'create' && typeof otherName !== 'string') object.metadata.name ||= name;
      ensureIdentity(definition, object, namespace, name, otherName);
    }
    if (bodyKindOf(subresource) === undefined) applyDefaults(resource, object);
    removeDuplicateOwners(this.request.context, object);
    return object;
  }

  /** Runs mutating admission and returns the object to continue with. */
  async admit(object: ApiObject, live: ObjectForms | undefined): Promise<ApiObject> {
    const attributes = new WriteAttributes(
      this.request,
      this.nameOf(object),
      this.options.dryRun,
      object,
      undefined,
      this.replaced(live),
    );
    await this.request.admission.admit(attributes);
    this.admitted = attributes.object as ApiObject;
    removeDuplicateOwners(this.request.context, this.admitted, ' after mutating admission');
    return this.admitted;
  }

  /** Turns a complete object into the object to store. `hasManagedFields`: an apply has recorded the owners already. */
  private async prepare(
    object: ApiObject,
    live: ObjectForms | undefined,
    hasManagedFields: boolean,
  ): Promise<ApiObject> {
    const { resource, subresource } = this.request;
    let next: ApiObject;
    if (subresource?.type === 'view' || subresource?.type === 'created') {
      const parent = this.parentOf(object, live);
      const { managedFields, ...metadata } = object.metadata;
      if (hasManagedFields) object.metadata = metadata;
      const body = await this.admit(object, live);
      next = toServed(resource, subresource.write(this.request.context, cloneJson(parent), body));
      if (hasManagedFields) setManagedFields(next, managedFields);
      // Fields that are written through a body of another kind have no owner (specification 5.9.9).
      else if (subresource.type === 'view') await trackFields(this.request, this.options, live?.requested, next);
    } else {
      // Before admission: a client does not own what plugins and webhooks add to its object.
      if (!hasManagedFields) await trackFields(this.request, this.options, live?.requested, object);
      const { managedFields } = object.metadata;
      next = await this.admit(object, live);
      setManagedFields(next, managedFields);
    }
    return this.inStoredVersion(next, live);
  }

  /**
   * The object in the stored version. An object for a conversion webhook is first checked by the rules of the requested
   * version, so that the webhook never gets an object that these rules refuse.
   */
  private async inStoredVersion(next: ApiObject, live: ObjectForms | undefined): Promise<ApiObject> {
    const { resource, context, subresource, services } = this.request;
    const { definition } = resource;
    if (resource.isStored || !isStoredKind(definition) || definition.conversion === undefined) {
      return toStored(resource, next);
    }
    await definition.strategy.prepareRules?.();
    const { resourceVersion, uid } = next.metadata;
    if (live === undefined) beforeCreate(context, definition, next, services.clock);
    else beforeUpdate(context, definition, next, live.requested, updateRulesOf(subresource));
    // The store compares the uid with that of the live object.
    if (uid) next.metadata.uid = uid;
    else if (live === undefined) delete next.metadata.uid;
    if (resourceVersion !== undefined) next.metadata.resourceVersion = resourceVersion;
    this.unconverted = next;
    return convertedToStored(resource, next, context);
  }

  /**
   * The live parent of a subresource with its own kind. Throws a 404 if it does not exist, and a 409 if the body refers
   * to another state.
   */
  private parentOf({ metadata: { resourceVersion, uid } }: ApiObject, live: ObjectForms | undefined): ApiObject {
    const { store, namespace, name, subresource } = this.request;
    if (live === undefined) throw notFoundError(store.groupResource, name);
    const { metadata } = live.stored;
    const refuse = (detail: string) => preconditionError(store.resource.definition, namespace, name, detail);
    if (uid && uid !== metadata.uid) throw refuse(uidMismatch(uid, metadata.uid ?? ''));
    if (isOtherVersion(resourceVersion, metadata.resourceVersion)) {
      if (subresource?.type === 'view') throw conflictError(store.groupResource, name, modifiedMessage);
      throw refuse(versionMismatch(resourceVersion ?? '', metadata.resourceVersion ?? ''));
    }
    return live.parent;
  }

  /** Stores a new object. */
  async create(object: ApiObject): Promise<VersionedText> {
    const { context, store } = this.request;
    const prepared = await this.prepare(object, undefined, false);
    const { dryRun } = this.options;
    const written = await store.create(context, prepared, {
      dryRun,
      validate: this.validation(),
      writer: () => this.writer,
    });
    if (!dryRun) context.audit?.wrote(written.resourceVersion);
    return written;
  }

  /** Replaces the live object in the store; creates it if its kind allows that. */
  update(candidate: Candidate): Promise<UpdateOutcome> {
    return this.replace(candidate, false);
  }

  /** Like {@link update}, for an apply, whose candidates contain field owners. It can create objects of every kind. */
  apply(candidate: Candidate): Promise<UpdateOutcome> {
    return this.replace(candidate, true);
  }

  private async replace(candidate: Candidate, isApply: boolean): Promise<UpdateOutcome> {
    const { request } = this;
    const { context, store, namespace, name, subresource, resource } = request;
    const hasConversion = remoteConversionOf(resource.definition) !== undefined;
    const outcome = await store.update(context, namespace, name, {
      dryRun: this.options.dryRun,
      validate: this.validation(),
      writer: () => this.writer,
      subresource: updateRulesOf(subresource),
      forceAllowCreate: isApply,
      converted: hasConversion ? (live) => convertedToStored(resource, live, context) : undefined,
      transform: async (stored) => {
        const live = stored === undefined ? undefined : await ObjectForms.of(request, stored);
        this.lastLive = live;
        return this.prepare(await candidate(live), live, isApply);
      },
    });
    if (!this.options.dryRun) context.audit?.wrote(outcome.resourceVersion);
    return outcome;
  }

  /** Validating admission. The store calls it with the object about to be written and the one it replaces. */
  private validation(): ValidateAdmission {
    return async (object, old) => {
      const { request } = this;
      const { subresource } = request;
      const next = await this.nextForms(object as ApiObject);
      const isKnown = old !== undefined && this.lastLive?.stored === old;
      const live = old === undefined ? undefined : isKnown ? this.lastLive : await ObjectForms.of(request, old);
      // The body of a created subresource is not part of the stored object, so the body itself is validated.
      const given = subresource?.type === 'created' ? this.admitted : undefined;
      const name = this.nameOf(next.stored);
      const { dryRun } = this.options;
      const attributes = new WriteAttributes(request, name, dryRun, given, next, this.replaced(live));
      this.writer = undefined;
      await request.admission.validate(attributes);
      this.writer = attributes.writer;
    };
  }

  /**
   * The forms of the object about to be written. An object from a conversion webhook keeps its requested form instead
   * of being converted back.
   */
  private async nextForms(stored: ApiObject): Promise<ObjectForms> {
    const { request, unconverted } = this;
    if (unconverted === undefined) return ObjectForms.of(request, stored);
    const { labels: _labels, annotations: _annotations, ...metadata } = stored.metadata;
    const { labels, annotations } = unconverted.metadata;
    const own = { ...(labels === undefined ? {} : { labels }), ...(annotations === undefined ? {} : { annotations }) };
    return new ObjectForms(request, stored, { ...unconverted, metadata: { ...metadata, ...own } });
  }

  /** Runs validating admission on a body that is not stored. */
  validateBody(body: ApiObject): Promise<void> {
    const { request } = this;
    const { dryRun } = this.options;
    return request.admission.validate(
      new WriteAttributes(request, this.nameOf(body), dryRun, body, undefined, undefined),
    );
  }

  /** The object being replaced. A created subresource replaces nothing, although its parent is updated. */
  private replaced(live: ObjectForms | undefined): ObjectForms | undefined {
    return this.request.verb === 'create' ? undefined : live;
  }

  private nameOf({ metadata }: ApiObject): string {
    return this.request.name !== '' ? this.request.name : (metadata.name ?? '');
  }
}
