import type { FastifyReply, FastifyRequest } from 'fastify';
import { formatGroupResource, type GroupVersionKind } from '../../base/machinery/group-version.js';
import type { RequestInfo } from '../../base/machinery/request-context.js';
import type { KindType } from '../../base/machinery/schema/index.js';
import {
  badRequestError,
  methodNotAllowedError,
  notFoundError,
  pageNotFoundError,
  StatusError,
  unknownPathError,
} from '../../base/machinery/status-error.js';
import type { RequestLabels } from '../../base/observability/metrics.js';
import { type ResourceDefinition, subresourcesOf, verbsOf } from '../../objects/registry/resource-definition.js';
import { isStoredResource, type ServedResource } from '../../objects/registry/resource-registry.js';
import type { ResourceVerb } from '../../objects/registry/resource-verb.js';
import type { Store } from '../../objects/registry/store/store.js';
import {
  bodyKindOf,
  type SubresourceDefinition,
  subresourceVerbs,
} from '../../objects/registry/subresource-definition.js';
import type { RequestAdmission } from '../admission/request-admission.js';
import type { EndpointServices } from './endpoint-services.js';
import type { HttpRequestContext } from './request-info/http-request-context.js';
import { unknownPath } from './unknown-path.js';

/** What a request is about, resolved from its path and method. */
interface RequestTarget {
  readonly resource: ServedResource;
  readonly subresource: SubresourceDefinition | undefined;
  readonly verb: ResourceVerb;
  readonly namespace: string;
  readonly name: string;
}

/**
 * One request for a resource, with everything that its handler needs. Created once the path is resolved, and never
 * changed.
 */
export class ResourceRequest {
  readonly resource: ServedResource;
  readonly subresource: SubresourceDefinition | undefined;
  readonly verb: ResourceVerb;
  /** Empty for cluster-scoped resources and for requests over all namespaces. */
  readonly namespace: string;
  /** Empty for requests about a collection. */
  readonly name: string;

  constructor(
    target: RequestTarget,
    readonly services: EndpointServices,
    readonly context: HttpRequestContext,
    readonly http: FastifyRequest,
    readonly reply: FastifyReply,
  ) {
    this.resource = target.resource;
    this.subresource = target.subresource;
    this.verb = target.verb;
    this.namespace = target.namespace;
    this.name = target.name;
  }

  /** The Accept header, as sent. */
  get accept(): string | undefined {
    return this.http.headers.accept;
  }

  /** The store of the resource's objects; virtual and computed kinds have none. */
  get store(): Store {
    const { resource, services } = this;
    if (!isStoredResource(resource)) throw new Error(`${resource.definition.resource} are not stored`);
    return services.storeOf(resource);
  }

  /** The admission of this write request. */
  get admission(): RequestAdmission {
    const { admission } = this.services;
    if (admission === undefined) throw new Error('admission has not started yet');
    return admission;
  }

  /** Group, version and kind of the body: those of the subresource if it has its own. */
  get kind(): GroupVersionKind {
    const own = bodyKindOf(this.subresource);
    if (own !== undefined) return own.kind;
    const { definition, served } = this.resource;
    return { group: definition.group, version: served.version, kind: definition.kind };
  }

  /** The declaration of that kind. */
  get type(): KindType {
    return bodyKindOf(this.subresource)?.type ?? this.resource.served.type;
  }
}

/**
 * Resolves the resource of a request. Throws a 404 for an unknown path and a 405 for a method that the path does not
 * support.
 */
export function resolveRequest(
  services: EndpointServices,
  context: HttpRequestContext,
  http: FastifyRequest,
  reply: FastifyReply,
): ResourceRequest {
  const info = context.requestInfo;
  const resource = services.registry.findServed(info.apiGroup, info.apiVersion, info.resource);
  if (resource === undefined) throw unknownPath(services, info.path);
  const { definition } = resource;
  const isNamespaceObject = info.resource === 'namespaces' && definition.group === '';
  if (!definition.namespaced && info.namespace !== '' && !isNamespaceObject) throw unknownPathError();
  const onObject = info.parts.length >= 2;
  const isCustom = resource.served.type.custom !== undefined;
  // Custom kinds have a page for paths without the namespace that they need.
  const readsAll = !onObject && (info.verb === 'list' || info.verb === 'watch');
  if (isCustom && definition.namespaced && info.namespace === '' && !readsAll) throw pageNotFoundError();
  const subresource = findSubresource(resource, info);
  // In a proxy path, the part after the object's name is the path on the other server.
  const isProxy = subresource?.type === 'connect' && subresource.target === 'proxy';
  if (info.parts.length > 3 && !isProxy) throw unknownPathError();
  if (definition.namespaced && info.namespace === '' && onObject) throw unknownPathError();
  const verbs = subresource === undefined ? verbsOf(definition) : subresourceVerbs(subresource);
  const verb = info.verb as ResourceVerb;
  // Of what can only be created, there are no objects with paths, and no lists of all namespaces.
  const isReview = subresource === undefined && !isCustom && verbs.every((one) => one === 'create');
  if (isReview && (onObject || (definition.namespaced && info.namespace === ''))) throw unknownPathError();
  if (!verbs.includes(verb) && !(isProxy && http.method === 'OPTIONS')) {
    // The older watch paths exist only for resources that can be watched.
    if (info.isVerbInPath && verb === 'watch') throw unknownPathError();
    const isUnwatched = verb === 'watch' && verbs.includes('list');
    throw isCustom || isUnwatched ? notSupportedError(definition, info) : methodNotAllowedError();
  }
  if (subresource === undefined) {
    const refusal = verb === 'create' && isStoredResource(resource) ? resource.definition.refusesCreate : undefined;
    if (refusal !== undefined) throw methodNotAllowedError(refusal);
    if (verb === 'create' && (onObject || (definition.namespaced && info.namespace === '')))
      throw methodNotAllowedError();
    if ((verb === 'update' || verb === 'patch') && !onObject) {
      throw isCustom ? badRequestError('name must be provided') : methodNotAllowedError();
    }
    if (verb === 'deletecollection' && definition.namespaced && info.namespace === '') throw methodNotAllowedError();
  }
  const namespace = isNamespaceObject ? '' : info.namespace;
  const name = onObject ? (info.parts[1] as string) : '';
  return new ResourceRequest({ resource, subresource, verb, namespace, name }, services, context, http, reply);
}

function findSubresource(
  { definition, served }: ServedResource,
  { subresource, parts }: RequestInfo,
): SubresourceDefinition | undefined {
  if (subresource === '') return undefined;
  const found = subresourcesOf(definition).find(({ name }) => name === subresource);
  if (found !== undefined) return found;
  throw served.type.custom === undefined ? unknownPathError() : notFoundError(definition, parts[1] as string);
}

/** The 405 for a subresource of a custom kind, and for a watch of what can only be listed. */
function notSupportedError({ group, resource }: ResourceDefinition, { verb }: RequestInfo): StatusError {
  const kind = formatGroupResource({ group, resource });
  const message = `${verb} is not supported on resources of kind "${kind}"`;
  return new StatusError('MethodNotAllowed', message, {
    details: { ...(group === '' ? {} : { group }), kind: resource },
  });
}

/** The metric labels of a resource request, without values that clients can choose freely. */
export function requestLabels({ resource, verb, subresource, namespace, name }: ResourceRequest): RequestLabels {
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
