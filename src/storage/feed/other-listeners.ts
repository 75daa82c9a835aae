import { randomBytes } from 'node:crypto';

const announcement = /^listening ([0-9a-f]{16})$/;

/**
 * Tracks whether other processes listen for versions. A process whose listener is connected announces this again and
 * again on the channel of versions, so a process that receives no announcement of another one for a while is alone.
 * Then its writes need no notifications, which would wake its own listener, in the database and here.
 *
 * When in doubt, there are others. A process whose listener is overlooked finds changes by polling.
 */
export class OtherListeners {
  /** The payload with which this process announces itself. */
  readonly announcement: string;
  /**
   * When the listener connected, or last received another process's announcement since then; undefined without a
   * connection.
   */
  private lastHeardAt: number | undefined;

  /**
   * @param silenceMs after how long without hearing another process this one is alone, in milliseconds: several times
   * the interval of announcements
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

  /** Called when the listener has connected: from now on it receives every announcement. */
  connected(): void {
    this.lastHeardAt = this.now();
  }

  /** Called when the listener has lost its connection: announcements of others may get lost. */
  disconnected(): void {
    this.lastHeardAt = undefined;
  }

  /** Handles a notification from the channel, unless it is a version. */
  hear(payload: string): void {
    if (payload === this.announcement || !announcement.test(payload)) return;
    if (this.lastHeardAt !== undefined) this.lastHeardAt = this.now();
  }
}
