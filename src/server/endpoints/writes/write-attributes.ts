import type { ApiObject } from '../../../base/machinery/api-object.js';
import {
  formatApiVersion,
  type GroupVersionKind,
  type GroupVersionResource,
} from '../../../base/machinery/group-version.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import type { RequestContext, UserInfo } from '../../../base/machinery/request-context.js';
import { remoteConversionOf } from '../../../objects/registry/resource-definition.js';
import { toStored } from '../../../objects/registry/store/object-codec.js';
import type { ObjectWriter } from '../../../objects/registry/store/store-options.js';
import type { DeleteOptions } from '../../../objects/registry/strategy.js';
import { bodyKindOf } from '../../../objects/registry/subresource-definition.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../admission/attributes.js';
import { Reinvocation } from '../../admission/reinvocation.js';
import { sentOptions } from '../negotiation/write-options.js';
import type { ResourceRequest } from '../resource-request.js';
import type { ObjectForms } from './object-forms.js';

/** The admission attributes that all write requests share. */
abstract class RequestAttributes {
  private target: GroupVersionResource | undefined;
  private chosenWriter: ObjectWriter | undefined;
  private rounds: Reinvocation | undefined;

  constructor(
    protected readonly request: ResourceRequest,
    readonly operation: AdmissionOperation,
    readonly name: string,
    readonly dryRun: boolean,
    protected readonly live: ObjectForms | undefined,
  ) {
    this.target = undefined;
    this.chosenWriter = undefined;
    this.rounds = undefined;
  }

  /** The writer that a plugin chose; undefined for an ordinary write. */
  get writer(): ObjectWriter | undefined {
    return this.chosenWriter;
  }

  writeThrough(writer: ObjectWriter): void {
    this.chosenWriter = writer;
  }

  get context(): RequestContext {
    return this.request.context;
  }

  get resource(): GroupVersionResource {
    const { apiGroup: group, apiVersion: version, resource } = this.request.context.requestInfo;
    this.target ??= { group, version, resource };
    return this.target;
  }

  get subresource(): string {
    return this.request.subresource?.name ?? '';
  }

  get namespace(): string {
    return this.request.context.requestInfo.namespace;
  }

  get userInfo(): UserInfo {
    return this.request.context.user as UserInfo;
  }

  get reinvocation(): Reinvocation {
    this.rounds ??= new Reinvocation();
    return this.rounds;
  }

  get oldObject(): ApiObject | undefined {
    return this.live?.shown;
  }

  get storedOldObject(): ApiObject | undefined {
    return this.hasOwnKind ? this.live?.shown : this.live?.stored;
  }

  /** Whether the objects are of a kind that exists only as a subresource. */
  protected get hasOwnKind(): boolean {
    return bodyKindOf(this.request.subresource) !== undefined;
  }
}

/**
 * A create or an update. In the mutating phase, the object is the client's; in the validating phase, it is the one that
 * the store is about to write.
 */
export class WriteAttributes extends RequestAttributes implements AdmissionAttributes {
  /**
   * @param given the object as the path shows it; made from `next` if unset
   * @param next the object about to be stored, once it is known
   * @param live the object that it replaces; undefined for a create
   */
  constructor(
    request: ResourceRequest,
    name: string,
    dryRun: boolean,
    private given: ApiObject | undefined,
    private readonly next: ObjectForms | undefined,
    live: ObjectForms | undefined,
  ) {
    super(request, live === undefined ? 'CREATE' : 'UPDATE', name, dryRun, live);
  }

  get object(): ApiObject | undefined {
    return this.given ?? this.next?.shown;
  }

  set object(replacement: ApiObject | undefined) {
    this.given = replacement;
  }

  get storedObject(): ApiObject | undefined {
    if (this.hasOwnKind) return this.object;
    if (this.given === undefined) return this.next?.stored;
    const { resource } = this.request;
    // Not cached: a plugin may have changed the object meanwhile. Of kinds with a conversion webhook, plugins read only
    // the metadata.
    if (remoteConversionOf(resource.definition) !== undefined) return this.given;
    return resource.isStored ? this.given : toStored(resource, cloneJson(this.given));
  }

  get kind(): GroupVersionKind {
    const { kind, subresource } = this.request;
    const apiVersion = this.object?.apiVersion;
    const others = subresource?.type === 'virtual' ? subresource.otherBodies : undefined;
    return others?.find((body) => formatApiVersion(body.kind) === apiVersion)?.kind ?? kind;
  }

  get options(): Readonly<Record<string, unknown>> {
    const { context, services } = this.request;
    return sentOptions(context.query, services.names, this.operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions');
  }
}

/** The delete of one object. */
export class DeleteAttributes extends RequestAttributes implements AdmissionAttributes {
  readonly object: undefined;
  readonly storedObject: undefined;

  constructor(
    request: ResourceRequest,
    private readonly deleteOptions: DeleteOptions,
    live: ObjectForms,
  ) {
    super(request, 'DELETE', request.name, deleteOptions.dryRun, live);
    this.object = undefined;
    this.storedObject = undefined;
  }

  get kind(): GroupVersionKind {
    return this.request.kind;
  }

  get options(): Readonly<Record<string, unknown>> {
    // Whether a garbage collector runs is a setting of the server, not an option of the client.
    const { dryRun, garbageCollector: _setting, ...options } = this.deleteOptions;
    const apiVersion = `meta.${this.request.services.names.suffix}/v1`;
    return { kind: 'DeleteOptions', apiVersion, ...options, ...(dryRun ? { dryRun: ['All'] } : {}) };
  }
}
