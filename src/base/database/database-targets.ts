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

/** The values of `target_session_attrs` that allow a server that accepts writes, which this program needs. */
const writable: ReadonlySet<string> = new Set(['any', 'read-write', 'primary']);
const portEnd = /:(\d+)$/;

/**
 * The hosts of a URL in their order, each as a URL of its own: `postgresql://user@a:5432,b:5433/database`, or
 * `?host=a,b&port=5432,5433`, as libpq reads them. Only connecting shows which of them is the primary. Call it for each
 * connection: a URL that names a file (`file:///path`) leads to what is in the file now.
 *
 * @throws DatabaseUrlError when a host is empty, when the numbers of hosts and ports do not match, when
 * `target_session_attrs` asks for a standby, and for parameters of TLS or of the password that can't be followed.
 */
export function databaseTargets(given: string, variables = environment): readonly DatabaseTarget[] {
  const url = databaseUrlText(given);
  const parameters = parametersOf(url);
  const wanted = parameters.get('target_session_attrs') ?? variables.PGTARGETSESSIONATTRS ?? '';
  if (wanted !== '' && !writable.has(wanted)) {
    throw new DatabaseUrlError(
      `target_session_attrs must be one of ${[...writable].join(', ')}: a standby takes no writes`,
    );
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
    ...(url !== given && { renewed: () => databaseTargets(given, variables)[index] }),
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
