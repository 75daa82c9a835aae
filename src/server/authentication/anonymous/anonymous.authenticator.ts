import type { UserInfo } from '../../../base/machinery/request-context.js';

/** The user of requests without credentials, when anonymous requests are allowed (specification 5.1). */
export const anonymousUser: UserInfo = Object.freeze({
  name: 'system:anonymous',
  uid: '',
  groups: Object.freeze(['system:unauthenticated']),
  extra: Object.freeze({}),
});
