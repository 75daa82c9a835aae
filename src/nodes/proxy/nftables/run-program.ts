import { spawn } from 'node:child_process';
import { delimiter } from 'node:path';

export interface ProgramResult {
  /** Undefined when the program is not installed. */
  readonly code: number | undefined;
  readonly output: string;
  readonly errors: string;
}

/** The most errors of one run that are kept: a script of thousands of lines can have as many. */
const mostErrorCharacters = 4096;

/** Runs an administration program with a text as its input. Never rejects. */
export function runTool(program: string, flags: readonly string[], input = ''): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const path = [process.env.PATH ?? '', '/usr/sbin', '/sbin'].join(delimiter);
    const child = spawn(program, flags, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, PATH: path } });
    const output: Buffer[] = [];
    let errors = '';
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      if (errors.length < mostErrorCharacters) errors += chunk.toString('utf8');
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      resolve({ code: error.code === 'ENOENT' ? undefined : -1, output: '', errors: error.message });
    });
    child.once('close', (code) => {
      resolve({ code: code ?? -1, output: Buffer.concat(output).toString('utf8'), errors });
    });
    // A program that ends before it has read all of its input gives the reason by its exit code.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
