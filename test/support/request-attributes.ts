import { type AuthorizerAttributes, attributesOf } from '../../src/base/machinery/authorizer.js';
import type { UserInfo } from '../../src/base/machinery/request-context.js';
import { parseRequestInfo } from '../../src/server/endpoints/request-info/request-info.js';

/** The attributes of a request such as `GET /api/v1/pods?watch=1` for authorization. */
export function attributesOfRequest(user: UserInfo, request: string): AuthorizerAttributes {
  const [method = '', url = ''] = request.split(' ');
  const [path = '', query = ''] = url.split('?');
  return attributesOf(user, parseRequestInfo(method, path, new URLSearchParams(query)));
}
