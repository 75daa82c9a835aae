import { randomBytes } from 'node:crypto';

const announcement = /^listening ([0-9a-f]{16})$/;

/**
 * Whether other processes listen for versions. A process whose listener is connected says so again and again in the channel
 * of versions, so whoever hears nothing of others for a while is alone. Then nobody needs to be told of its writes: that
 * wakes the writer's own listener, in the database and here.
 *
 * In doubt there are others. Where one is not known of, it finds changes by the poll.
 */
export class OtherListeners {
  /** What this process says. */
  readonly announcement: string;
  /** When the listener connected, or somebody else was heard after that; undefined without a connection. */
  private lastHeardAt: number | undefined;

  /**
   * @param silenceMs how long nobody is heard when this process is alone, in milliseconds: several times as long as a
   * process is silent
   * @param now milliseconds from some fixed point, never going back
   */
  constructor(
    private readonly silenceMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.announcement = `listening ${randomBytes(8).toString('hex')}`;
  }

  get mayExist(): boolean {
    return this.lastHeardAt === undefined || this.now() - this.lastHeardAt < this.silenceMs;
  }

  /** Everything that is said from now on is heard. */
  connected(): void {
    this.lastHeardAt = this.now();
  }

  /** What others say may get lost. */
  disconnected(): void {
    this.lastHeardAt = undefined;
  }

  /** Takes what was heard in the channel, if it is not a version. */
  hear(payload: string): void {
    if (payload === this.announcement || !announcement.test(payload)) return;
    if (this.lastHeardAt !== undefined) this.lastHeardAt = this.now();
  }
}
