import { StartupError } from '../machinery/startup-error.js';

/** A database URL, or a variable of the environment beside it, that can't be followed. No wait heals it. */
export class DatabaseUrlError extends StartupError {
  constructor(problem: string) {
    super(`database URL: ${problem}`);
    this.name = 'DatabaseUrlError';
  }
}
