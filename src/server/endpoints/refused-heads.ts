import { constants, type Http2SecureServer, type ServerHttp2Session } from 'node:http2';
import type { NoteCut } from './connection-cuts.js';

interface Counted {
  readonly session: ServerHttp2Session;
  /** Streams that the session reported. */
  streams: number;
  /** Streams that it had not reported at the last look. */
  refused: number;
  /** Those that are held against the client. */
  counted: number;
}

/** The most streams without a usable head: no client sends so many by mistake. */
const mostRefused = 50;
/** How many of them are forgotten with each look. */
const forgotten = 2;
/** A look at ten thousand sessions takes 4 ms. */
const lookMs = 100;

/**
 * Ends HTTP/2 sessions whose clients keep sending heads with more fields than are allowed. A few bytes may stand for
 * thousands of fields, which cost milliseconds to decode. Node refuses such a stream without reporting it, and has no
 * limit for their number, so one client could take all processor time of the process without sending much.
 */
export class RefusedHeads {
  private readonly sessions = new Set<Counted>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly note: NoteCut = () => undefined) {}

  watch(server: Http2SecureServer): void {
    server.on('session', (session: ServerHttp2Session) => this.keep({ session, streams: 0, refused: 0, counted: 0 }));
  }

  private keep(counted: Counted): void {
    const { session } = counted;
    this.sessions.add(counted);
    session.on('stream', () => {
      counted.streams++;
    });
    session.once('close', () => {
      this.sessions.delete(counted);
      if (this.sessions.size > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    });
    this.timer ??= setInterval(() => this.look(), lookMs).unref();
  }

  private look(): void {
    for (const entry of this.sessions) {
      const { session, streams, refused: before } = entry;
      if (session.destroyed) continue;
      // Clients number their streams 1, 3, 5 and so on. Some numbers stay unused when a request is cancelled early.
      const begun = ((session.state.lastProcStreamID ?? 0) + 1) >> 1;
      entry.refused = begun - streams;
      entry.counted = Math.max(0, entry.counted + entry.refused - before - forgotten);
      if (entry.counted <= mostRefused) continue;
      this.note('refused-heads', { client: session.socket?.remoteAddress });
      session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      session.destroy();
    }
  }
}
