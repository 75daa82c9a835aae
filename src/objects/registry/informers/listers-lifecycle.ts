import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown, Optional } from '@nestjs/common';
import { StartPatience } from '../../../storage/start-patience.js';
import { SharedListers } from './shared-listers.js';

/** Fills the shared listers before the first request; they then follow the store until the process exits. */
@Injectable()
export class ListersLifecycle implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly stopping = new AbortController();

  constructor(
    @Inject(SharedListers) private readonly listers: SharedListers,
    @Optional() @Inject(StartPatience) private readonly patience?: StartPatience,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const start = () => this.listers.start(this.stopping.signal);
    await (this.patience === undefined ? start() : this.patience.abortable(this.stopping, start));
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.listers.stopped();
  }
}
