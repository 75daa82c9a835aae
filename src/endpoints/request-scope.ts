import type { RequestInfo } from '../machinery/request-context.js';
import { methodNotAllowedError, unknownPathError } from '../machinery/status-error.js';
import type { RequestLabels } from '../observability/metrics.js';
import { allVerbs, type ResourceVerb, type SubresourceDefinition } from '../registry/resource-definition.js';
import type { ResourceRegistry, ServedResource } from '../registry/resource-registry.js';

/** What a resource request is about, found in the registry. */
export interface RequestScope {
  readonly resource: ServedResource;
  readonly subresource: SubresourceDefinition | undefined;
  readonly verb: ResourceVerb;
  /** Empty for cluster-scoped resources and for requests over all namespaces. */
  readonly namespace: string;
  readonly name: string;
}

/**
 * Finds resource and subresource of a request. 404 for a path nothing is served at, 405 for a method the path does not
 * take.
 */
export function resolveScope(registry: ResourceRegistry, info: RequestInfo): RequestScope {
  const resource = registry.findServed(info.apiGroup, info.apiVersion, info.resource);
  if (resource === undefined) throw unknownPathError();
  const { definition } = resource;
  const isNamespaceObject = info.resource === 'namespaces' && definition.group === '';
  if (!definition.namespaced && info.namespace !== '' && !isNamespaceObject) throw unknownPathError();
  if (info.parts.length > 3) throw unknownPathError();

  const onObject = info.parts.length >= 2;
  const subresource = findSubresource(resource, info);
  if (definition.namespaced && info.namespace === '' && onObject) throw unknownPathError();
  const verbs = subresource?.verbs ?? definition.verbs ?? allVerbs;
  const verb = info.verb as ResourceVerb;
  if (!verbs.includes(verb)) throw methodNotAllowedError();
  if (subresource === undefined) {
    if (verb === 'create' && (onObject || (definition.namespaced && info.namespace === '')))
      throw methodNotAllowedError();
    if ((verb === 'update' || verb === 'patch') && !onObject) throw methodNotAllowedError();
    if (verb === 'deletecollection' && definition.namespaced && info.namespace === '') throw methodNotAllowedError();
  }
  return {
    resource,
    subresource,
    verb,
    namespace: isNamespaceObject ? '' : info.namespace,
    name: onObject ? (info.parts[1] as string) : '',
  };
}

function findSubresource(resource: ServedResource, info: RequestInfo): SubresourceDefinition | undefined {
  if (info.subresource === '') return undefined;
  const found = resource.definition.subresources?.find((s) => s.name === info.subresource);
  if (found === undefined) throw unknownPathError();
  return found;
}

/** What metrics of a request about resources are labelled with: nothing that clients make up. */
export function scopeLabels({ resource, verb, subresource, namespace, name }: RequestScope): RequestLabels {
  const { definition, served } = resource;
  return {
    verb: verb.toUpperCase(),
    group: definition.group,
    version: served.version,
    resource: definition.resource,
    subresource: subresource?.name ?? '',
    scope: name !== '' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster',
  };
}
