import { isPathSegmentName } from '../../base/machinery/names.js';

/** The rule for names of RBAC objects, which only have to fit into a URL path: `system:node`, for example. */
export function pathSegmentName(name: string): string[] {
  return isPathSegmentName(name);
}
