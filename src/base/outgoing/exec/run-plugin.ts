import { type ChildProcess, spawn } from 'node:child_process';
import { errorCode, errorText } from '../../machinery/startup-error.js';
import type { ExecPlugin } from './exec-plugin.js';
import { ExecPluginError } from './exec-plugin-error.js';

/** The settings of one run of a plugin. */
export interface PluginRun {
  /** All environment variables of the plugin. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether the plugin inherits the standard input of this process; otherwise its input is empty. */
  readonly isInteractive: boolean;
  /** The plugin is killed after this many milliseconds. */
  readonly limitMs: number;
}

/** The most output that is accepted, in bytes: longer output is not a credential. */
const mostOutputBytes = 1024 * 1024;

/**
 * Runs a plugin and returns what it printed. Its standard error is that of this process, and the plugin is killed when
 * this process exits.
 *
 * @throws ExecPluginError when it can't be run, fails, takes too long or prints too much
 */
export async function runPlugin(plugin: ExecPlugin, run: PluginRun): Promise<string> {
  const problem = (text: string, cause?: unknown) => new ExecPluginError(plugin, text, cause);
  const child = spawn(plugin.command, [...plugin.args], {
    env: run.environment,
    stdio: [run.isInteractive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
    windowsHide: true,
  });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<string>((resolve, reject) => {
      timer = setTimeout(() => reject(problem(`it did not end within ${run.limitMs / 1000} s`)), run.limitMs);
      const output = outputOf(child, () => reject(problem(`its output has more than ${mostOutputBytes} bytes`)));
      child.once('error', (error) => reject(problem(startFault(error, plugin), error)));
      child.once('close', (code, signal) => {
        if (code === 0) resolve(output());
        else reject(problem(signal === null ? `it failed with exit code ${code}` : `it was ended by ${signal}`));
      });
    });
  } finally {
    clearTimeout(timer);
    process.off('exit', end);
    end();
    // A process that the plugin left behind may hold the pipe open.
    child.stdout?.destroy();
  }
}

/** Collects what the plugin prints, up to the limit. */
function outputOf({ stdout }: ChildProcess, onTooMuch: () => void): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stdout?.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > mostOutputBytes) onTooMuch();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

function startFault(error: Error, { installHint }: ExecPlugin): string {
  const code = errorCode(error);
  if (code === 'EACCES') return 'it may not be run: it is not a program, or belongs to another user';
  if (code !== 'ENOENT') return errorText(error);
  return installHint === '' ? 'there is no such program' : `there is no such program\n\n${installHint.trim()}`;
}
