import { givenFlags, parseOptions } from '../../../base/config/parse-options.js';
import { checkFiles } from '../check-files.js';
import { initGroups as groups } from '../cluster/init/init-groups.js';
import { type Command, openLog, parseRequest } from '../command.js';

/** The names that joining tools and upstream's node agents expect. */
const defaults = { compat: 'kubernetes' } as const;

export const initCommand: Command = {
  name: 'init',
  summary:
    'Set up a control plane on this machine: certificates, database, servers, a kubeconfig, and the command by which nodes join.',
  groups,
  defaults,
  async run(context) {
    const request = parseRequest(groups, defaults, context);
    const options = parseOptions(request);
    await checkFiles(groups, options);
    const logger = openLog(request, options.logging);
    context.lastResort.logTo(logger);
    const { initSettings } = await import('../cluster/init/init-settings.js');
    const { initCluster } = await import('../cluster/init/init-cluster.js');
    await initCluster({ settings: await initSettings(options, givenFlags(request)), logger, context });
  },
};
