import { DatabaseUrlError } from '../../base/database/database-url-error.js';
import { protectionProblem } from '../../base/database/protection.js';
import { errorText, StartupError } from '../../base/machinery/startup-error.js';
import type { Logger } from '../../base/observability/logger.js';
import { loadClientClusters } from '../../base/outgoing/client-config.js';
import { ClientConfigError } from '../../base/outgoing/client-config-error.js';
import { type ConsoleSettings, type RunningConsole, startConsole } from '../console/console-server.js';
import { SqlReader } from '../console/sql-reader.js';
import { SqlRoleError } from '../console/sql-role-error.js';
import { Upstream } from '../console/upstream.js';

/**
 * Starts a console for the clusters of a kubeconfig.
 *
 * @throws StartupError for a file that can't be used, or a database role that may do more than read the views
 */
export async function openConsole(kubeconfig: string, settings: ConsoleSettings): Promise<RunningConsole> {
  if (settings.sql !== undefined) await checkSql(settings.sql, settings.logger);
  try {
    const { clusters, problems } = loadClientClusters(kubeconfig);
    for (const problem of problems) settings.logger.warn('a cluster of the kubeconfig is left out', { problem });
    const isOnly = clusters.size === 1;
    const upstreams = [...clusters].map(([name, config]) => new Upstream(config, isOnly ? '' : name));
    return await startConsole(upstreams, settings);
  } catch (error) {
    if (error instanceof ClientConfigError) throw new StartupError(error.message);
    throw error;
  }
}

/** Each query checks the role again; here the user who starts the console learns of it. */
async function checkSql(sql: NonNullable<ConsoleSettings['sql']>, logger: Logger): Promise<void> {
  try {
    const { protection, canMeddle } = await new SqlReader(sql.url, sql).check();
    const problem = protectionProblem(protection);
    if (problem !== undefined) logger.warn(problem);
    if (canMeddle) {
      logger.warn(
        'users of the console can end and read the queries of each other: have a superuser of the database take the ' +
          'functions away (docs/sql.md, "What a reader can do to others")',
      );
    }
  } catch (error) {
    if (error instanceof DatabaseUrlError) throw new StartupError(`--sql-url: ${error.message}`);
    if (error instanceof SqlRoleError) throw new StartupError(`--sql-url: ${error.message}`);
    // The database may come up later.
    logger.warn('the database of --sql-url does not answer', { error: errorText(error) });
  }
}
