import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatApiVersion, type GroupVersionResource } from '../../../base/machinery/group-version.js';
import type { AdmissionAttributes } from '../attributes.js';
import type { ResourceAndKind, ResourceVersions } from './resource-versions.js';

/** Both objects of a request in one version. They must not be changed. */
export interface ObjectsInVersion {
  readonly object: ApiObject | undefined;
  readonly oldObject: ApiObject | undefined;
}

/**
 * The objects of one request in the versions that webhooks and policies expect, each converted once. A changed object
 * needs a new instance.
 */
export class VersionedObjects {
  private readonly converted = new Map<string, ObjectsInVersion>();

  constructor(
    private readonly attributes: Pick<
      AdmissionAttributes,
      'resource' | 'subresource' | 'object' | 'oldObject' | 'context'
    >,
    private readonly versions: ResourceVersions,
  ) {}

  /** Prepares the result of {@link as}. Returns undefined when it is ready. */
  prepare({ resource }: Pick<ResourceAndKind, 'resource'>): Promise<void> | undefined {
    const key = keyOf(resource);
    if (this.converted.has(key)) return undefined;
    const made = this.objectsFor(resource);
    if (!(made instanceof Promise)) {
      this.converted.set(key, made);
      return undefined;
    }
    return made.then((objects) => {
      this.converted.set(key, objects);
    });
  }

  /** The objects as a path of the matched resource would show them, once they are prepared. */
  as({ resource }: Pick<ResourceAndKind, 'resource'>): ObjectsInVersion {
    const found = this.converted.get(keyOf(resource));
    if (found === undefined) throw new Error('the objects are not prepared');
    return found;
  }

  private objectsFor(resource: GroupVersionResource): ObjectsInVersion | Promise<ObjectsInVersion> {
    const own = this.attributes.resource;
    const isOwn = resource.group === own.group && resource.version === own.version;
    return isOwn ? this.attributesObjects() : this.convertedObjects(resource);
  }

  private attributesObjects(): ObjectsInVersion {
    const { object, oldObject } = this.attributes;
    return { object, oldObject };
  }

  private convertedObjects(target: GroupVersionResource): ObjectsInVersion | Promise<ObjectsInVersion> {
    const { resource, subresource, object, oldObject, context } = this.attributes;
    const convert = (one: ApiObject | undefined) =>
      one && this.versions.convert(one, resource, target, subresource, context.signal);
    const [next, old] = [convert(object), convert(oldObject)];
    if (!(next instanceof Promise) && !(old instanceof Promise)) return { object: next, oldObject: old };
    return Promise.all([next, old]).then(([object, oldObject]) => ({ object, oldObject }));
  }
}

function keyOf(resource: GroupVersionResource): string {
  return `${formatApiVersion(resource)}/${resource.resource}`;
}
