import { loopback } from './loopback-port.js';

/** The number in the name of the socket, and whether it is a TCP port of loopback too. */
export interface PostgresPort {
  readonly port: number;
  readonly listens: boolean;
}

/**
 * Settings of the embedded Postgres that differ from its defaults, given at each start so that data made by older
 * versions get them as well. Few on purpose: what is fast here has to be fast on any server. `docs/operations.md` says why
 * each is there.
 */
export function serverSettings(socketDirectory: string, { port, listens }: PostgresPort): readonly string[] {
  return [
    `listen_addresses=${listens ? loopback : ''}`,
    `port=${port}`,
    `unix_socket_directories=${quoteListEntry(socketDirectory)}`,
    'unix_socket_permissions=0700',
    // Who does not log in may not hold a connection for long.
    'authentication_timeout=10s',
    'log_checkpoints=off',
    'log_line_prefix=%m [%p] ',
    'log_timezone=UTC',
    'timezone=UTC',
  ];
}

/** The setting is a list: commas and quotes in a path would split it. */
function quoteListEntry(path: string): string {
  return `"${path.replaceAll('"', '""')}"`;
}
