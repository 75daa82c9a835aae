import { parseOptions } from '../../../base/config/parse-options.js';
import { PruneOptions } from '../../../base/config/prune.options.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import {
  databasesRoot,
  type KeptDatabase,
  keptDatabases,
  removeOrphan,
} from '../../local-postgres/embedded/orphans.js';
import { type Command, parseRequest } from '../command.js';

const groups = { prune: PruneOptions } as const;

export const pruneCommand: Command = {
  name: 'prune',
  summary:
    'List the databases that plinth dev left in /var/lib/plinth when their data folder was deleted, or remove them.',
  groups,
  defaults: {},
  async run(context) {
    const { prune } = parseOptions(parseRequest(groups, {}, context));
    const kept = await keptDatabases(databasesRoot);
    const orphans = kept.filter(({ state }) => state === 'orphaned');
    if (prune.remove && orphans.length > 0 && process.getuid?.() !== 0) {
      throw new StartupError(`the databases in ${databasesRoot} belong to root: run it as root`);
    }
    for (const each of kept) context.print(`${each.state.padEnd(8)}  ${each.path}  ${describe(each)}`);
    if (kept.length === 0) context.print(`There are no databases in ${databasesRoot}`);
    if (!prune.remove) {
      if (orphans.length > 0) context.print('plinth prune --remove removes what is orphaned');
      return;
    }
    for (const { path } of orphans) {
      const isGone = await removeOrphan(databasesRoot, path);
      context.print(isGone ? `removed ${path}` : `left ${path}: something uses it now`);
    }
  },
};

function describe({ dataFolder, state }: KeptDatabase): string {
  if (dataFolder === undefined) return 'of a data folder that was not recorded: remove it by hand if nothing needs it';
  return state === 'orphaned' ? `its data folder ${dataFolder} is gone, or has another database` : `of ${dataFolder}`;
}
