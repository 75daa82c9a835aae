import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { identity, type ServiceUser } from './service-user.js';

/**
 * Runs a program for exactly as long as this process lives. A shell in a session of its own (so that Ctrl-C in the
 * terminal reaches only us) holds one end of a pipe from us. When the pipe closes, because we close it or because we
 * were killed, the shell sends SIGINT to the program. For Postgres that means: end all sessions, write a checkpoint,
 * stop. Nothing is ever written into the pipe, so `read` returns only at its end. The shell ends with the program's
 * status.
 */
const supervisor = `
exec 3<&0 </dev/null
"$@" 3<&- &
program=$!
{ read -r line <&3; kill -INT "$program"; } 2>/dev/null &
watch=$!
exec 3<&-
wait "$program"
status=$?
kill "$watch" 2>/dev/null
exit "$status"
`;

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface SupervisedProcess {
  readonly pid: number | undefined;
  /** Settles when the process has ended. Never rejects once the process was started. */
  readonly ended: Promise<ProcessEnd>;
  /** Asks the program to stop; `ended` settles when it has. */
  stop(): void;
}

/** Starts a program under the supervisor; standard output and error are appended to `logFile`. */
export async function startSupervised(
  program: string,
  args: readonly string[],
  options: { readonly user: ServiceUser; readonly logFile: string; readonly environment: NodeJS.ProcessEnv },
): Promise<SupervisedProcess> {
  const log = await openLog(options.logFile);
  let child: ChildProcess;
  let ended: Promise<ProcessEnd>;
  try {
    child = spawn('/bin/sh', ['-c', supervisor, 'plinth-postgres', program, ...args], {
      cwd: '/',
      env: options.environment,
      detached: true,
      stdio: ['pipe', log.fd, log.fd],
      ...identity(options.user),
    });
    ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
  } finally {
    await log.close();
  }
  // The shell may be gone before we close our end.
  child.stdin?.on('error', () => undefined);
  return { pid: child.pid, ended, stop: () => child.stdin?.end() };
}

/** The service user owns its folder, and we may be root: a link there must not lead us to another file. */
async function openLog(path: string): Promise<FileHandle> {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
  const log = await open(path, O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_WRONLY, 0o600);
  const found = await log.stat();
  if (found.isFile() && found.nlink === 1) return log;
  await log.close();
  throw new StartupError(`${path} is not a file of its own: remove it`);
}
