import type { ApiServiceIndex } from './api-service-index.js';
import type { AvailabilityMetrics } from './availability-metrics.js';
import { Backend, type BackendParts } from './backend.js';
import type { RemoteApi, RemoteApiService } from './known-api-service.js';

/** The extension servers that a process knows, and its connections to them. */
export class Aggregation {
  private readonly backends = new Map<string, { readonly key: string; readonly backend: Backend }>();
  private seen = -1;

  constructor(
    readonly services: ApiServiceIndex,
    private readonly parts: BackendParts,
    readonly metrics?: AvailabilityMetrics,
  ) {}

  /** The connections to the server of a group version; others once its address or its certificates change. */
  backendOf({ name, remote }: Pick<RemoteApiService, 'name' | 'remote'>): Backend {
    this.forgetRemoved();
    const key = keyOf(remote);
    const held = this.backends.get(name);
    if (held?.key === key) return held.backend;
    held?.backend.retire();
    const backend = new Backend(remote, this.parts);
    this.backends.set(name, { key, backend });
    return backend;
  }

  private forgetRemoved(): void {
    if (this.seen === this.services.changes) return;
    this.seen = this.services.changes;
    const names = new Set(this.services.remotes().map(({ name }) => name));
    for (const [name, { backend }] of this.backends) {
      if (names.has(name)) continue;
      backend.retire();
      this.backends.delete(name);
    }
  }
}

function keyOf({ namespace, service, port, insecureSkipTLSVerify, caBundle }: RemoteApi): string {
  return JSON.stringify([namespace, service, port, insecureSkipTLSVerify, caBundle]);
}
