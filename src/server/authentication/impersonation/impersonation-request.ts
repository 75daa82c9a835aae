import type { UserInfo } from '../../../base/machinery/request-context.js';
import { badRequestError } from '../../../base/machinery/status-error.js';
import { HeaderFieldError } from '../header-field-error.js';
import { fieldsWithPrefix, fieldValues, type RequestHead, unescapeKey } from '../header-fields.js';

const prefix = 'impersonate-';
const userField = 'impersonate-user';
const groupField = 'impersonate-group';
const uidField = 'impersonate-uid';
const extraPrefix = 'impersonate-extra-';

const anonymousName = 'system:anonymous';
const authenticatedGroup = 'system:authenticated';
const unauthenticatedGroup = 'system:unauthenticated';
const accountsGroup = 'system:serviceaccounts';
const accountPrefix = 'system:serviceaccount:';

/** Rules for names of namespaces and of service accounts (RFC 1123 labels and subdomains). */
const namespacePattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const accountPattern = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The user that a request wants to act as. */
export interface ImpersonationRequest {
  readonly userName: string;
  readonly groups: readonly string[];
  readonly uid: string;
  readonly extra: ReadonlyMap<string, readonly string[]>;
  /** Set when the user is a service account. */
  readonly account: { readonly namespace: string; readonly name: string } | undefined;
}

/** Whether a header field (in lower case) is about impersonation. */
export function isImpersonationField(name: string): boolean {
  return name.startsWith(prefix);
}

/**
 * Reads the `Impersonate-*` fields; undefined when no known field is present. Throws a 400 when they don't identify one
 * user: a partly understood request must not be processed with the sender's own rights.
 */
export function readImpersonation(head: RequestHead): ImpersonationRequest | undefined {
  try {
    return read(head);
  } catch (error) {
    if (error instanceof HeaderFieldError) throw badRequestError(error.message, error);
    throw error;
  }
}

function read(head: RequestHead): ImpersonationRequest | undefined {
  const userNames = fieldValues(head, userField);
  const groups = fieldValues(head, groupField);
  const uids = fieldValues(head, uidField);
  const extra = new Map<string, string[]>();
  for (const [escaped, value] of fieldsWithPrefix(head, extraPrefix)) {
    const key = unescapeKey(escaped);
    if (key === '') throw badRequestError('an Impersonate-Extra- header has no key');
    const values = extra.get(key);
    if (values === undefined) extra.set(key, [value]);
    else values.push(value);
  }
  if (userNames.length > 1) throw badRequestError('there must be only one Impersonate-User header');
  if (uids.length > 1) throw badRequestError('there must be only one Impersonate-Uid header');
  const userName = userNames[0] ?? '';
  const uid = uids[0] ?? '';
  if (userName === '') {
    if (userNames.length > 0) throw badRequestError('the Impersonate-User header is empty');
    if (groups.length === 0 && uids.length === 0 && extra.size === 0) return undefined;
    throw badRequestError(`requested ${describeUser(groups, uids[0] ?? '', extra)} without impersonating a user name`);
  }
  if (groups.includes('')) throw badRequestError('an Impersonate-Group header is empty');
  return { userName, groups, uid, extra, account: accountOf(userName) };
}

/** Describes a user without a name, in the same words as the reference. */
function describeUser(groups: readonly string[], uid: string, extra: ReadonlyMap<string, readonly string[]>): string {
  const textsOf = (values: readonly string[]) => `[]string{${values.map((value) => JSON.stringify(value)).join(', ')}}`;
  const shownGroups = groups.length === 0 ? '[]string(nil)' : textsOf(groups);
  const keys = [...extra].sort(([a], [b]) => (a < b ? -1 : 1));
  const shownExtra = keys.map(([key, values]) => `${JSON.stringify(key)}:${textsOf(values)}`).join(', ');
  const map = `map[string][]string${extra.size === 0 ? '(nil)' : `{${shownExtra}}`}`;
  return `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:${shownGroups}, Extra:${map}}`;
}

/** The user that a permitted request continues as, including the groups that every user of its type belongs to. */
export function impersonatedUser({ userName, groups, uid, extra, account }: ImpersonationRequest): UserInfo {
  const all = new Set(groups);
  if (account !== undefined && groups.length === 0) {
    all.add(accountsGroup).add(`${accountsGroup}:${account.namespace}`);
  }
  if (userName === anonymousName) all.add(unauthenticatedGroup);
  else if (!all.has(unauthenticatedGroup)) all.add(authenticatedGroup);
  return Object.freeze({
    name: userName,
    uid,
    groups: Object.freeze([...all]),
    extra: Object.freeze(Object.fromEntries(extra)),
  });
}

function accountOf(userName: string): ImpersonationRequest['account'] {
  if (!userName.startsWith(accountPrefix)) return undefined;
  const [namespace = '', name = '', ...others] = userName.slice(accountPrefix.length).split(':');
  if (others.length > 0 || !namespacePattern.test(namespace) || !accountPattern.test(name)) return undefined;
  return { namespace, name };
}
