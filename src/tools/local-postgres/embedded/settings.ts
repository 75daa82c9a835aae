import { loopback } from './loopback-port.js';

/** The number in the name of the socket, and whether it is a TCP port of loopback too. */
export interface PostgresPort {
  readonly port: number;
  readonly listens: boolean;
}

/**
 * Settings of the embedded Postgres that differ from its defaults. They are given at each start, so data made by older
 * versions get them as well. They are few on purpose: the program has to be fast on any server. `docs/operations.md`
 * gives the reason for each.
 */
export function serverSettings(socketDirectory: string, { port, listens }: PostgresPort): readonly string[] {
  return [
    `listen_addresses=${listens ? loopback : ''}`,
    `port=${port}`,
    `unix_socket_directories=${quoteListEntry(socketDirectory)}`,
    'unix_socket_permissions=0700',
    // A client that does not log in must not hold a connection for long.
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

/**
 * Settings besides these for data that need not outlive a crash of the machine, and that many processes with small
 * databases share.
 */
export const disposableSettings: readonly string[] = [
  'fsync=off',
  'full_page_writes=off',
  'synchronous_commit=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'checkpoint_timeout=1h',
  'max_connections=500',
];
