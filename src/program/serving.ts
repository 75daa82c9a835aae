import type { ServerOptions } from '../config/options.js';
import { errorText } from './startup-error.js';

type RunningServer = Awaited<ReturnType<typeof import('../server.js').startServer>>;

/**
 * Starts the server and brings the SQL views in line with what it serves. Views that cannot be made are a warning:
 * the API does not need them. Loaded on demand, so that wrong command lines are answered at once.
 */
export async function startServing(options: ServerOptions): Promise<RunningServer> {
  const { startServer } = await import('../server.js');
  const server = await startServer(options);
  const { registry, names } = server.context;
  try {
    const { syncViews } = await import('./sql-views.js');
    await syncViews(options.storage.databaseUrl, registry.definitions(), names.suffix, server.logger);
  } catch (error) {
    server.logger.warn('the SQL views are not up to date', { error: errorText(error) });
  }
  return server;
}
