import { invariant } from '../../../base/machinery/invariant.js';
import { longPieces } from '../../../base/machinery/pieces-in-turn.js';
import type { WatchSeries } from '../../../base/observability/watch-metrics.js';
import {
  type Change,
  type ChangeBatch,
  type ChangeSubscription,
  followChanges,
} from '../../../storage/storage.interface.js';
import type { EndpointServices } from '../endpoint-services.js';
import { piecesOf } from './change-pieces.js';
import type { WatchStream } from './event-stream.js';
import { countEvents, type WatchEncoder } from './watch-encoder.js';
import type { WatchEnding } from './watch-ending.js';

const bookmarkIntervalMs = 60_000;
/** A last bookmark is sent this long before the end, so that a client can resume without a gap. */
const bookmarkBeforeEndMs = 2_000;

/** One watch after its initial events. */
export interface PumpedWatch {
  readonly stream: Pick<WatchStream, 'isClosed' | 'onClose' | 'write'>;
  readonly series: WatchSeries;
  readonly subscription: ChangeSubscription;
  readonly ending: Pick<WatchEnding, 'isAt'>;
  readonly encoder: Pick<WatchEncoder, 'encodeConverted' | 'encodeBookmark'>;
  /** The version that the client has seen. */
  readonly from: bigint;
  readonly sendsBookmarks: boolean;
  /** The time that the watch has left. */
  readonly timeoutMs: number;
}

/**
 * Sends the changes of a subscription and bookmarks to the client of a watch, until the time is over, the client leaves
 * or the subscription ends. A watch never goes back: each change is newer than everything that was sent before.
 */
export class WatchPump {
  private readonly sendsQuietPositions: boolean;
  /** The client has received everything up to this version. */
  private position: bigint;
  private announced: bigint;
  private fault: { readonly error: unknown } | undefined;
  private isEncoding = false;

  constructor(
    private readonly services: Pick<EndpointServices, 'random' | 'features' | 'options'>,
    private readonly watch: PumpedWatch,
  ) {
    this.sendsQuietPositions = services.features.isOn('EfficientWatchResumption');
    this.position = watch.from;
    this.announced = watch.from;
  }

  /** @throws StorageError with which the subscription ends, and InvariantError for changes that go back */
  async run(): Promise<void> {
    const { stream, subscription, timeoutMs } = this.watch;
    const { random, options } = this.services;
    const { shutdown } = options;
    const leave = () => {
      this.catchUp();
      subscription.close();
    };
    const timers = [
      setTimeout(leave, Math.max(0, timeoutMs)),
      setTimeout(this.bookmark, Math.max(0, timeoutMs - bookmarkBeforeEndMs)),
      // Spread the bookmarks of watches that were opened at the same time.
      setInterval(this.bookmark, bookmarkIntervalMs * (0.9 + random() / 5)),
    ];
    stream.onClose(leave);
    if (shutdown.aborted) leave();
    else shutdown.addEventListener('abort', leave, { once: true });
    try {
      await followChanges(subscription, this.take);
      if (this.fault !== undefined) throw this.fault.error;
      // The client resumes elsewhere, from the version of this bookmark.
      if (shutdown.aborted) await this.writeBookmark();
    } finally {
      for (const timer of timers) clearTimeout(timer);
      shutdown.removeEventListener('abort', leave);
    }
  }

  private readonly take = (batch: ChangeBatch): Promise<void> | undefined => {
    const { position } = this;
    const [first] = batch.changes;
    const isNext = first === undefined ? batch.position >= position : first.resourceVersion > position;
    invariant(isNext, 'a watch never goes back', first?.resourceVersion ?? batch.position, position);
    const pieces = piecesOf(batch.changes);
    return pieces === undefined ? this.takePiece(batch) : this.takePieces(pieces, batch);
  };

  private async takePieces(pieces: readonly (readonly Change[])[], batch: ChangeBatch): Promise<void> {
    for (const [i, changes] of pieces.entries()) {
      if (i > 0) await longPieces.turn();
      if (this.watch.stream.isClosed) return;
      const isLast = i === pieces.length - 1;
      await this.takePiece({
        changes,
        position: isLast ? batch.position : (changes.at(-1) as Change).resourceVersion,
      });
    }
  }

  /** Sends one piece. Returns no promise for most pieces, which are sent before the next watcher receives the batch. */
  private takePiece(batch: ChangeBatch): Promise<void> | undefined {
    const encoded = batch.changes.length === 0 ? undefined : this.watch.encoder.encodeConverted(batch.changes);
    if (encoded instanceof Promise) return this.sendLater(encoded, batch);
    const sending = this.send(encoded);
    this.moveTo(batch);
    return sending;
  }

  private async sendLater(encoding: Promise<Buffer | undefined>, batch: ChangeBatch): Promise<void> {
    this.isEncoding = true;
    const encoded = await encoding;
    this.isEncoding = false;
    const sending = this.send(encoded);
    this.moveTo(batch);
    await sending;
  }

  private send(encoded: Buffer | undefined): Promise<void> | undefined {
    if (encoded === undefined) return undefined;
    countEvents(this.watch.series, encoded);
    return this.watch.stream.write(encoded);
  }

  private moveTo({ changes, position }: ChangeBatch): void {
    if (changes.length > 0 || this.sendsQuietPositions) this.position = position;
    if (this.watch.ending.isAt(position)) this.watch.subscription.close();
  }

  /** Moves to the version up to which there was nothing to send: the subscription does not report it by itself. */
  private catchUp(): void {
    const { quietPosition } = this.watch.subscription;
    if (!this.sendsQuietPositions || quietPosition === undefined || quietPosition <= this.position) return;
    this.position = quietPosition;
  }

  /** An error in this timer must end only this watch. */
  private readonly bookmark = (): void => {
    this.writeBookmark().catch((error: unknown) => {
      this.fault ??= { error };
      this.watch.subscription.close();
    });
  };

  private async writeBookmark(): Promise<void> {
    const { sendsBookmarks, encoder, series, stream } = this.watch;
    this.catchUp();
    // Wait for the event being encoded: it may contain the columns of a table.
    if (!sendsBookmarks || this.position <= this.announced || this.isEncoding) return;
    this.announced = this.position;
    const bytes = encoder.encodeBookmark(this.position, false);
    series.sent(bytes.length);
    await stream.write(bytes);
  }
}
