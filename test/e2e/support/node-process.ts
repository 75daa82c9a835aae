import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { endWithUs } from '../../support/child-guard.js';
import { mainFile } from '../../support/main-file.js';

/** A process of simulated nodes. */
export class NodeProcess {
  private constructor(readonly process: ChildProcess) {}

  /** Resolves when all nodes are registered. */
  static async start(flags: readonly string[]): Promise<NodeProcess> {
    const child = spawn(process.execPath, [mainFile, 'nodes', ...flags], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    endWithUs(child);
    let said = '';
    await new Promise<void>((resolve, reject) => {
      child.stdout?.on('data', (chunk: Buffer) => {
        said += chunk.toString('utf8');
        if (said.includes('simulated nodes are registered')) resolve();
      });
      child.once('exit', (code) => reject(new Error(`the nodes ended with ${code}: ${said}`)));
    });
    return new NodeProcess(child);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exited = once(this.process, 'exit');
    this.process.kill(signal);
    await exited;
  }
}
