import { OptionsError } from '../../../base/config/options-error.js';
import { parseOptions, separateOperands } from '../../../base/config/parse-options.js';
import type { Command } from '../command.js';

const groups = {} as const;

/** Prints the script that teaches a shell the subcommands, flags and values of the program. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return {
    name: 'completion',
    summary: 'Print the script that completes commands, flags and values in bash, zsh or fish.',
    groups,
    operands: { forms: ['bash', 'zsh', 'fish'], words: ['bash', 'zsh', 'fish'], files: false },
    defaults: {},
    async run(context) {
      const { operands, flags } = separateOperands(groups, context.argv);
      parseOptions({ groups, argv: flags, environment: context.environment });
      const [shell = '', ...more] = operands;
      if (more.length > 0) throw new OptionsError([`unexpected argument ${JSON.stringify(more[0])}`]);
      const { completionScript } = await import('../completion/completion-script.js');
      const script = completionScript(shell, commands());
      if (script === undefined) throw new OptionsError(['needs the name of a shell: bash, zsh or fish']);
      context.print(script);
    },
  };
}
