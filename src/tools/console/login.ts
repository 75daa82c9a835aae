import { type ClientAuth, type ClientTls, readUser } from '../../base/outgoing/client-config.js';
import {
  type ClientConfigEntry,
  currentContext,
  namedEntry,
  parseClientConfigRoot,
  textOf,
} from '../../base/outgoing/client-config-document.js';
import { ClientConfigError } from '../../base/outgoing/client-config-error.js';
import { LoginError } from './login-error.js';

/** The credentials that a user presents to the API server. */
export interface UserCredentials {
  readonly tls: Pick<ClientTls, 'cert' | 'key'>;
  readonly authorization: string | undefined;
}

const problem = (text: string) => new ClientConfigError(text);
/** Fields that name files. They would be read on this machine, with the rights of the console. */
const fileFields = ['client-certificate', 'client-key', 'tokenFile'] as const;
const commandFields: Readonly<Record<string, string>> = {
  exec: 'a command',
  'auth-provider': 'a plugin',
};
/**
 * The most characters of pasted credentials: parsing YAML holds up all other requests, and the sender is not logged in
 * yet.
 */
const mostText = 64 * 1024;
/** Characters allowed in a header. */
const tokenForm = /^[\x21-\x7e]+$/;

/**
 * Reads what a user pastes to log in: a token, or a kubeconfig, of which only the user of the current context counts.
 * Its server address is ignored: the console has one server, and credentials go nowhere else.
 *
 * @throws LoginError for credentials that can't be used from here
 */
export function readLogin(text: string): UserCredentials {
  const trimmed = text.trim();
  if (trimmed === '') throw new LoginError('paste a token or a kubeconfig');
  if (trimmed.length > mostText) {
    throw new LoginError(
      'the kubeconfig is too long: kubectl config view --flatten --minify leaves out what is not needed',
    );
  }
  if (tokenForm.test(trimmed) && !trimmed.startsWith('{')) return bearer(trimmed.replace(/^token:/, ''));
  if (/^Bearer [\x21-\x7e]+$/.test(trimmed)) return bearer(trimmed.slice('Bearer '.length));
  try {
    const root = parseClientConfigRoot(text, (fault) => problem(`the text ${fault}`));
    const userName = textOf(currentContext(root, problem), 'user', problem);
    if (userName === '') throw new LoginError('the current context of the kubeconfig has no user');
    const user = namedEntry(root, 'users', 'user', userName, problem);
    return credentialsOf(user);
  } catch (error) {
    if (error instanceof ClientConfigError) throw new LoginError(error.message);
    throw error;
  }
}

function credentialsOf(user: ClientConfigEntry): UserCredentials {
  for (const field of fileFields) {
    if (given(user[field]) && !given(user[`${field}-data`])) {
      throw new LoginError(
        `${field} names a file, which the console can't read: kubectl config view --flatten puts it in`,
      );
    }
  }
  for (const [field, what] of Object.entries(commandFields)) {
    if (given(user[field])) {
      throw new LoginError(`the credentials come from ${what} (${field}): paste the token that it gives`);
    }
  }
  const { tls, auth } = readUser(withoutFiles(user), '/', problem);
  const authorization = headerOf(auth);
  if (tls.cert === undefined && authorization === undefined) {
    throw new LoginError('the user of the kubeconfig has no credentials');
  }
  return { tls: { cert: tls.cert, key: tls.key }, authorization };
}

/** Inline content takes precedence over the name of a file, which is ignored. */
function withoutFiles(user: ClientConfigEntry): ClientConfigEntry {
  const files: ReadonlySet<string> = new Set(fileFields);
  return Object.fromEntries(Object.entries(user).filter(([field]) => !files.has(field)));
}

function given(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function headerOf(auth: ClientAuth): string | undefined {
  if (auth.kind === 'bearer') return bearer(auth.token).authorization;
  if (auth.kind !== 'basic') return undefined;
  return `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
}

function bearer(token: string): UserCredentials {
  if (!tokenForm.test(token)) throw new LoginError('the token has characters that no token has');
  return { tls: { cert: undefined, key: undefined }, authorization: `Bearer ${token}` };
}
