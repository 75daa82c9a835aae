import type { RequestContext } from '../../../base/machinery/request-context.js';
import { notAcceptableError } from '../../../base/machinery/status-error.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import type { ResourceRequest } from '../resource-request.js';
import type { AcceptedType } from './accept.js';
import { includeObjectOf } from './transform.js';

/**
 * The form in which the path shows one object, or the view of a subresource. All errors about the form are thrown here,
 * before the request has an effect: a 406 for a form that single objects don't have, a 400 for an invalid parameter.
 */
export function negotiateObject(request: ResourceRequest): AcceptedType {
  const { services, context, resource, subresource, accept } = request;
  const view = subresource?.type === 'view' ? subresource.body.kind : undefined;
  const accepted = services.accept.negotiate(accept, true, view !== undefined || hasProtobuf(resource));
  if (accepted.as === 'PartialObjectMetadataList') {
    const { group, kind } = view ?? resource.definition;
    const type = `*${group === '' ? 'core' : group.split('.')[0]}.${kind}`;
    const message = `you requested PartialObjectMetadataList, but the requested object is not a list (${type})`;
    throw Object.assign(notAcceptableError(), { message, details: undefined });
  }
  checkForm(context, accepted);
  return accepted;
}

/** The form of a response that is neither an object of the resource nor a list of them; only those can be tables. */
export function negotiateValue({ services, accept }: ResourceRequest): AcceptedType {
  return services.accept.negotiate(accept, false);
}

/** The form of a list; its writer refuses forms that lists don't have. */
export function negotiateList({ services, resource, accept }: ResourceRequest): AcceptedType {
  return services.accept.negotiate(accept, true, hasProtobuf(resource));
}

/** Whether objects of a resource have a protobuf form: those of custom kinds have none. */
export function hasProtobuf({ served }: ServedResource): boolean {
  return served.type.custom === undefined;
}

/** Checks the parameters that belong to one form of response; throws a 400 when one is wrong. */
export function checkForm({ query }: RequestContext, accepted: AcceptedType): void {
  if (accepted.as === 'Table') includeObjectOf(query);
}
