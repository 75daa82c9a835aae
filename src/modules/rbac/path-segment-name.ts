import { isPathSegmentName } from '../../base/machinery/names.js';

/** Names of RBAC objects only have to fit into a URL path, for example `system:node`. */
export function pathSegmentName(name: string): string[] {
  return isPathSegmentName(name);
}
