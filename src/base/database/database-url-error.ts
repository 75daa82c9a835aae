import { StartupError } from '../machinery/startup-error.js';

/**
 * A database URL, or an environment variable that complements it, asks for something unsupported. Waiting does not fix
 * it.
 */
export class DatabaseUrlError extends StartupError {
  constructor(problem: string) {
    super(`database URL: ${problem}`);
    this.name = 'DatabaseUrlError';
  }
}
