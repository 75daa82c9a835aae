import type { ApiObject } from '../../machinery/api-object.js';
import { cloneJson } from '../../machinery/json/exact-numbers.js';
import { toServed } from '../../registry/store/object-codec.js';
import { bodyKindOf } from '../../registry/subresource-definition.js';
import type { ResourceRequest } from '../resource-request.js';

/**
 * An object that is stored, or about to be, in the forms that a request may need. A form that differs from the stored one
 * is a copy, made when it is asked for. None of them may be changed.
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

  /** In the version that was asked for. */
  get requested(): ApiObject {
    const { resource } = this.request;
    if (resource.isStored) return this.stored;
    this.inVersion ??= toServed(resource, cloneJson(this.stored));
    return this.inVersion;
  }

  /**
   * As the path shows it: the object itself, or what a subresource with a kind of its own makes of it. Undefined for a
   * subresource that shows nothing.
   */
  get shown(): ApiObject | undefined {
    const { subresource } = this.request;
    if (subresource?.type === 'view') this.view ??= subresource.read(this.stored);
    else if (bodyKindOf(subresource) === undefined) return this.requested;
    return this.view;
  }
}
