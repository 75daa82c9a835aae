import type { ApiObject } from '../../machinery/api-object.js';
import { formatApiVersion, type GroupVersionResource } from '../../machinery/group-version.js';
import type { AdmissionAttributes } from '../attributes.js';
import type { ResourceAndKind, ResourceVersions } from './resource-versions.js';

/** Both objects of a request in one version. Nobody may change them. */
export interface ObjectsInVersion {
  readonly object: ApiObject | undefined;
  readonly oldObject: ApiObject | undefined;
}

/**
 * The objects of one request in the versions that webhooks and policies ask for, each converted once. Made anew when the
 * object of the request changes.
 */
export class VersionedObjects {
  private readonly converted = new Map<string, ObjectsInVersion>();

  constructor(
    private readonly attributes: Pick<AdmissionAttributes, 'resource' | 'subresource' | 'object' | 'oldObject'>,
    private readonly versions: ResourceVersions,
  ) {}

  /** The objects as a path of the matched resource would show them. */
  as({ resource }: Pick<ResourceAndKind, 'resource'>): ObjectsInVersion {
    const own = this.attributes.resource;
    const key = `${formatApiVersion(resource)}/${resource.resource}`;
    let found = this.converted.get(key);
    if (found === undefined) {
      const isOwn = resource.group === own.group && resource.version === own.version;
      found = isOwn ? this.attributesObjects() : this.convertedObjects(resource);
      this.converted.set(key, found);
    }
    return found;
  }

  private attributesObjects(): ObjectsInVersion {
    const { object, oldObject } = this.attributes;
    return { object, oldObject };
  }

  private convertedObjects(target: GroupVersionResource): ObjectsInVersion {
    const { resource, subresource, object, oldObject } = this.attributes;
    const convert = (one: ApiObject | undefined) => one && this.versions.convert(one, resource, target, subresource);
    return { object: convert(object), oldObject: convert(oldObject) };
  }
}
