import { execFile } from 'node:child_process';
import { promises as fs } from 'node:fs';
import { promisify } from 'node:util';

/** Whether systemd runs this machine. */
export function hasSystemd(): Promise<boolean> {
  return fs.stat('/run/systemd/system').then(
    () => true,
    () => false,
  );
}

/**
 * Whether the stop signal means that the machine shuts down, which systemd reports. Without systemd, only a shutdown
 * would send this signal to an agent that is meant to end its pods.
 */
export async function isMachineStopping(): Promise<boolean> {
  if (!(await hasSystemd())) return true;
  // The command prints the state and exits with a code other than 0.
  const answer = await promisify(execFile)('systemctl', ['is-system-running']).catch(
    (error: { stdout?: string }) => error,
  );
  return (answer.stdout ?? '').trim() === 'stopping';
}
