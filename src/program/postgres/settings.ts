/**
 * Settings of the embedded Postgres, given at each start so that data made by older versions get them as well. Many
 * short writes and few sessions on one machine; nothing here trades durability for speed.
 */
export function serverSettings(socketDirectory: string): readonly string[] {
  return [
    'listen_addresses=',
    `unix_socket_directories=${quoteListEntry(socketDirectory)}`,
    'unix_socket_permissions=0700',
    'max_connections=100',
    'shared_buffers=128MB',
    'fsync=on',
    'synchronous_commit=on',
    // Fewer checkpoints mean fewer full page images in the log.
    'max_wal_size=2GB',
    'checkpoint_timeout=15min',
    'wal_compression=on',
    // One short statement after another: compiling them costs more than it saves.
    'jit=off',
    'autovacuum_naptime=15s',
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
