import { VolumeProblem } from '../volumes/volume-problem.js';
import type { CsiDriverClient } from './csi-driver-client.js';

/** The drivers that are registered on this node. */
export class CsiDrivers {
  private readonly clients = new Map<string, CsiDriverClient>();

  find(name: string): CsiDriverClient | undefined {
    return this.clients.get(name);
  }

  /** @throws VolumeProblem for a driver that is not registered */
  get(name: string): CsiDriverClient {
    const client = this.clients.get(name);
    if (client === undefined) {
      throw new VolumeProblem(`kubernetes.io/csi: driver name ${name} not found in the list of registered CSI drivers`);
    }
    return client;
  }

  all(): readonly CsiDriverClient[] {
    return [...this.clients.values()];
  }

  add(client: CsiDriverClient): void {
    this.remove(client.name);
    this.clients.set(client.name, client);
  }

  remove(name: string): void {
    this.clients.get(name)?.close();
    this.clients.delete(name);
  }

  close(): void {
    for (const name of [...this.clients.keys()]) this.remove(name);
  }
}
