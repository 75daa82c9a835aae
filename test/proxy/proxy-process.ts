import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { endWithUs } from '../support/child-guard.js';
import { mainFile } from '../support/main-file.js';

/** A process of `plinth proxy`, or of another proxy. */
export class ProxyProcess {
  output = '';

  private constructor(readonly process: ChildProcess) {
    for (const stream of [process.stdout, process.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.output = (this.output + chunk.toString('utf8')).slice(-65_536);
      });
    }
  }

  /** Resolves when the services can be reached. */
  static async start(flags: readonly string[]): Promise<ProxyProcess> {
    const proxy = ProxyProcess.run(process.execPath, [mainFile, 'proxy', ...flags]);
    await new Promise<void>((resolve, reject) => {
      proxy.process.stdout?.on('data', () => {
        if (proxy.output.includes('the services are reached')) resolve();
      });
      proxy.process.once('exit', (code) => reject(new Error(`the proxy ended with ${code}: ${proxy.output}`)));
    });
    return proxy;
  }

  static run(program: string, flags: readonly string[]): ProxyProcess {
    const child = spawn(program, [...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
    endWithUs(child);
    return new ProxyProcess(child);
  }

  async stop(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exited = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    await exited;
  }
}
