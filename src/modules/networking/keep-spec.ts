import type { ApiObject } from '../../machinery/api-object.js';
import type { RequestContext } from '../../machinery/request-context.js';

/** For status paths: the spec stays as it is; metadata such as labels may change along with the status. */
export function keepSpec(_context: RequestContext, object: ApiObject, old: ApiObject): void {
  object.spec = old.spec;
}
