import type { UserInfo as UserInfoBody } from '../../apis/authentication/v1/token-review.types.js';
import type { UserInfo } from '../../machinery/request-context.js';

/** A user in the form of the API. */
export function userInfoBody({ name, uid, groups, extra }: UserInfo): UserInfoBody {
  const keys = Object.keys(extra);
  return {
    username: name,
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(keys.length === 0 ? {} : { extra: Object.fromEntries(keys.map((key) => [key, [...(extra[key] ?? [])]])) }),
  };
}
