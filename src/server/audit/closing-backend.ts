import type { AuditBackend } from './backends/backend.js';

/** A backend with background work: `start` begins it, and `close` ends it after the backend has stopped. */
export class ClosingBackend implements AuditBackend {
  constructor(
    private readonly backend: AuditBackend,
    private readonly close: () => Promise<void>,
    readonly start?: () => void,
  ) {}

  get name(): string {
    return this.backend.name;
  }

  get isStrict(): boolean {
    return this.backend.isStrict;
  }

  take(event: Parameters<AuditBackend['take']>[0]): boolean | Promise<boolean> {
    return this.backend.take(event);
  }

  async stop(): Promise<void> {
    await this.backend.stop();
    await this.close();
  }
}
