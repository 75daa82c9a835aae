import { createInterface } from 'node:readline/promises';
import { LoggingOptions } from '../../../base/config/logging.options.js';
import { parseOptions } from '../../../base/config/parse-options.js';
import { ResetOptions } from '../../../base/config/reset.options.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { type Command, type CommandContext, openLog, parseRequest } from '../command.js';

const groups = { reset: ResetOptions, logging: LoggingOptions } as const;

export const resetCommand: Command = {
  name: 'reset',
  summary: 'Remove what plinth init and plinth join made on this machine, and only that.',
  groups,
  defaults: {},
  async run(context) {
    const request = parseRequest(groups, {}, context);
    const { reset, logging } = parseOptions(request);
    const logger = openLog(request, logging);
    const { MadeHere } = await import('../cluster/made-here.js');
    const { defaultConfigFolder } = await import('../cluster/config-folder.js');
    const directory = reset.configDir ?? defaultConfigFolder();
    const made = await MadeHere.openPresent(directory);
    const list = (await made?.list()) ?? [];
    if (made === undefined || list.length === 0) {
      // A run that was refused early leaves folders with nothing in them.
      if (made !== undefined && !reset.dryRun) {
        const { resetMachine } = await import('../cluster/reset-machine.js');
        await resetMachine(made, logger);
      }
      context.print(`Nothing was made here by way of ${directory}`);
      return;
    }
    for (const line of list) context.print(line);
    if (reset.dryRun) return;
    if (!reset.force && !(await agreed(list.length, context))) throw new StartupError('nothing was removed');
    const { resetMachine } = await import('../cluster/reset-machine.js');
    const left = await resetMachine(made, logger);
    for (const line of left) logger.warn(`unchanged: ${line}`);
    context.print(left.length === 0 ? 'All of it is removed' : 'The rest is removed');
    if (left.length > 0) context.endWith(1);
  },
};

async function agreed(count: number, context: CommandContext): Promise<boolean> {
  if (!process.stdin.isTTY) throw new StartupError('there is no terminal to ask on: give --force');
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const question = `Remove these ${count}, with all data of the cluster among them? [y/N] `;
    const answer = await asking.question(question, { signal: context.signals.signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    asking.close();
  }
}
