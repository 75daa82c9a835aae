import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { endWithUs } from './child-guard.js';

const patienceMs = 120_000;

/** A shell in a terminal of its own, where `plinth` is a function that prints its arguments. */
export class TypingShell {
  private readonly child: ChildProcess;
  private output = '';
  private lines = 0;

  /** @param command starts the shell without any settings of the user; needs `script` of util-linux */
  constructor(command: string, folder: string) {
    this.child = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, TERM: 'vt100', LANG: 'C.UTF-8', COLUMNS: '400', PS1: '$ ' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    endWithUs(this.child);
    this.child.stdout?.on('data', (chunk: Buffer) => {
      this.output += chunk.toString();
    });
  }

  /** Runs the lines of a script before anything is typed. */
  async run(...lines: readonly string[]): Promise<void> {
    // The quotes around `end` keep the echo of the line from being mistaken for its output.
    for (const line of [...lines, "plinth() { printf '<%s>' $# \"$@\"; printf '%s\\n' '<'end'>'; }", 'plinth ready']) {
      this.child.stdin?.write(`${line}\n`);
    }
    assert.deepEqual(await this.arguments(), ['ready']);
  }

  /** Types a line and returns the arguments that the command received. */
  async type(keys: string): Promise<readonly string[]> {
    this.child.stdin?.write(`${keys}\n`);
    return this.arguments();
  }

  async close(): Promise<void> {
    this.child.stdin?.end('\u0015exit\n');
    if (this.child.exitCode === null) {
      const timer = setTimeout(() => this.child.kill('SIGKILL'), patienceMs);
      await once(this.child, 'close');
      clearTimeout(timer);
    }
  }

  private async arguments(): Promise<readonly string[]> {
    const late = AbortSignal.timeout(patienceMs);
    for (;;) {
      const found = [...this.output.matchAll(/<\d+>((?:<[^<>]*>)*?)<end>/g)];
      const [, text] = found[this.lines] ?? [];
      if (text !== undefined) {
        this.lines++;
        // The terminal puts a return before each new line.
        return [...text.matchAll(/<([^<>]*)>/g)].map(([, argument = '']) => argument.replaceAll('\r\n', '\n'));
      }
      if (this.child.exitCode !== null) assert.fail(`the shell ended: ${this.output}`);
      const heard = new AbortController();
      const signal = AbortSignal.any([late, heard.signal]);
      await Promise.race([
        once(this.child.stdout as NodeJS.ReadableStream, 'data', { signal }),
        once(this.child, 'close', { signal }),
      ]).catch(() => assert.fail(`the shell does not answer: ${JSON.stringify(this.output.slice(-2000))}`));
      heard.abort();
    }
  }
}
