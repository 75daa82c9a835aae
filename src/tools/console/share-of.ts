import { createHash } from 'node:crypto';
import type { SessionUser } from './session-user.js';

const serviceAccount = /^(system:serviceaccount:[^:]+):/;

/**
 * The party whose limits a user counts against. Service accounts of a namespace share theirs: anyone who may create
 * service accounts there can be as many users as they like. Users without a name (of servers that can't report it) are
 * distinguished by their credentials.
 */
export function shareOf({ name }: SessionUser, credentials: string): string {
  if (name === '') return `:${createHash('sha256').update(credentials).digest('hex')}`;
  return serviceAccount.exec(name)?.[1] ?? name;
}
