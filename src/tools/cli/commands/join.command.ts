import { flagsOf } from '../../../base/config/flag.js';
import { JoinOptions } from '../../../base/config/join.options.js';
import { JoinControlPlaneOptions } from '../../../base/config/join-control-plane.options.js';
import { LoggingOptions } from '../../../base/config/logging.options.js';
import { OptionsError } from '../../../base/config/options-error.js';
import { givenFlags, parseOptions, separateOperands } from '../../../base/config/parse-options.js';
import { StorageOptions } from '../../../base/config/storage.options.js';
import { checkFiles } from '../check-files.js';
import { type Command, openLog, parseRequest } from '../command.js';

const ofControlPlane = { controlPlane: JoinControlPlaneOptions, storage: StorageOptions } as const;
const groups = { join: JoinOptions, ...ofControlPlane, logging: LoggingOptions } as const;

export const joinCommand: Command = {
  name: 'join',
  summary:
    'Make this machine a node of a cluster: find and verify it by a token, get a certificate, start the agent. ' +
    'With --control-plane: one more control plane.',
  groups,
  operands: { forms: ['HOST:PORT'], words: [], files: false },
  defaults: {},
  async run(context) {
    const { operands, flags } = separateOperands(groups, context.argv);
    const request = parseRequest(groups, {}, { ...context, argv: flags });
    const parsed = parseOptions(request);
    const { joinRequest } = await import('../cluster/join/join-request.js');
    const wanted = joinRequest(parsed.join, operands);
    const isControlPlane = parsed.controlPlane.controlPlane;
    refuseFlags(flags, isControlPlane);
    await checkFiles(groups, parsed);
    const logger = openLog(request, parsed.logging);
    context.lastResort.logTo(logger);
    const { defaultConfigFolder } = await import('../cluster/config-folder.js');
    const { withoutLinks } = await import('../cluster/without-links.js');
    const directory = await withoutLinks(parsed.join.configDir ?? defaultConfigFolder());
    if (!isControlPlane) {
      const { joinCluster } = await import('../cluster/join/join-cluster.js');
      await joinCluster({ request: wanted, directory, logger, context });
      return;
    }
    const { joinControlPlane } = await import('../cluster/join/join-control-plane.js');
    const { controlPlane: options, storage, logging } = parsed;
    const controlPlane = { options, storage, logging, given: givenFlags(request) };
    await joinControlPlane({ request: wanted, directory, logger, context, controlPlane });
  },
};

/** Only a node has these. */
const ofNode = ['node-name', 'cri-socket', 'skip-phases'];

/** Variables of the environment are not a mistake: they may be meant for other commands. */
function refuseFlags(argv: readonly string[], isControlPlane: boolean): void {
  const given = givenFlags({ groups, argv, environment: {} });
  const names = isControlPlane
    ? ofNode
    : Object.values(ofControlPlane).flatMap((group) => flagsOf(group).map(({ name }) => name));
  const reason = isControlPlane ? 'is for nodes: a control plane does not have it' : 'needs --control-plane';
  const problems = names.filter((name) => given.has(name)).map((name) => `--${name} ${reason}`);
  if (problems.length > 0) throw new OptionsError(problems);
}
