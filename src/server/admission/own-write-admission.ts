import { Inject, Injectable } from '@nestjs/common';
import type { ApiObject } from '../../base/machinery/api-object.js';
import type { GroupVersionKind, GroupVersionResource } from '../../base/machinery/group-version.js';
import type { RequestContext, UserInfo } from '../../base/machinery/request-context.js';
import type { OwnWrite, WriteAdmission } from '../../objects/registry/store/admitted-store.js';
import type { ObjectWriter } from '../../objects/registry/store/store-options.js';
import { AdmissionChain } from './admission-chain.js';
import type { AdmissionAttributes, AdmissionOperation } from './attributes.js';
import { Reinvocation } from './reinvocation.js';

/** The chain for writes of the program itself: writes of controllers pass the same plugins as those of clients. */
@Injectable()
export class OwnWriteAdmission implements WriteAdmission {
  constructor(@Inject(AdmissionChain) private readonly chain: AdmissionChain) {}

  async admit(
    write: OwnWrite,
    object: ApiObject | undefined,
    old: ApiObject | undefined,
  ): Promise<ApiObject | undefined> {
    const attributes = new OwnWriteAttributes(write, object, old);
    await this.chain.admit(attributes);
    return attributes.object;
  }

  async validate(
    write: OwnWrite,
    object: ApiObject | undefined,
    old: ApiObject | undefined,
  ): Promise<ObjectWriter | undefined> {
    const attributes = new OwnWriteAttributes(write, object, old);
    await this.chain.validate(attributes);
    return attributes.writer;
  }
}

/** The objects are in the stored version, which is also the requested version. */
class OwnWriteAttributes implements AdmissionAttributes {
  readonly operation: AdmissionOperation;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
  readonly kind: GroupVersionKind;
  readonly namespace: string;
  readonly name: string;
  readonly context: RequestContext;
  readonly options: Readonly<Record<string, unknown>> = {};
  readonly dryRun = false;
  readonly reinvocation = new Reinvocation();
  writer: ObjectWriter | undefined;

  constructor(
    { context, resource, subresource, namespace, name, kind }: OwnWrite,
    public object: ApiObject | undefined,
    readonly oldObject: ApiObject | undefined,
  ) {
    const { definition, served } = resource;
    const groupVersion = { group: definition.group, version: served.version };
    this.operation = object === undefined ? 'DELETE' : oldObject === undefined ? 'CREATE' : 'UPDATE';
    this.resource = { ...groupVersion, resource: definition.resource };
    this.kind = kind ?? { ...groupVersion, kind: definition.kind };
    this.subresource = subresource;
    this.namespace = namespace;
    this.name = name || (object?.metadata.name ?? '');
    this.context = context;
    this.writer = undefined;
  }

  get storedObject(): ApiObject | undefined {
    return this.object;
  }

  get storedOldObject(): ApiObject | undefined {
    return this.oldObject;
  }

  get userInfo(): UserInfo {
    return this.context.user as UserInfo;
  }

  writeThrough(writer: ObjectWriter): void {
    this.writer = writer;
  }
}
