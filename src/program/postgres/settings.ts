/**
 * Settings of the embedded Postgres that differ from its defaults, given at each start so that data made by older
 * versions get them as well. Few on purpose: what is fast here has to be fast on any server. `docs/operations.md` says why
 * each is there.
 */
export function serverSettings(socketDirectory: string): readonly string[] {
  return [
    'listen_addresses=',
    `unix_socket_directories=${quoteListEntry(socketDirectory)}`,
    'unix_socket_permissions=0700',
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
