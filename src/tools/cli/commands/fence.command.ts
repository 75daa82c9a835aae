import { FenceOptions } from '../../../base/config/fence.options.js';
import { parseOptions } from '../../../base/config/parse-options.js';
import { StorageOptions } from '../../../base/config/storage.options.js';
import { type Command, parseRequest } from '../command.js';
import { requireDatabaseUrl } from './migrate.command.js';

const groups = { fence: FenceOptions, storage: StorageOptions } as const;

export const fenceCommand: Command = {
  name: 'fence',
  summary: 'Make a restored database safe to serve: old versions answer 410 and none is handed out twice. Then exit.',
  groups,
  defaults: {},
  async run(context) {
    const { fence: options, storage } = parseOptions(parseRequest(groups, {}, context));
    const databaseUrl = requireDatabaseUrl(storage.databaseUrl);
    const { fence } = await import('../../../storage/postgres/fence.js');
    const result = await fence(databaseUrl, { bump: BigInt(options.bump), force: options.force });
    context.print(`Newest version was ${result.before}; versions continue after ${result.head}`);
    context.print(`Epoch ${result.epoch} began; lists and watches from before ${result.head} answer 410`);
    if (result.connections > 0) context.print(`${result.connections} connections of running processes will notice`);
  },
};
