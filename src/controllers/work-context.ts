import { privilegedGroup } from '../machinery/authorizer.js';
import { internalContext } from '../machinery/internal-context.js';
import type { RequestContext } from '../machinery/request-context.js';

/**
 * The context for writes by the program itself, under the name of a control loop. Admission asks for the rights of its
 * user: it has all of them.
 */
export function workContext(loop: string, now: number, signal: AbortSignal): RequestContext {
  const user = {
    name: `system:controller:${loop}`,
    uid: '',
    groups: [privilegedGroup, 'system:authenticated'],
    extra: {},
  };
  return internalContext(user, now, signal, `plinth/${loop}`);
}
