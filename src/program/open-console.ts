import { type ConsoleSettings, type RunningConsole, startConsole } from '../console/console-server.js';
import { Upstream } from '../console/upstream.js';
import { StartupError } from '../machinery/startup-error.js';
import { ClientConfigError, loadClientCluster } from '../outgoing/client-config.js';

/**
 * Starts a console for the server of a kubeconfig.
 *
 * @throws StartupError for a file that can't be used
 */
export async function openConsole(kubeconfig: string, settings: ConsoleSettings): Promise<RunningConsole> {
  try {
    return await startConsole(new Upstream(loadClientCluster(kubeconfig)), settings);
  } catch (error) {
    if (error instanceof ClientConfigError) throw new StartupError(error.message);
    throw error;
  }
}
