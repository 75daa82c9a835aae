import type { AuthorizerAttributes } from './authorizer.js';
import { formatGroupResource } from './group-version.js';
import { StatusError } from './status-error.js';

/** The 403 for a request that was not allowed. It names who wanted to do what, but never whether the object exists. */
export function deniedError(attributes: AuthorizerAttributes, reason: string): StatusError {
  const { user, verb, resource, subresource, apiGroup, namespace, name } = attributes;
  const tail = reason === '' ? '' : `: ${reason}`;
  if (!attributes.isResourceRequest) {
    const message = `forbidden: User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(attributes.path)}${tail}`;
    return new StatusError('Forbidden', message, { details: {}, isDenial: true });
  }
  const full = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  const what = `User ${JSON.stringify(user.name)} cannot ${verb} resource ${JSON.stringify(full)} in API group ${JSON.stringify(apiGroup)} ${where}`;
  const gr = formatGroupResource({ group: apiGroup, resource });
  const subject = name === '' ? gr : `${gr} ${JSON.stringify(name)}`;
  return new StatusError('Forbidden', `${subject} is forbidden: ${what}${tail}`, {
    isDenial: true,
    details: {
      ...(name === '' ? {} : { name }),
      ...(apiGroup === '' ? {} : { group: apiGroup }),
      kind: resource,
    },
  });
}
