import type { RequestContext } from '../../machinery/request-context.js';
import { notAcceptableError } from '../../machinery/status-error.js';
import type { EndpointServices } from '../services.js';
import type { AcceptedType } from './accept.js';
import { includeObjectOf } from './transform.js';

/**
 * The form in which one object of `kind` is answered. Whatever speaks against it is found here, before the request has
 * had an effect: 406 for a form that one object can't have, 400 for a parameter of the form.
 */
export function negotiateObject(
  services: Pick<EndpointServices, 'accept'>,
  context: RequestContext,
  acceptHeader: string | undefined,
  kind: string,
): AcceptedType {
  const accepted = services.accept.negotiate(acceptHeader, true);
  if (accepted.as === 'PartialObjectMetadataList') {
    const message = `you requested PartialObjectMetadataList, but the requested object is not a list (${kind})`;
    throw Object.assign(notAcceptableError(), { message, details: undefined });
  }
  checkForm(context, accepted);
  return accepted;
}

/** Checks the parameters that only one form of answers has; 400 when one is wrong. */
export function checkForm({ query }: RequestContext, accepted: AcceptedType): void {
  if (accepted.as === 'Table') includeObjectOf(query);
}
