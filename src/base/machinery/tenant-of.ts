const accountPrefix = 'system:serviceaccount:';

/**
 * The party that a user belongs to when parties take turns: the user itself, or all service accounts of a namespace
 * together, since anyone who can create one service account there can create thousands.
 */
export function tenantOf(user: string): string {
  if (!user.startsWith(accountPrefix)) return user;
  const end = user.indexOf(':', accountPrefix.length);
  return end < 0 ? user : user.slice(0, end);
}
