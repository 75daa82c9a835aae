import { JoinOptions } from '../../../base/config/join.options.js';
import { LoggingOptions } from '../../../base/config/logging.options.js';
import { parseOptions, separateOperands } from '../../../base/config/parse-options.js';
import { checkFiles } from '../check-files.js';
import { type Command, openLog, parseRequest } from '../command.js';

const groups = { join: JoinOptions, logging: LoggingOptions } as const;

export const joinCommand: Command = {
  name: 'join',
  summary: 'Make this machine a node of a cluster: find and verify it by a token, get a certificate, start the agent.',
  groups,
  operands: { forms: ['HOST:PORT'], words: [], files: false },
  defaults: {},
  async run(context) {
    const { operands, flags } = separateOperands(groups, context.argv);
    const request = parseRequest(groups, {}, { ...context, argv: flags });
    const parsed = parseOptions(request);
    const { joinRequest } = await import('../cluster/join/join-request.js');
    const wanted = joinRequest(parsed.join, operands);
    await checkFiles(groups, parsed);
    const logger = openLog(request, parsed.logging);
    context.lastResort.logTo(logger);
    const { joinCluster } = await import('../cluster/join/join-cluster.js');
    const { defaultConfigFolder } = await import('../cluster/config-folder.js');
    const { withoutLinks } = await import('../cluster/without-links.js');
    const directory = await withoutLinks(parsed.join.configDir ?? defaultConfigFolder());
    await joinCluster({ request: wanted, directory, logger, context });
  },
};
