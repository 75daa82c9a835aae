import { OptionsError } from '../../base/config/options-error.js';

/** What a program prints for `--version`, by the value of the flag; `true` stands for the flag without a value. */
export type VersionTexts = Readonly<Record<string, () => string | Promise<string>>>;

/**
 * Removes `--version` from a command line; every command has it besides its own flags. The last one wins.
 *
 * @throws OptionsError for a value that the command does not know
 */
export function takeVersionFlag(
  argv: readonly string[],
  texts: VersionTexts,
): { readonly rest: readonly string[]; readonly text?: VersionTexts[string] } {
  const isVersion = (argument: string) => /^--?version(=|$)/.test(argument);
  const given = argv.findLast(isVersion);
  if (given === undefined) return { rest: argv };
  const rest = argv.filter((argument) => !isVersion(argument));
  const value = given.includes('=') ? given.slice(given.indexOf('=') + 1) : 'true';
  if (value === 'false') return { rest };
  const text = Object.hasOwn(texts, value) ? texts[value] : undefined;
  if (text !== undefined) return { rest, text };
  const forms = ['true', 'false', ...Object.keys(texts).filter((form) => form !== 'true')];
  throw new OptionsError([`--version ${value}: must be ${forms.slice(0, -1).join(', ')} or ${forms.at(-1)}`]);
}
