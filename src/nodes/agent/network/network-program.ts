import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter } from 'node:path';
import { text } from 'node:stream/consumers';

const longestMs = 30_000;

/**
 * Runs a program of this machine that changes its network.
 *
 * @param input for its standard input
 * @returns its exit code, null when it took more than half a minute, and what it has written
 * @throws Error when there is no such program
 */
export async function runNetworkProgram(
  program: string,
  flags: readonly string[],
  variables: NodeJS.ProcessEnv,
  input: string,
): Promise<{ readonly code: number | null; readonly output: string; readonly errors: string }> {
  const path = [process.env.PATH ?? '', '/usr/sbin', '/sbin'].join(delimiter);
  const child = spawn(program, flags, {
    env: { ...process.env, PATH: path, ...variables },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: longestMs,
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [[code], output, errors] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return { code, output, errors };
}
