import type { HostPort } from './pod-info.js';

const anyAddress = '0.0.0.0';

/** The ports of a node that pods hold. A port of all addresses and one of a single address exclude each other. */
export class HostPorts {
  /** How many pods hold a port at an address, by protocol and port. */
  private readonly held = new Map<string, Map<string, number>>();

  add(ports: readonly HostPort[], by: 1 | -1 = 1): void {
    for (const { ip, protocol, port } of ports) {
      const key = `${protocol}/${port}`;
      let addresses = this.held.get(key);
      if (addresses === undefined) {
        addresses = new Map();
        this.held.set(key, addresses);
      }
      const count = (addresses.get(ip) ?? 0) + by;
      if (count > 0) addresses.set(ip, count);
      else addresses.delete(ip);
      if (addresses.size === 0) this.held.delete(key);
    }
  }

  /** Whether one of the ports is held already. */
  conflicts(ports: readonly HostPort[]): boolean {
    return ports.some(({ ip, protocol, port }) => {
      const addresses = this.held.get(`${protocol}/${port}`);
      if (addresses === undefined) return false;
      return ip === anyAddress || addresses.has(ip) || addresses.has(anyAddress);
    });
  }
}
