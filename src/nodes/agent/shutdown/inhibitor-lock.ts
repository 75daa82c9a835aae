import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Delays the shutdown of the machine while it is held. The lock is a file descriptor, which a program of systemd holds:
 * Node can't receive one. It is released when this process ends, however it ends.
 */
export class InhibitorLock {
  private constructor(private readonly close: () => void) {}

  /** @throws Error with the words of systemd when it refuses the lock */
  static async take(): Promise<InhibitorLock> {
    const reason = '--why=Pods need time to end';
    // The last program ends when its input does. The group of its own spares it the signals of a terminal.
    const command = ['sh', '-c', 'echo held; exec cat >/dev/null'];
    const flags = ['--what=shutdown', '--mode=delay', '--who=plinth node', reason];
    const child = spawn('systemd-inhibit', [...flags, ...command], { stdio: 'pipe', detached: true });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('utf8')).slice(-1000);
    });
    child.stdin.on('error', () => undefined);
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', () => reject(new Error(`systemd-inhibit: ${said.trim() || 'it has ended'}`)));
      void once(child.stdout, 'data').then(() => resolve(), reject);
    });
    return new InhibitorLock(() => child.stdin.end());
  }

  release(): void {
    this.close();
  }
}
