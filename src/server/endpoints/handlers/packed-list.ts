import { largeLimits, throwIfLarge } from '../../../base/machinery/large-work.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import { listItemText, storedForm } from '../../../objects/registry/store/object-codec.js';
import type { KeptForms, StoredObject } from '../../../storage/storage.interface.js';
import type { AcceptedType } from '../negotiation/accept.js';
import { listKind } from '../negotiation/answer-form.js';
import { compressionThresholdBytes, wantsGzip } from '../negotiation/compression.js';
import { GzipPieces, type PackedBytes } from '../negotiation/gzip-pieces.js';
import { itemForm, type ParseCounter, shownItem } from '../negotiation/item-form.js';
import type { Run } from '../negotiation/packed-runs.js';
import { protobufListHead } from '../negotiation/protobuf-answer.js';
import { servedObject } from '../negotiation/respond.js';
import { type ByteSink, RunBytes } from '../negotiation/run-bytes.js';
import { sendGzipped } from '../negotiation/send-gzipped.js';
import { writeTableRow } from '../negotiation/table-row.js';
import { includeObjectOf, type ListMetadata } from '../negotiation/transform.js';
import type { ResourceRequest } from '../resource-request.js';
import type { Page } from './list-pages.js';
import { listIdentity, listParts } from './list-writer.js';
import { type RunForm, RunPacker } from './run-packer.js';

const comma = Buffer.from(',');
const none = Buffer.alloc(0);

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
  return `{"kind":${JSON.stringify(listKind(resource.definition))},"apiVersion":${JSON.stringify(resource.apiVersion)}`;
}

/** Sends stored JSON, compressed. `metadata` comes first if the first page contains it. */
export async function sendPackedJson(
  request: ResourceRequest,
  first: Page,
  others: AsyncIterable<Page>,
): Promise<void> {
  const form = storedForm(request.resource);
  const encode = (run: Run, _forms: KeptForms | undefined, sink: ByteSink) => {
    let separator = '';
    for (const item of run) {
      const { head, rest } = listItemText(item, form);
      sink.copyText(separator + head);
      sink.copyText(rest);
      separator = ',';
    }
    return undefined;
  };
  const runs = new RunPacker(request, { name: 'json', separator: comma, encode });
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
    yield text(metadata === undefined ? `],"metadata":${JSON.stringify(last)}}\n` : ']}\n');
    yield gzip.end();
  }
  await sendGzipped(request, 'application/json', body());
}

async function* allPages(first: Page, others: AsyncIterable<Page>): AsyncGenerator<Page> {
  yield first;
  yield* others;
}

/**
 * Sends all pages of a list in another form, compressed, if it has a form that can be put together. Returns false, and
 * sends nothing, if it has none, or would be too short to be compressed.
 */
export async function sendPackedForm(
  request: ResourceRequest,
  accepted: AcceptedType,
  pages: readonly Page[],
): Promise<boolean> {
  const { context } = request;
  for (const { items } of pages) {
    for (const { json } of items) if (json.length > largeLimits.listItem) throwIfLarge(context, json);
  }
  const form = accepted.as === 'Table' ? tableForm(request, accepted) : protobufForm(request, accepted);
  if (seemsShort(form, pages)) return false;
  const runs = new RunPacker(request, form);
  const packed: PackedBytes[] = [];
  for (const page of pages) for await (const run of runs.of(page)) packed.push(run);
  const bytes = packed.reduce((sum, { length }) => sum + length, 0);
  if (bytes <= compressionThresholdBytes) return false;
  const { head, tail } = form.around(pages.at(-1)?.metadata as ListMetadata, bytes);
  async function* body(): AsyncGenerator<Buffer> {
    const gzip = new GzipPieces();
    yield gzip.begin();
    yield gzip.stored(head);
    for (const [i, run] of packed.entries()) {
      if (i > 0 && form.separator.length > 0) yield gzip.stored(form.separator);
      yield gzip.packed(run);
    }
    yield gzip.stored(tail);
    yield gzip.end();
  }
  await sendGzipped(request, accepted.contentType, body());
  return true;
}

/** A form in which what comes before the items may depend on all of them. */
interface WholeForm extends RunForm {
  readonly around: (metadata: ListMetadata, itemBytes: number) => { readonly head: Buffer; readonly tail: Buffer };
}

function protobufForm(request: ResourceRequest, accepted: AcceptedType): WholeForm {
  const { services, resource } = request;
  const form = itemForm(services, resource, accepted);
  const identity = listIdentity(services, resource, accepted);
  const { listMeta } = services.kinds;
  return {
    name: 'protobuf',
    separator: none,
    encode: (run, forms, sink) => {
      for (const item of run) {
        const { source, start, end } = shownItem(resource, form, item, forms, { characters: 0 });
        sink.copyRange(source, start, end);
      }
      return undefined;
    },
    around: (metadata, itemBytes) => ({
      head: Buffer.concat([...protobufListHead(identity, listMeta, metadata, itemBytes)]),
      tail: none,
    }),
  };
}

function tableForm(request: ResourceRequest, accepted: AcceptedType): WholeForm {
  const { services, resource, context } = request;
  const table = { version: accepted.asVersion ?? 'v1', include: includeObjectOf(context.query) };
  const writeRow = (
    item: StoredObject,
    forms: KeptForms | undefined,
    work: Required<ParseCounter>,
    sink: ByteSink,
  ): void => {
    if (writeTableRow(services, resource, item, table, forms, work, sink)) return;
    // Ages are in this text, until when they are true is not.
    work.validity.until = Number.NEGATIVE_INFINITY;
    const { items } = listParts(request, accepted, [servedObject(resource, item)], {});
    sink.copyText(JSON.stringify(items).slice(1, -1));
  };
  return {
    name: `table/${table.version}/${table.include}`,
    separator: comma,
    encode: (run, forms, sink) => {
      const validity = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
      const work = { characters: 0, validity };
      for (const [i, item] of run.entries()) {
        if (i > 0) sink.copyText(',');
        writeRow(item, forms, work, sink);
      }
      return validity;
    },
    around: (metadata) => {
      // The rows are the last member, and still empty.
      const empty = JSON.stringify(listParts(request, accepted, [], metadata).value);
      return { head: Buffer.from(empty.slice(0, -2)), tail: Buffer.from(`${empty.slice(-2)}\n`) };
    },
  };
}

/** Items whose encoded length stands for that of all. */
const sampled = 8;
/** JSON of this many bytes is certainly long enough in the other forms, too. */
const certainlyLong = 16 * compressionThresholdBytes;

/** Whether a list would most likely be too short to be compressed. */
function seemsShort({ encode }: RunForm, pages: readonly Page[]): boolean {
  let characters = 0;
  let count = 0;
  for (const { items } of pages) {
    count += items.length;
    for (const { json } of items) characters += json.length;
  }
  if (characters >= certainlyLong) return false;
  const [first] = pages;
  const sample = first?.items.slice(0, sampled) ?? [];
  if (sample.length === 0) return true;
  const encoded = new RunBytes();
  encode(sample, first?.forms, encoded);
  return (encoded.length / sample.length) * count <= compressionThresholdBytes;
}
