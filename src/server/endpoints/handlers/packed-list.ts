import { largeLimits, throwIfLarge } from '../../../base/machinery/large-work.js';
import { longPieces } from '../../../base/machinery/pieces-in-turn.js';
import { tenantOf } from '../../../base/machinery/tenant-of.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import { listItemText, storedForm } from '../../../objects/registry/store/object-codec.js';
import type { KeptForms, StoredObject } from '../../../storage/storage.interface.js';
import type { AcceptedType } from '../negotiation/accept.js';
import { listKind } from '../negotiation/answer-form.js';
import { compressionThresholdBytes, wantsGzip } from '../negotiation/compression.js';
import { GzipPieces, type PackedBytes } from '../negotiation/gzip-pieces.js';
import { itemForm, type ParseCounter, shownItem } from '../negotiation/item-form.js';
import {
  type EncodedRun,
  keptRun,
  packBytes,
  packRun,
  type Run,
  runsOf,
  wasDense,
} from '../negotiation/packed-runs.js';
import { protobufListHead } from '../negotiation/protobuf-answer.js';
import { servedObject } from '../negotiation/respond.js';
import { sendGzipped } from '../negotiation/send-gzipped.js';
import { tableRow } from '../negotiation/table-row.js';
import { includeObjectOf, type ListMetadata } from '../negotiation/transform.js';
import type { ResourceRequest } from '../resource-request.js';
import type { Page } from './list-pages.js';
import { listIdentity, listParts } from './list-writer.js';

/** How many runs are found before other requests have their turn. */
const foundAtOnce = 32;
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
  const itemText = (item: StoredObject): string => {
    const { head, rest } = listItemText(item, form);
    return head + rest;
  };
  const encode = (run: Run) => ({ plain: Buffer.from(run.map(itemText).join(',')) });
  const runs = new PackedRuns(request, { name: 'json', separator: comma, encode });
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
  const runs = new PackedRuns(request, form);
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

/** A form of lists in which items stand behind each other. */
interface RunForm {
  /** Equal for equal encodings of the same served kind. */
  readonly name: string;
  readonly separator: Buffer;
  readonly encode: (run: Run, forms: KeptForms | undefined) => EncodedRun;
}

/** A form in which what comes before the items may depend on all of them. */
interface WholeForm extends RunForm {
  readonly around: (metadata: ListMetadata, itemBytes: number) => { readonly head: Buffer; readonly tail: Buffer };
}

function protobufForm(request: ResourceRequest, accepted: AcceptedType): WholeForm {
  const { services, resource } = request;
  const form = itemForm(services, resource, accepted);
  const bytesOf = (item: StoredObject, forms: KeptForms | undefined): Buffer => {
    const { source, start, end } = shownItem(resource, form, item, forms, { characters: 0 });
    return source.subarray(start, end);
  };
  const identity = listIdentity(services, resource, accepted);
  const { listMeta } = services.kinds;
  return {
    name: 'protobuf',
    separator: none,
    encode: (run, forms) => ({ plain: Buffer.concat(run.map((item) => bytesOf(item, forms))) }),
    around: (metadata, itemBytes) => ({
      head: Buffer.concat([...protobufListHead(identity, listMeta, metadata, itemBytes)]),
      tail: none,
    }),
  };
}

function tableForm(request: ResourceRequest, accepted: AcceptedType): WholeForm {
  const { services, resource, context } = request;
  const table = { version: accepted.asVersion ?? 'v1', include: includeObjectOf(context.query) };
  const rowOf = (item: StoredObject, forms: KeptForms | undefined, work: ParseCounter): readonly Buffer[] => {
    const row = tableRow(services, resource, item, table, forms, work);
    if (row !== undefined) return row;
    // Ages are in this text, until when they are true is not.
    if (work.validity !== undefined) work.validity.until = Number.NEGATIVE_INFINITY;
    const { items } = listParts(request, accepted, [servedObject(resource, item)], {});
    return [Buffer.from(JSON.stringify(items).slice(1, -1))];
  };
  return {
    name: `table/${table.version}/${table.include}`,
    separator: comma,
    encode: (run, forms) => {
      const validity = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
      const work = { characters: 0, validity };
      const parts: Buffer[] = [];
      for (const item of run) {
        if (parts.length > 0) parts.push(comma);
        for (const part of rowOf(item, forms, work)) parts.push(part);
      }
      return { plain: Buffer.concat(parts), validity };
    },
    around: (metadata) => {
      // The rows are the last member, and still empty.
      const empty = JSON.stringify(listParts(request, accepted, [], metadata).value);
      return { head: Buffer.from(empty.slice(0, -2)), tail: Buffer.from(empty.slice(-2)) };
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
  return (encode(sample, first?.forms).plain.length / sample.length) * count <= compressionThresholdBytes;
}

/** What is true for less time, in milliseconds, is not kept. */
const leastValidity = 5_000;
/** What is not kept is compressed together, about so many bytes at once. */
const joinedBytes = 192 * 1024;

/** The compressed runs of pages, in turns with other requests. */
class PackedRuns {
  private found = 0;
  private isDense = false;

  constructor(
    private readonly request: ResourceRequest,
    private readonly form: RunForm,
  ) {}

  async *of({ items, forms }: Page): AsyncGenerator<PackedBytes> {
    const { resource, context, services } = this.request;
    const { name, separator, encode } = this.form;
    const tenant = tenantOf(context.user?.name ?? '');
    let passing: Buffer[] = [];
    let bytes = 0;
    const packPassing = async (): Promise<PackedBytes> => {
      const joined = Buffer.concat(passing.slice(0, -1));
      passing = [];
      bytes = 0;
      return this.noted(await packBytes(joined, this.isDense));
    };
    for (const run of runsOf(items)) {
      const now = services.clock.now();
      const kept = keptRun(resource, name, run, forms, now);
      if (kept === undefined || ++this.found % foundAtOnce === 0) await longPieces.turn(tenant);
      const encoded = kept === undefined ? encode(run, forms) : undefined;
      if (encoded?.validity !== undefined && encoded.validity.until - now < leastValidity) {
        passing.push(encoded.plain, separator);
        bytes += encoded.plain.length;
        if (bytes >= joinedBytes) yield await packPassing();
        continue;
      }
      if (bytes > 0) yield await packPassing();
      yield kept ?? this.noted(await packRun(resource, name, run, forms, encoded as EncodedRun, this.isDense));
    }
    if (bytes > 0) yield await packPassing();
  }

  private noted(packed: PackedBytes): PackedBytes {
    this.isDense = wasDense(packed);
    return packed;
  }
}
