import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { endWithUs } from '../../support/child-guard.js';
import { mainFile } from '../../support/main-file.js';

/** What a command of the program left. */
export interface ProgramEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command of the program under way. */
export interface RunningProgram {
  readonly child: ChildProcess;
  readonly ended: Promise<ProgramEnd>;
}

/** Starts a command of the program without any settings of ours. */
export function startProgram(...args: readonly string[]): RunningProgram {
  const child = spawn(process.execPath, ['--enable-source-maps', mainFile, ...args], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithUs(child);
  const ended = Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]).then(
    ([[code], stdout, stderr]) => ({ code: code as number | null, stdout, stderr }),
  );
  return { child, ended };
}

/** Runs a command to its end. */
export function runProgram(...args: readonly string[]): Promise<ProgramEnd> {
  return startProgram(...args).ended;
}
