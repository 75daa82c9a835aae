import { largeLimits, throwIfLarge } from '../../../base/machinery/large-work.js';
import { longPieces } from '../../../base/machinery/pieces-in-turn.js';
import { tenantOf } from '../../../base/machinery/tenant-of.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import { listItemText, storedForm } from '../../../objects/registry/store/object-codec.js';
import type { StoredObject } from '../../../storage/storage.interface.js';
import type { AcceptedType } from '../negotiation/accept.js';
import { compressionThresholdBytes, wantsGzip } from '../negotiation/compression.js';
import { GzipPieces, type PackedBytes } from '../negotiation/gzip-pieces.js';
import { itemForm, shownItem } from '../negotiation/item-form.js';
import { type EncodeRun, keptRun, packRun, runsOf } from '../negotiation/packed-runs.js';
import { protobufListHead } from '../negotiation/protobuf-answer.js';
import { sendGzipped } from '../negotiation/send-gzipped.js';
import type { ResourceRequest } from '../resource-request.js';
import type { Page } from './list-pages.js';
import { listIdentity, listKind } from './list-writer.js';

/** How many runs are found before other requests have their turn. */
const foundAtOnce = 32;
const comma = Buffer.from(',');

/**
 * Whether a list is put together of runs of items that are compressed once for many lists: if the client accepts
 * compression, the objects are in memory, and their JSON is long enough to be compressed.
 */
export function wantsPackedList({ context, reply }: ResourceRequest, { items, forms }: Page): boolean {
  if (forms === undefined || context.audit?.wantsResponseObject === true) return false;
  if (reply.request.method !== 'GET' || !wantsGzip(reply)) return false;
  let characters = 0;
  for (const { json } of items) {
    characters += json.length;
    if (characters > compressionThresholdBytes) return true;
  }
  return false;
}

/** The beginning of a list in JSON, before its metadata or its items. */
export function storedListHead(resource: ServedResource): string {
  return `{"kind":${JSON.stringify(listKind(resource))},"apiVersion":${JSON.stringify(resource.apiVersion)}`;
}

/** Sends stored JSON, compressed. `metadata` comes first if the first page contains it. */
export async function sendPackedJson(
  request: ResourceRequest,
  first: Page,
  others: AsyncIterable<Page>,
): Promise<void> {
  const form = storedForm(request.resource);
  const itemText = (item: StoredObject): string => {
    const { head, rest } = listItemText(item, form);
    return head + rest;
  };
  const runs = new PackedRuns(request, 'json', (run) => Buffer.from(run.map(itemText).join(',')));
  async function* body(): AsyncGenerator<Buffer> {
    const gzip = new GzipPieces();
    const text = (added: string) => gzip.stored(Buffer.from(added));
    yield gzip.begin();
    const { metadata } = first;
    const shownFirst = metadata === undefined ? '' : `,"metadata":${JSON.stringify(metadata)}`;
    yield text(`${storedListHead(request.resource)}${shownFirst},"items":[`);
    let isFirst = true;
    let last = metadata;
    for await (const page of allPages(first, others)) {
      for await (const run of runs.of(page)) {
        if (!isFirst) yield gzip.stored(comma);
        isFirst = false;
        yield gzip.packed(run);
      }
      last = page.metadata;
    }
    yield text(metadata === undefined ? `],"metadata":${JSON.stringify(last)}}` : ']}');
    yield gzip.end();
  }
  await sendGzipped(request, 'application/json', body());
}

/**
 * Sends all pages of a list as protobuf, compressed. Returns false, and sends nothing, if that is too short to be
 * compressed.
 */
export async function sendPackedProtobuf(
  request: ResourceRequest,
  accepted: AcceptedType,
  pages: readonly Page[],
): Promise<boolean> {
  const { services, resource, context } = request;
  const form = itemForm(services, resource, accepted);
  const packed: PackedBytes[] = [];
  for (const page of pages) {
    for (const { json } of page.items) if (json.length > largeLimits.listItem) throwIfLarge(context, json);
    const bytesOf = (item: StoredObject): Buffer => {
      const { source, start, end } = shownItem(resource, form, item, page.forms, { characters: 0 });
      return source.subarray(start, end);
    };
    const runs = new PackedRuns(request, 'protobuf', (run) => Buffer.concat(run.map(bytesOf)));
    for await (const run of runs.of(page)) packed.push(run);
  }
  const bytes = packed.reduce((sum, { length }) => sum + length, 0);
  if (bytes <= compressionThresholdBytes) return false;
  const identity = listIdentity(services, resource, accepted);
  const head = protobufListHead(identity, services.kinds.listMeta, pages.at(-1)?.metadata, bytes);
  async function* body(): AsyncGenerator<Buffer> {
    const gzip = new GzipPieces();
    yield gzip.begin();
    yield gzip.stored(Buffer.concat([...head]));
    for (const run of packed) yield gzip.packed(run);
    yield gzip.end();
  }
  await sendGzipped(request, accepted.contentType, body());
  return true;
}

async function* allPages(first: Page, others: AsyncIterable<Page>): AsyncGenerator<Page> {
  yield first;
  yield* others;
}

/** The compressed runs of pages, in turns with other requests. */
class PackedRuns {
  private found = 0;

  constructor(
    private readonly request: ResourceRequest,
    private readonly form: string,
    private readonly encode: EncodeRun,
  ) {}

  async *of({ items, forms }: Page): AsyncGenerator<PackedBytes> {
    const { resource, context } = this.request;
    const tenant = tenantOf(context.user?.name ?? '');
    for (const run of runsOf(items)) {
      const kept = keptRun(resource, this.form, run, forms);
      if (kept === undefined || ++this.found % foundAtOnce === 0) await longPieces.turn(tenant);
      yield kept ?? (await packRun(resource, this.form, run, forms, this.encode));
    }
  }
}
