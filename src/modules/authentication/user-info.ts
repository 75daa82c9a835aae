import type { UserInfo } from '../../base/machinery/request-context.js';
import type { UserInfo as UserInfoBody } from '../../objects/apis/authentication/v1/token-review.types.js';

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
