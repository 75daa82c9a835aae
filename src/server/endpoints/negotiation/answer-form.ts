import type { RequestContext } from '../../../base/machinery/request-context.js';
import { notAcceptableError } from '../../../base/machinery/status-error.js';
import { type ResourceDefinition, verbsOf } from '../../../objects/registry/resource-definition.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import type { ResourceRequest } from '../resource-request.js';
import type { AcceptedType, Offer } from './accept.js';
import { includeObjectOf } from './transform.js';

/**
 * The form in which the path shows one object, or the view of a subresource. All errors about the form are thrown here,
 * before the request has an effect: a 406 for a form that single objects don't have, a 400 for an invalid parameter.
 */
export function negotiateObject(request: ResourceRequest): AcceptedType {
  const { services, context, resource, subresource, accept } = request;
  const view = subresource?.type === 'view' ? subresource.body.kind : undefined;
  const accepted = services.accept.negotiate(accept, true, {
    hasProtobuf: view !== undefined || hasProtobuf(resource),
    representations: hasProtobuf(resource) ? services.accept.mediaTypes() : undefined,
  });
  if (accepted.as === 'PartialObjectMetadataList') {
    const type = view === undefined ? formTypeName(resource, false) : typeName(view.group, view.kind);
    throw noListError(type);
  }
  checkForm(context, accepted);
  return accepted;
}

/** The type of objects of a resource, or of lists of them, as messages about forms name it. */
export function formTypeName({ definition, served }: ServedResource, isList: boolean): string {
  if (served.type.custom !== undefined) return isList ? '*unstructured.UnstructuredList' : '*unstructured.Unstructured';
  return typeName(definition.group, isList ? listKind(definition) : definition.kind);
}

/** The kind of lists of objects. */
export function listKind({ kind, listKind: own }: ResourceDefinition): string {
  return own ?? `${kind}List`;
}

function typeName(group: string, kind: string): string {
  return `*${group === '' ? 'core' : group.split('.')[0]}.${kind}`;
}

/**
 * The form of a response that is made for the request: a completed review, or a Status. Only the metadata of a review
 * can be shown alone; a Status is shown whole in every form.
 *
 * @param review the kind of the review; undefined where the response is always a Status
 */
export function negotiateAnswer(
  { services, resource, accept }: ResourceRequest,
  review: { readonly group: string; readonly kind: string } | undefined,
): AcceptedType {
  const representations = hasProtobuf(resource) ? services.accept.mediaTypes() : undefined;
  const accepted = services.accept.negotiate(accept, true, { representations, hasTables: false });
  if (accepted.as === 'PartialObjectMetadataList' && review !== undefined) {
    throw noListError(typeName(review.group, review.kind));
  }
  return accepted;
}

function noListError(type: string): Error {
  const message = `you requested PartialObjectMetadataList, but the requested object is not a list (${type})`;
  return Object.assign(notAcceptableError(), { message, details: undefined });
}

/** The form of a list; its writer refuses forms that lists don't have. */
export function negotiateList(request: ResourceRequest): AcceptedType {
  return request.services.accept.negotiate(request.accept, true, listOffer(request));
}

/** The form of a watch. */
export function negotiateWatch(request: ResourceRequest): AcceptedType {
  return request.services.accept.negotiateStream(request.accept, listOffer(request));
}

function listOffer({ services, resource, verb }: ResourceRequest): Offer {
  if (!hasProtobuf(resource)) return { hasProtobuf: false };
  const isWatchable = verb !== 'deletecollection' && verbsOf(resource.definition).includes('watch');
  return { representations: isWatchable ? services.accept.streamTypes() : services.accept.mediaTypes() };
}

/** Whether objects of a resource have a protobuf form: those of custom kinds have none. */
export function hasProtobuf({ served }: ServedResource): boolean {
  return served.type.custom === undefined;
}

/** Checks the parameters that belong to one form of response; throws a 400 when one is wrong. */
export function checkForm({ query }: RequestContext, accepted: AcceptedType): void {
  if (accepted.as === 'Table') includeObjectOf(query);
}
