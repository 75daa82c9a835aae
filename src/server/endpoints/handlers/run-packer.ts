import { longPieces } from '../../../base/machinery/pieces-in-turn.js';
import { tenantOf } from '../../../base/machinery/tenant-of.js';
import type { KeptForms } from '../../../storage/storage.interface.js';
import type { PackedBytes } from '../negotiation/gzip-pieces.js';
import { keptRun, packBytes, packRun, type Run, runsOf, type Validity, wasDense } from '../negotiation/packed-runs.js';
import { type ByteSink, RunBytes } from '../negotiation/run-bytes.js';
import type { ResourceRequest } from '../resource-request.js';
import type { Page } from './list-pages.js';

/** A form of lists in which items stand behind each other. */
export interface RunForm {
  /** Equal for equal encodings of the same served kind. */
  readonly name: string;
  readonly separator: Buffer;
  /** Writes the items; returns from when and until when that is true, or undefined if it does not depend on the time. */
  readonly encode: (run: Run, forms: KeptForms | undefined, sink: ByteSink) => Validity | undefined;
}

/** The objects of the list, the user and the time of a request. */
export interface Packing extends Pick<ResourceRequest, 'resource'> {
  readonly context: Pick<ResourceRequest['context'], 'user'>;
  readonly services: Pick<ResourceRequest['services'], 'clock'>;
}

/** How many runs are found before other requests have their turn. */
const foundAtOnce = 32;
/** Runs that are valid for less than this time, in milliseconds, are not kept. */
const leastValidity = 5_000;
/** Runs that are not kept are compressed together, about this many bytes at once. */
const joinedBytes = 128 * 1024;

/** Compresses the runs of pages, or finds them compressed, in turns with other requests. */
export class RunPacker {
  private found = 0;
  private isDense = false;
  /** Encoded items that are not compressed yet. */
  private readonly bytes = new RunBytes();

  constructor(
    private readonly request: Packing,
    private readonly form: RunForm,
  ) {}

  /** The items of a page in order, in parts; those of one page are complete. */
  async *of({ items, forms }: Page): AsyncGenerator<PackedBytes> {
    const { resource, context, services } = this.request;
    const { name, separator, encode } = this.form;
    const { bytes } = this;
    const tenant = tenantOf(context.user?.name ?? '');
    for (const run of runsOf(items)) {
      const now = services.clock.now();
      const kept = keptRun(resource, name, run, forms, now);
      if (kept === undefined || ++this.found % foundAtOnce === 0) await longPieces.turn(tenant);
      if (kept !== undefined) {
        if (bytes.length > 0) yield await this.packPassing(bytes.length);
        yield kept;
        continue;
      }
      // What passes stands in front of the run.
      const passing = bytes.length;
      if (passing > 0) bytes.copyRange(separator, 0, separator.length);
      const start = bytes.length;
      const validity = encode(run, forms, bytes);
      if (validity !== undefined && validity.until - now < leastValidity) {
        if (bytes.length >= joinedBytes) yield await this.packPassing(bytes.length);
        continue;
      }
      const encoded = { plain: bytes.view(start, bytes.length), validity };
      if (passing > 0) yield this.noted(await packBytes(bytes.view(0, passing), this.isDense));
      yield this.noted(await packRun(resource, name, run, forms, encoded, this.isDense));
      bytes.clear();
    }
    if (bytes.length > 0) yield await this.packPassing(bytes.length);
  }

  /** Compresses what is not kept. */
  private async packPassing(length: number): Promise<PackedBytes> {
    const packed = await packBytes(this.bytes.view(0, length), this.isDense);
    this.bytes.clear();
    return this.noted(packed);
  }

  private noted(packed: PackedBytes): PackedBytes {
    this.isDense = wasDense(packed);
    return packed;
  }
}
