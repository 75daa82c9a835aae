import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatApiVersion, type GroupVersionKind } from '../../../base/machinery/group-version.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import type { StoredObject } from '../../../storage/storage.interface.js';
import type { StoredServedResource } from '../resource-registry.js';
import type { DeleteOptions } from '../strategy.js';
import type {
  CreatedSubresource,
  PartSubresource,
  SubresourceAction,
  ViewSubresource,
  VirtualSubresource,
} from '../subresource-definition.js';
import type { VersionedText } from './object-codec.js';
import type { Store } from './store.js';
import type { DeleteOutcome, ObjectWriter, StoreUpdateOptions, UpdateOutcome } from './store-options.js';

/** A write that the program itself makes, as admission receives it. */
export interface OwnWrite {
  readonly context: RequestContext;
  /** The resource in the version of the objects. */
  readonly resource: StoredServedResource;
  /** The name of the subresource; empty for the resource itself. */
  readonly subresource: string;
  readonly namespace: string;
  /** The name of the object; empty while the name of a new object has not been generated. */
  readonly name: string;
  /** The kind of the body, where it is not that of the resource (`pods/binding`). */
  readonly kind?: GroupVersionKind;
}

/**
 * Admission for the program's own writes (specification 5.5). `object` is undefined for a delete, `old` for a create;
 * `old` must not be changed. Both functions throw a StatusError to refuse the write.
 */
export interface WriteAdmission {
  /** The mutating phase. Resolves with the object to continue with, which may be the changed argument. */
  admit(write: OwnWrite, object: ApiObject | undefined, old: ApiObject | undefined): Promise<ApiObject | undefined>;
  /**
   * The validating phase. Resolves with the function that writes the object together with others; undefined: it is
   * written by itself.
   */
  validate(
    write: OwnWrite,
    object: ApiObject | undefined,
    old: ApiObject | undefined,
  ): Promise<ObjectWriter | undefined>;
}

/** Injection token of the {@link WriteAdmission}. */
export const WRITE_ADMISSION = Symbol('WriteAdmission');

/** An admission that admits everything unchanged. */
export const openAdmission: WriteAdmission = {
  admit: (_write, object) => Promise.resolve(object),
  validate: () => Promise.resolve(undefined),
};

/**
 * The store of a resource for the program's own writes, which pass admission like those of clients: quotas, policies
 * and webhooks apply to the program, too. Objects are in the version of the store's resource.
 */
export class AdmittedStore {
  constructor(
    private readonly store: Store,
    private readonly admission: WriteAdmission,
  ) {}

  get resource(): StoredServedResource {
    return this.store.resource;
  }

  /** Like {@link Store.create}. */
  async create(context: RequestContext, object: ApiObject): Promise<VersionedText> {
    const { namespace = '', name = '' } = object.metadata;
    const write = this.writeOf(context, namespace, name);
    const { definition, served } = this.resource;
    const group = { group: definition.group, version: served.version };
    const whole = { ...object, kind: definition.kind, apiVersion: formatApiVersion(group) };
    const admitted = (await this.admission.admit(write, whole, undefined)) as ApiObject;
    return this.store.create(context, admitted, { dryRun: false, ...this.validation(write) });
  }

  /** Like {@link Store.update}: `transform` may be called several times, and must not change the live object. */
  update(
    context: RequestContext,
    namespace: string,
    name: string,
    { transform, subresource }: Pick<StoreUpdateOptions, 'transform'> & { readonly subresource?: PartSubresource },
  ): Promise<UpdateOutcome> {
    const write = this.writeOf(context, namespace, name, subresource?.name);
    return this.store.update(context, namespace, name, {
      dryRun: false,
      subresource,
      ...this.validation(write),
      transform: async (live) => (await this.admission.admit(write, await transform(live), live)) as ApiObject,
    });
  }

  /**
   * Creates `body` below the object of that name. Admission sees the body as a new object, as for clients; `intoParent`
   * makes the parent to write from the admitted body and the live parent, which it must not change.
   */
  createBelow(
    context: RequestContext,
    namespace: string,
    name: string,
    subresource: CreatedSubresource,
    body: ApiObject,
    intoParent: (live: ApiObject, body: ApiObject) => ApiObject,
  ): Promise<UpdateOutcome> {
    const write = { ...this.writeOf(context, namespace, name, subresource.name), kind: subresource.body.kind };
    let admitted = body;
    const { validate, writer } = this.validation(write);
    return this.store.update(context, namespace, name, {
      dryRun: false,
      subresource,
      writer,
      validate: () => validate(admitted, undefined),
      transform: async (live) => {
        admitted = (await this.admission.admit(write, cloneJson(body), undefined)) as ApiObject;
        return intoParent(live as ApiObject, admitted);
      },
    });
  }

  /**
   * Changes an object through a view of it (`scale`). `change` receives a copy of the view that it may change and
   * returns the view to write; admission sees the views. `finish` makes the object to write from the admitted view and
   * the live object, which it must not change.
   */
  updateView(
    context: RequestContext,
    namespace: string,
    name: string,
    subresource: ViewSubresource,
    change: (view: ApiObject, live: ApiObject) => ApiObject,
    finish: (live: ApiObject, view: ApiObject) => ApiObject,
  ): Promise<UpdateOutcome> {
    const write = { ...this.writeOf(context, namespace, name, subresource.name), kind: subresource.body.kind };
    let views: { readonly old: ApiObject; readonly next: ApiObject } | undefined;
    const { validate, writer } = this.validation(write);
    return this.store.update(context, namespace, name, {
      dryRun: false,
      writer,
      validate: () => validate(views?.next, views?.old),
      transform: async (live) => {
        const parent = live as ApiObject;
        const old = subresource.read(parent);
        const next = (await this.admission.admit(write, change(cloneJson(old), parent), old)) as ApiObject;
        views = { old, next };
        return finish(parent, next);
      },
    });
  }

  /** The two phases of admission for a body that is not stored: {@link SubresourceAction}. */
  async admitBelow(
    context: RequestContext,
    namespace: string,
    name: string,
    subresource: VirtualSubresource,
    body: ApiObject,
  ): Promise<Pick<SubresourceAction, 'body' | 'validate'>> {
    const write = { ...this.writeOf(context, namespace, name, subresource.name), kind: subresource.body.kind };
    const admitted = (await this.admission.admit(write, body, undefined)) as ApiObject;
    const validate = async (object: ApiObject) => void (await this.admission.validate(write, object, undefined));
    return { body: admitted, validate };
  }

  /** Like {@link Store.delete}. */
  delete(
    context: RequestContext,
    namespace: string,
    name: string,
    options: Omit<DeleteOptions, 'dryRun'>,
    cachedCopy?: StoredObject,
  ): Promise<DeleteOutcome> {
    const write = this.writeOf(context, namespace, name);
    const validate = async (_object: ApiObject | undefined, live: ApiObject | undefined) => {
      await this.admission.admit(write, undefined, live);
      await this.admission.validate(write, undefined, live);
    };
    return this.store.delete(context, namespace, name, { ...options, dryRun: false, validate, cachedCopy });
  }

  private writeOf(context: RequestContext, namespace: string, name: string, subresource = ''): OwnWrite {
    return { context, resource: this.resource, subresource, namespace, name };
  }

  private validation(write: OwnWrite) {
    let writer: ObjectWriter | undefined;
    return {
      validate: async (object: ApiObject | undefined, old: ApiObject | undefined) => {
        writer = undefined;
        writer = await this.admission.validate(write, object, old);
      },
      writer: () => writer,
    };
  }
}
