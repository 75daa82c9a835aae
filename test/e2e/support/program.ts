import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { endWithUs } from '../../support/child-guard.js';
import { mainFile } from '../../support/main-file.js';
import { programEnvironment } from '../../support/program-environment.js';

/** The result of a command of the program. */
export interface ProgramEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running command of the program. */
export interface RunningProgram {
  readonly child: ChildProcess;
  readonly ended: Promise<ProgramEnd>;
}

/** Starts a command of the program without any settings of the tests. */
export function startProgram(...args: readonly string[]): RunningProgram {
  const child = spawn(process.execPath, [mainFile, ...args], {
    env: programEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithUs(child);
  const ended = Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]).then(
    ([[code], stdout, stderr]) => ({ code: code as number | null, stdout, stderr }),
  );
  return { child, ended };
}

/** Runs a command until it ends. */
export function runProgram(...args: readonly string[]): Promise<ProgramEnd> {
  return startProgram(...args).ended;
}

/**
 * Runs a command in a terminal of its own, types an answer when it asks a question, and resolves with the text on the
 * terminal.
 */
export async function answerInTerminal(
  answer: string,
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly text: string }> {
  const words = [process.execPath, mainFile, ...args];
  const line = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', line, '/dev/null'], {
    env: programEnvironment({ TERM: 'dumb' }),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  endWithUs(child);
  let shown = '';
  let isAnswered = false;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    shown += chunk;
    if (isAnswered || !/\? \[y\/N\] $/.test(shown)) return;
    isAnswered = true;
    child.stdin.write(answer);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, text: shown };
}
