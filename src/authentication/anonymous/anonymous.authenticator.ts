import type { UserInfo } from '../../machinery/request-context.js';

/** Who requests without credentials are made by, when that is allowed (specification 5.1). */
export const anonymousUser: UserInfo = Object.freeze({
  name: 'system:anonymous',
  uid: '',
  groups: Object.freeze(['system:unauthenticated']),
  extra: Object.freeze({}),
});
