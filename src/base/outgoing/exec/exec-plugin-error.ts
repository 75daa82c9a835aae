import { StartupError } from '../../machinery/startup-error.js';
import type { ExecPlugin } from './exec-plugin.js';

/** The program of a kubeconfig returned no credentials. The message contains nothing that the program printed. */
export class ExecPluginError extends StartupError {
  constructor({ command }: Pick<ExecPlugin, 'command'>, text: string, cause?: unknown) {
    super(`the program for credentials (exec) ${command}: ${text}`, cause === undefined ? undefined : { cause });
    this.name = 'ExecPluginError';
  }
}
