const urlStart = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s;
const primaryTargets: readonly string[] = ['any', 'read-write', 'primary'];
const replicaTargets: readonly string[] = ['any', 'read-only', 'standby', 'prefer-standby'];

/**
 * The problem with a database URL, or undefined. `file:///path` stands for the URL that a file holds. The message contains nothing of the value, which may hold a password.
 */
export function databaseUrlProblem(value: string): string | undefined {
  return urlProblem(value, primaryTargets, 'asks for a standby, which takes no writes');
}

/** Like {@link databaseUrlProblem}, for the URL of read replicas. */
export function readDatabaseUrlProblem(value: string): string | undefined {
  return urlProblem(value, replicaTargets, 'asks for the primary');
}

function urlProblem(value: string, targets: readonly string[], asks: string): string | undefined {
  if (/^file:\/\/\/[^?#]+(\?[^#]*)?$/.test(value)) return undefined;
  const [, start = '', hosts = '', rest = ''] = urlStart.exec(value) ?? [];
  const wellFormed = start !== '' && hosts.split(',').every((host) => URL.canParse(start + host + rest));
  if (!wellFormed || (hosts.includes(',') && hosts.split(',').some((host) => /^(:\d+)?$/.test(host)))) {
    return 'must be a URL of the form postgresql://user:password@host:5432/database, or with several host:port';
  }
  const target = new URLSearchParams(/\?([^#]*)/.exec(rest)?.[1]).get('target_session_attrs');
  if (target === null || targets.includes(target)) return undefined;
  return `${asks}: target_session_attrs must be ${targets.join(', ')}`;
}
