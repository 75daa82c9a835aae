import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { endWithUs, removeWithUs } from '../../support/child-guard.js';

const repository = fileURLToPath(new URL('../../../../', import.meta.url));

export interface KubectlResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The kubectl of the machine, run from the root of the repository with a home folder of its own. */
export class Kubectl {
  private readonly environment: NodeJS.ProcessEnv;

  constructor(
    kubeconfig: string,
    private readonly program = process.env.PLINTH_TEST_KUBECTL ?? 'kubectl',
  ) {
    const home = mkdtempSync(join(tmpdir(), 'plinth-kubectl-'));
    removeWithUs(home);
    this.environment = { PATH: process.env.PATH, HOME: home, KUBECONFIG: kubeconfig };
  }

  /** Minor version of the program, such as 20 or 32. */
  minorVersion(): number {
    const { clientVersion } = JSON.parse(this.ok(['version', '--client', '-o', 'json'])) as {
      readonly clientVersion: { readonly minor: string };
    };
    return Number.parseInt(clientVersion.minor, 10);
  }

  /**
   * Runs one command and returns its output, whatever its exit code. `editor` is the program that `edit` starts on its
   * file.
   */
  run(args: readonly string[], input?: string, editor = 'true'): KubectlResult {
    const done = spawnSync(this.program, args, {
      env: { ...this.environment, KUBE_EDITOR: editor },
      cwd: repository,
      encoding: 'utf8',
      timeout: 60_000,
      ...(input === undefined ? {} : { input }),
    });
    if (done.error !== undefined) throw done.error;
    return { code: done.status, stdout: done.stdout, stderr: done.stderr };
  }

  /** Runs one command that must succeed and returns its output. */
  ok(args: readonly string[], input?: string): string {
    const { code, stdout, stderr } = this.run(args, input);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}:\n${stderr}${stdout}`);
    return stdout;
  }

  /** Like {@link run} without blocking this process, for commands that call this process. */
  async runBeside(args: readonly string[], input = ''): Promise<KubectlResult> {
    const child = spawn(this.program, args, { env: this.environment, cwd: repository, stdio: 'pipe' });
    endWithUs(child);
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code, stdout, stderr };
  }

  /** Starts a command that keeps running, such as a watch. */
  start(args: readonly string[], errors: 'inherit' | 'pipe' = 'inherit'): ChildProcess {
    const child = spawn(this.program, args, {
      env: this.environment,
      cwd: repository,
      stdio: ['ignore', 'pipe', errors],
    });
    endWithUs(child);
    return child;
  }
}
