import type { Command } from '../command.js';
import { bashScript } from './bash.js';
import { fishScript } from './fish.js';
import { type ProgramWords, vocabularyOf } from './vocabulary.js';
import { zshScript } from './zsh.js';

const scripts = new Map<string, (programs: readonly ProgramWords[]) => string>([
  ['bash', bashScript],
  ['zsh', zshScript],
  ['fish', fishScript],
]);

/** The script for one shell, made for these subcommands; undefined for a shell that is not known. */
export function completionScript(shell: string, commands: readonly Command[]): string | undefined {
  return scripts.get(shell)?.(vocabularyOf(commands));
}
