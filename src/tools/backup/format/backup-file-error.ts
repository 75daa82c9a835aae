import { StartupError } from '../../../base/machinery/startup-error.js';

/** A backup file that can't be used. The message is a sentence for the user, without the path. */
export class BackupFileError extends StartupError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BackupFileError';
  }
}
