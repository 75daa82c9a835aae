import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { GroupVersionKind, GroupVersionResource } from '../../../base/machinery/group-version.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import { applyDefaults } from '../../../objects/registry/definition/apply-defaults.js';
import { remoteConversionOf, subresourcesOf } from '../../../objects/registry/resource-definition.js';
import type { ResourceRegistry, ServedResource } from '../../../objects/registry/resource-registry.js';
import { toServed, toStored } from '../../../objects/registry/store/object-codec.js';
import { convertedToServed } from '../../../objects/registry/store/remote-conversion.js';
import { type BodyKind, bodyKindOf } from '../../../objects/registry/subresource-definition.js';

/** A resource, and the kind of the bodies under one path of it. */
export interface ResourceAndKind {
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
}

const none: readonly ResourceAndKind[] = [];

type Equivalents = Map<string, readonly ResourceAndKind[]>;

/** The other groups and versions under which the same objects are served, and conversions between them. */
export class ResourceVersions {
  /** Cached by resource, then by its served versions (which change with custom resources), then by subresource. */
  private readonly known = new WeakMap<ServedResource, WeakMap<readonly ServedResource[], Equivalents>>();

  constructor(private readonly registry: Pick<ResourceRegistry, 'find' | 'servedViews'>) {}

  /**
   * The same resource under its other served groups and versions (specification 5.10, `matchPolicy`). Versions that are
   * not served are not equivalent.
   */
  equivalents(resource: GroupVersionResource, subresource: string): readonly ResourceAndKind[] {
    const own = this.registry.find(resource.group, resource.version, resource.resource);
    if (own === undefined) return none;
    const views = this.registry.servedViews(own);
    if (views.length < 2 && views[0] === own) return none;
    const known = this.equivalentsOf(own, views);
    const before = known.get(subresource);
    if (before !== undefined) return before;
    const found = views
      .filter((view) => view !== own)
      .flatMap((view) => {
        const kind = bodiesOf(view, subresource)[0]?.kind;
        return kind === undefined ? [] : [{ resource: gvrOf(view), kind }];
      });
    known.set(subresource, found);
    return found;
  }

  private equivalentsOf(own: ServedResource, views: readonly ServedResource[]): Equivalents {
    let byViews = this.known.get(own);
    if (byViews === undefined) {
      byViews = new WeakMap();
      this.known.set(own, byViews);
    }
    let found = byViews.get(views);
    if (found === undefined) {
      found = new Map();
      byViews.set(views, found);
    }
    return found;
  }

  /** The kinds and declarations of the bodies that a path takes, the usual one first; none for an unknown path. */
  bodiesOf({ group, version, resource }: GroupVersionResource, subresource: string): readonly BodyKind[] {
    const found = this.registry.find(group, version, resource);
    return found === undefined ? [] : bodiesOf(found, subresource);
  }

  /** Sets the defaults of a decoded body in place, as for a client's body. */
  applyDefaults({ group, version, resource }: GroupVersionResource, subresource: string, object: ApiObject): void {
    const found = this.registry.find(group, version, resource);
    if (found !== undefined && !hasOwnKind(found, subresource)) applyDefaults(found, object);
  }

  /**
   * Converts a canonical object of one path to the form of an equivalent path. The result is a copy, unless both paths
   * use the same kind and version, as subresources with their own kind do (`scale`); then it is the object itself.
   * Returns a promise if a conversion webhook is involved.
   */
  convert(
    object: ApiObject,
    from: GroupVersionResource,
    to: GroupVersionResource,
    subresource: string,
    signal: AbortSignal,
  ): ApiObject | Promise<ApiObject> {
    const source = this.registry.find(from.group, from.version, from.resource);
    const target = this.registry.find(to.group, to.version, to.resource);
    if (source === undefined || target === undefined || source === target) return object;
    if (hasOwnKind(target, subresource)) return object;
    if (remoteConversionOf(target.definition) !== undefined) return convertedToServed(target, object, { signal });
    return toServed(target, toStored(source, cloneJson(object)));
  }
}

function gvrOf({ definition, served }: ServedResource): GroupVersionResource {
  return { group: definition.group, version: served.version, resource: definition.resource };
}

function hasOwnKind({ definition }: ServedResource, subresource: string): boolean {
  return bodyKindOf(subresourcesOf(definition).find(({ name }) => name === subresource)) !== undefined;
}

function bodiesOf({ definition, served }: ServedResource, subresource: string): readonly BodyKind[] {
  const own = { kind: { group: definition.group, version: served.version, kind: definition.kind }, type: served.type };
  if (subresource === '') return [own];
  const found = subresourcesOf(definition).find(({ name }) => name === subresource);
  if (found === undefined) return [];
  const others = found.type === 'virtual' ? (found.otherBodies ?? []) : [];
  return [bodyKindOf(found) ?? own, ...others];
}
