import { dirname } from 'node:path';
import { type ClientUser, readUser } from './client-config.js';
import { isEntry, namedEntry, readClientConfigRoot, textOf } from './client-config-document.js';
import { ClientConfigError } from './client-config-error.js';

/**
 * Credentials by the host that they are for. The user names in the file are patterns: `host:port`, `host` for port 443,
 * `*.example.com` for the hosts below a domain, with or without a port, and `*` for all others.
 */
export class ClientUsers {
  constructor(
    private readonly users: ReadonlyMap<string, ClientUser>,
    /** The user of the current context, for hosts that no pattern matches. */
    private readonly otherwise: ClientUser | undefined,
  ) {}

  /** The most specific user for a host; undefined if no user matches. */
  for(host: string, port: number): ClientUser | undefined {
    const found = this.find(`${host}:${port}`) ?? (port === 443 ? this.find(host) : undefined);
    return found ?? this.users.get('*') ?? this.otherwise;
  }

  private find(target: string): ClientUser | undefined {
    const exact = this.users.get(target);
    if (exact !== undefined) return exact;
    for (let dot = target.indexOf('.'); dot >= 0; dot = target.indexOf('.', dot + 1)) {
      const below = this.users.get(`*${target.slice(dot)}`);
      if (below !== undefined) return below;
    }
    return undefined;
  }
}

/** Reads the users of a client configuration. Throws {@link ClientConfigError} when one is unusable. */
export function loadClientUsers(path: string): ClientUsers {
  const problem = (text: string) => new ClientConfigError(`${path}: ${text}`);
  const root = readClientConfigRoot(path, problem);
  const entries = root.users ?? [];
  if (!Array.isArray(entries)) throw problem('users must be a list');
  const users = new Map<string, ClientUser>();
  for (const entry of entries) {
    const name: unknown = isEntry(entry) ? entry.name : undefined;
    if (typeof name !== 'string' || name === '') throw problem('every user needs a name');
    const user = namedEntry(root, 'users', 'user', name, problem);
    const inUser = (text: string) => problem(`users[${JSON.stringify(name)}]: ${text}`);
    if (!users.has(name)) users.set(name, readUser(user, dirname(path), inUser));
  }
  const contextName = textOf(root, 'current-context', problem);
  if (contextName === '') return new ClientUsers(users, undefined);
  const userName = textOf(namedEntry(root, 'contexts', 'context', contextName, problem), 'user', problem);
  if (userName !== '' && !users.has(userName)) throw problem(`users has no entry ${JSON.stringify(userName)}`);
  return new ClientUsers(users, users.get(userName));
}
