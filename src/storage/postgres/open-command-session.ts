import { connectionRemedy } from '../../base/database/connection-remedy.js';
import { errorText } from '../../base/machinery/startup-error.js';
import { MigrationError } from './migration-error.js';
import { silentObserver } from './postgres-storage-options.js';
import { Session } from './session.js';

const connectTimeoutMs = 10_000;

/**
 * Opens the session of a command that does one thing and ends.
 *
 * @param applicationName how the session is called in the database
 * @throws MigrationError that says why the database can't be reached, and what helps
 */
export async function openCommandSession(
  url: string,
  applicationName: string,
  role: 'reader' | 'writer' = 'writer',
): Promise<Session> {
  try {
    return await Session.open({ url, applicationName, connectTimeoutMs, role, observer: silentObserver });
  } catch (error) {
    const text = `the database can't be reached: ${errorText(error)} (${connectionRemedy(error)})`;
    throw new MigrationError(text, { cause: error });
  }
}
