import type { ApiObject } from '../../../base/machinery/api-object.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import { remoteConversionOf } from '../../../objects/registry/resource-definition.js';
import { toServed } from '../../../objects/registry/store/object-codec.js';
import { convertedToServed } from '../../../objects/registry/store/remote-conversion.js';
import { bodyKindOf } from '../../../objects/registry/subresource-definition.js';
import type { ResourceRequest } from '../resource-request.js';

/**
 * A stored object, or one about to be stored, in the forms that a request may need. Forms other than the stored one are
 * copies, made on demand. No form may be changed.
 */
export class ObjectForms {
  /** The forms of an object, which a conversion webhook may have to convert first. */
  static async of(
    request: Pick<ResourceRequest, 'resource' | 'subresource' | 'context'>,
    stored: ApiObject,
  ): Promise<ObjectForms> {
    const { resource, context } = request;
    if (remoteConversionOf(resource.definition) === undefined) return new ObjectForms(request, stored);
    return new ObjectForms(request, stored, await convertedToServed(resource, stored, context));
  }

  private inVersion: ApiObject | undefined;
  private view: ApiObject | undefined;

  constructor(
    private readonly request: Pick<ResourceRequest, 'resource' | 'subresource'>,
    readonly stored: ApiObject,
    converted?: ApiObject,
  ) {
    this.inVersion = converted;
    this.view = undefined;
  }

  /** The object in the requested version. */
  get requested(): ApiObject {
    const { resource } = this.request;
    if (this.inVersion === undefined && resource.isStored) return this.stored;
    this.inVersion ??= toServed(resource, cloneJson(this.stored));
    return this.inVersion;
  }

  /**
   * The parent of a subresource with a kind of its own, in the version whose columns and paths the subresource uses.
   */
  get parent(): ApiObject {
    return remoteConversionOf(this.request.resource.definition) === undefined ? this.stored : this.requested;
  }

  /**
   * The object as the path shows it: the object itself, or the view of a subresource with its own kind. Undefined for a
   * subresource that shows nothing.
   */
  get shown(): ApiObject | undefined {
    const { subresource } = this.request;
    if (subresource?.type === 'view') this.view ??= subresource.read(this.parent);
    else if (bodyKindOf(subresource) === undefined) return this.requested;
    return this.view;
  }
}
