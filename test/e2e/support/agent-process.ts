import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { endWithUs } from '../../support/child-guard.js';
import { mainFile } from '../../support/main-file.js';

/** A process of `plinth node`. */
export class AgentProcess {
  private isStopping = false;

  private constructor(
    readonly process: ChildProcess,
    /** The last 64 KiB that the process has logged. */
    readonly log: () => string,
  ) {}

  /** Resolves when the node is registered with the API. */
  static async start(flags: readonly string[]): Promise<AgentProcess> {
    const child = spawn(process.execPath, [mainFile, 'node', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
    endWithUs(child);
    let said = '';
    await new Promise<void>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream?.on('data', (chunk: Buffer) => {
          said = (said + chunk.toString('utf8')).slice(-65_536);
          if (said.includes('is registered')) resolve();
        });
      }
      child.once('exit', (code) => reject(new Error(`the agent ended with ${code}: ${said}`)));
    });
    const agent = new AgentProcess(child, () => said);
    child.once('exit', (code, signal) => {
      if (!agent.isStopping) console.error(`the agent ended with ${code ?? signal}: ${said}`);
    });
    return agent;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.isStopping = true;
    const exited = once(this.process, 'exit');
    this.process.kill(signal);
    await exited;
  }
}
