import type { ApiObject } from '../../machinery/api-object.js';
import { cloneJson } from '../../machinery/json/exact-numbers.js';
import { toServed } from '../../registry/store/object-codec.js';
import { bodyKindOf } from '../../registry/subresource-definition.js';
import type { ResourceRequest } from '../resource-request.js';

/**
 * A stored object, or one about to be stored, in the forms that a request may need. Forms other than the stored one are
 * copies, made on demand. No form may be changed.
 */
export class ObjectForms {
  private inVersion: ApiObject | undefined;
  private view: ApiObject | undefined;

  constructor(
    private readonly request: Pick<ResourceRequest, 'resource' | 'subresource'>,
    readonly stored: ApiObject,
  ) {
    this.inVersion = undefined;
    this.view = undefined;
  }

  /** The object in the requested version. */
  get requested(): ApiObject {
    const { resource } = this.request;
    if (resource.isStored) return this.stored;
    this.inVersion ??= toServed(resource, cloneJson(this.stored));
    return this.inVersion;
  }

  /**
   * The object as the path shows it: the object itself, or the view of a subresource with its own kind. Undefined for a
   * subresource that shows nothing.
   */
  get shown(): ApiObject | undefined {
    const { subresource } = this.request;
    if (subresource?.type === 'view') this.view ??= subresource.read(this.stored);
    else if (bodyKindOf(subresource) === undefined) return this.requested;
    return this.view;
  }
}
