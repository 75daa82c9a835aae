import { StartupError } from '../machinery/startup-error.js';

/** A database URL, or a variable of the environment beside it, that can't be followed. Waiting does not fix it. */
export class DatabaseUrlError extends StartupError {
  constructor(problem: string) {
    super(`database URL: ${problem}`);
    this.name = 'DatabaseUrlError';
  }
}
