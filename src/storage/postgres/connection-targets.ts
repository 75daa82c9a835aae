import { StorageError } from '../storage.errors.js';

/** One of the ways to connect that a connection URL names. */
export interface ConnectionTarget {
  readonly connectionString: string;
  /** URL for a server without TLS, where the connection URL allows that. */
  readonly inTheClear: string | undefined;
}

const SSL_MODES = new Set(['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']);
/** This program needs a server that takes writes. These values ask for one, and `any` leaves the choice to us. */
const WRITABLE = new Set(['any', 'read-write', 'primary']);
const PORT = /:(\d+)$/;

/**
 * The hosts of a URL in their order, each as a URL of its own: `postgresql://user@a:5432,b:5433/database`, or
 * `?host=a,b&port=5432,5433`, as libpq reads them. Only connecting shows which of them is the primary.
 *
 * Throws `Unavailable` when a host is empty, when the numbers of hosts and ports do not match, or when
 * `target_session_attrs` asks for a standby.
 */
export function connectionTargets(url: string): readonly ConnectionTarget[] {
  const wanted = parametersOf(url).get('target_session_attrs');
  if (wanted !== null && !WRITABLE.has(wanted)) {
    throw new StorageError(
      'Unavailable',
      `database URL: target_session_attrs must be one of ${[...WRITABLE].join(', ')}: a standby takes no writes`,
    );
  }
  return singleHosts(url).map(connectionTarget);
}

function singleHosts(url: string): string[] {
  const parts = /^([a-z]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s.exec(url);
  if (parts === null) return [url];
  const [, start = '', authority = '', rest = ''] = parts;
  if (authority.includes(',')) {
    const hosts = authority.split(',');
    if (hosts.some((host) => host.replace(PORT, '') === '')) throw hostProblem();
    return hosts.map((host) => withoutTarget(start + host + rest));
  }
  const hosts = parametersOf(url).get('host')?.split(',') ?? [];
  if (hosts.length < 2) return [withoutTarget(url)];
  const ports = parametersOf(url).get('port')?.split(',') ?? [];
  if (hosts.includes('') || (ports.length > 1 && ports.length !== hosts.length)) throw hostProblem();
  return hosts.map((host, index) => {
    const port = ports[index] ?? ports[0];
    return withoutTarget(url, { host, ...(port === undefined ? {} : { port }) });
  });
}

function hostProblem(): StorageError {
  return new StorageError('Unavailable', 'database URL: the lists of hosts and ports do not go together');
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

/** Removes a parameter that the driver would pass on to the server, which does not know it. */
function withoutTarget(url: string, replaced: Readonly<Record<string, string>> = {}): string {
  const parameters = parametersOf(url);
  const changes = Object.entries(replaced);
  if (changes.length === 0 && !parameters.has('target_session_attrs')) return url;
  parameters.delete('target_session_attrs');
  for (const [name, value] of changes) parameters.set(name, value);
  return withParameters(url, parameters);
}

/**
 * Gives the TLS parameters of a connection URL the same meaning as in libpq. The driver reads them differently: it
 * treats `require` as `verify-full`, so the URLs of managed databases fail, and it does not know `sslrootcert=system`.
 * Throws `Unavailable` for an unknown mode rather than connecting in the clear.
 */
function connectionTarget(url: string): ConnectionTarget {
  if (!url.includes('?')) return { connectionString: url, inTheClear: undefined };
  const parameters = parametersOf(url);
  let mode = parameters.get('sslmode');
  if (mode !== null && !SSL_MODES.has(mode)) {
    throw new StorageError('Unavailable', `database URL: sslmode must be one of ${[...SSL_MODES].join(', ')}`);
  }
  if (parameters.get('sslrootcert') === 'system') {
    parameters.delete('sslrootcert');
    mode = 'verify-full';
    parameters.set('sslmode', mode);
  }
  if (mode === 'no-verify') parameters.delete('uselibpqcompat');
  else if (mode !== null && !parameters.has('uselibpqcompat')) parameters.set('uselibpqcompat', 'true');
  if (mode !== 'allow' && mode !== 'prefer') {
    return { connectionString: withParameters(url, parameters), inTheClear: undefined };
  }
  parameters.set('sslmode', 'prefer');
  const connectionString = withParameters(url, parameters);
  parameters.set('sslmode', 'disable');
  return { connectionString, inTheClear: withParameters(url, parameters) };
}
