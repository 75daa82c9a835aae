const accountPrefix = 'system:serviceaccount:';

/**
 * A party that takes turns with others: a user, or all service accounts of a namespace together, as anyone who may make
 * one account there can make thousands.
 */
export function tenantOf(user: string): string {
  if (!user.startsWith(accountPrefix)) return user;
  const end = user.indexOf(':', accountPrefix.length);
  return end < 0 ? user : user.slice(0, end);
}
