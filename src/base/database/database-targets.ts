import { environment } from '../config/environment.js';
import { DatabaseUrlError } from './database-url-error.js';
import { databaseUrlText } from './database-url-text.js';
import { type PasswordSource, takePasswordSource } from './password-source.js';
import { databaseTlsSettings, type TlsSettings } from './tls-settings.js';

/** One target that a connection URL names, and how to connect to it. */
export interface DatabaseTarget {
  /** The URL for the driver, without the parameters that it reads differently from libpq. */
  readonly connectionString: string;
  readonly tls: TlsSettings;
  /** Where the password comes from, if the server asks for one and the URL has none. */
  readonly password: PasswordSource | undefined;
  /** For a URL that is in a file: the same target as the file describes it now, if it still does. */
  readonly renewed?: () => DatabaseTarget | undefined;
}

/** Whether the URL must allow a server that accepts writes, or one that follows another. */
export type WantedServer = 'primary' | 'standby';

/** The values of `target_session_attrs` that allow the wanted server. */
const allowed: Readonly<Record<WantedServer, ReadonlySet<string>>> = {
  primary: new Set(['any', 'read-write', 'primary']),
  standby: new Set(['any', 'read-only', 'standby', 'prefer-standby']),
};
const portEnd = /:(\d+)$/;

/**
 * The hosts of a URL in their order, each as a URL of its own: `postgresql://user@a:5432,b:5433/database`, or
 * `?host=a,b&port=5432,5433`, as libpq reads them. Only connecting shows which of them is the primary. Call it for each
 * connection: a URL that names a file (`file:///path`) leads to what is in the file now.
 *
 * @throws DatabaseUrlError when a host is empty, when the numbers of hosts and ports do not match, when
 * `target_session_attrs` asks for another server than the wanted one, and for parameters of TLS or of the password that
 * can't be followed.
 */
export function databaseTargets(
  given: string,
  variables = environment,
  server: WantedServer = 'primary',
): readonly DatabaseTarget[] {
  const url = databaseUrlText(given);
  const parameters = parametersOf(url);
  // The variable is about the database itself, not about its replicas.
  const ofVariable = server === 'primary' ? variables.PGTARGETSESSIONATTRS : undefined;
  const wanted = parameters.get('target_session_attrs') ?? ofVariable ?? '';
  if (wanted !== '' && !allowed[server].has(wanted)) {
    const reason = server === 'primary' ? 'a standby takes no writes' : 'the URL is that of a read replica';
    throw new DatabaseUrlError(`target_session_attrs must be one of ${[...allowed[server]].join(', ')}: ${reason}`);
  }
  parameters.delete('target_session_attrs');
  const password = takePasswordSource(parameters, variables);
  // A unix socket is out of reach of attackers on the network, so variables that protect connections do not concern it.
  const hosts = (parameters.get('host') ?? '').split(',');
  const tls = databaseTlsSettings(parameters, hosts.every((host) => host.startsWith('/')) ? {} : variables);
  // Unchanged parts keep their spelling.
  const rest = parameters.size === parametersOf(url).size ? url : withParameters(url, parameters);
  return singleHosts(rest).map((connectionString, index) => ({
    connectionString,
    tls,
    password,
    ...(url !== given && { renewed: () => databaseTargets(given, variables, server)[index] }),
  }));
}

function singleHosts(url: string): string[] {
  const parts = /^([a-z]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s.exec(url);
  if (parts === null) return [url];
  const [, start = '', authority = '', rest = ''] = parts;
  if (authority.includes(',')) {
    const hosts = authority.split(',');
    if (hosts.some((host) => host.replace(portEnd, '') === '')) throw hostProblem();
    return hosts.map((host) => start + host + rest);
  }
  const hosts = parametersOf(url).get('host')?.split(',') ?? [];
  if (hosts.length < 2) return [url];
  const ports = parametersOf(url).get('port')?.split(',') ?? [];
  if (hosts.includes('') || (ports.length > 1 && ports.length !== hosts.length)) throw hostProblem();
  return hosts.map((host, index) => {
    const parameters = parametersOf(url);
    const port = ports[index] ?? ports[0];
    parameters.set('host', host);
    if (port !== undefined) parameters.set('port', port);
    return withParameters(url, parameters);
  });
}

function hostProblem(): DatabaseUrlError {
  return new DatabaseUrlError('the lists of hosts and ports do not go together');
}

function parametersOf(url: string): URLSearchParams {
  const question = url.indexOf('?');
  return new URLSearchParams(question < 0 ? '' : url.slice(question + 1));
}

function withParameters(url: string, parameters: URLSearchParams): string {
  const question = url.indexOf('?');
  const base = question < 0 ? url : url.slice(0, question);
  const text = parameters.toString();
  return text === '' ? base : `${base}?${text}`;
}
