import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where `plinth init` and `plinth join` keep their files unless a flag names another folder. */
export function defaultConfigFolder(): string {
  return process.getuid?.() === 0 ? '/etc/plinth' : join(homedir(), '.plinth');
}

/** The folder of the files of a node, inside that one. */
export function nodeFolder(configFolder: string): string {
  return join(configFolder, 'node');
}
