import type { ClusterOptions, TestCluster } from './types.js';

export type * from './types.js';

/**
 * Starts a server. Resolves when it answers and everything that was requested is there.
 *
 * @throws Error that explains what to do, with the last lines of the server's log
 */
export async function startCluster(options: ClusterOptions = {}): Promise<TestCluster> {
  const { openCluster } = await import('./cluster.js');
  return openCluster(options);
}
