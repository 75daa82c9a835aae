import type { ApiObject } from '../../../base/machinery/api-object.js';
import { likeDurations, shownCell } from '../../../objects/registry/definition/default-columns.js';
import { Since, type TableCell } from '../../../objects/registry/resource-definition.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import { spliceVersion, storedForm } from '../../../objects/registry/store/object-codec.js';
import { parseManagedAsText } from '../../../objects/registry/store/read-managed-text.js';
import type { ByteRange, KeptForms, StoredObject } from '../../../storage/storage.interface.js';
import type { EndpointServices } from '../endpoint-services.js';
import {
  copiedAsParsed,
  findingWork,
  formOf,
  type ItemForm,
  metadataItem,
  type ParseCounter,
  rangeOf,
  shownItem,
} from './item-form.js';
import type { Validity } from './packed-runs.js';
import { servedObject } from './respond.js';
import type { ByteSink } from './run-bytes.js';
import { rowConditions, type TableForm, tableCells } from './transform.js';

/** Encloses a time in kept bytes; JSON contains neither of these characters. */
const timeMark = '\u0000';
/** Separates the parts of a cell with a time. */
const partMark = '\u0001';

/**
 * Writes the row of a stored object in a table. Returns false, and writes nothing, when more than the cells requires
 * parsing the object. All of the row but its ages is kept, unless it contains the whole object: then only the cells are.
 */
export function writeTableRow(
  services: EndpointServices,
  resource: ServedResource,
  item: StoredObject,
  table: TableForm,
  kept: KeptForms | undefined,
  work: ParseCounter,
  sink: ByteSink,
): boolean {
  if (!resource.isStored) return false;
  const now = services.clock.now();
  if (table.include === 'Object') {
    const object = wholeObject(resource, item, work);
    if (object === undefined) return false;
    sink.copyText('{"cells":');
    writeWithAges(shownItem(resource, cellsForm(resource), item, kept, work), now, work.validity, sink);
    sink.copyText(',"object":');
    sink.copyText(object);
    sink.copyText('}');
    return true;
  }
  const form = rowForm(resource, table);
  let row = kept?.find(item, form);
  if (row !== undefined) work.characters += findingWork;
  else {
    const object =
      table.include === 'None' ? 'null' : metadataItem(services, resource, item, table.version, work)?.slice(1);
    if (object === undefined) return false;
    work.characters += item.json.length;
    const bytes = Buffer.from(`{"cells":${keptCells(resource, item)},"object":${object}}`);
    row = kept?.keep(item, form, bytes) ?? rangeOf(bytes);
  }
  writeWithAges(row, now, work.validity, sink);
  return true;
}

/** Only names kept bytes, which are made of more than the object. */
function rowForm(resource: ServedResource, { version, include }: TableForm): object {
  return formOf(resource, `row/${version}/${include}`, () => ({ encode: () => new Uint8Array() }));
}

function cellsForm(resource: ServedResource): ItemForm {
  return formOf(resource, 'cells', () => ({
    encode: (shown) => Buffer.from(keptRow(resource, shown)),
    read: parseManagedAsText,
  }));
}

function keptCells(resource: ServedResource, item: StoredObject): string {
  // Columns of kinds that are not custom, which are read as a whole, show no managers.
  const object = parseManagedAsText(resource, item) ?? servedObject(resource, item);
  return keptRow(resource, object);
}

/** The list of cells and, after it, the conditions if there are any. */
function keptRow(resource: ServedResource, object: ApiObject): string {
  const cells = `[${tableCells(resource, object).map(keptCell).join(',')}]`;
  const conditions = rowConditions(resource, object);
  return conditions === undefined ? cells : `${cells},"conditions":${JSON.stringify(conditions)}`;
}

function wholeObject(resource: ServedResource, item: StoredObject, work: ParseCounter): string | undefined {
  const form = storedForm(resource);
  work.characters += item.json.length / copiedAsParsed;
  return item.json.startsWith(form.prefix) ? spliceVersion(item, form) : undefined;
}

function keptCell(cell: TableCell): string {
  if (!(cell instanceof Since)) return JSON.stringify(cell);
  return timeMark + [cell.time, cell.before, cell.after].join(partMark) + timeMark;
}

/** Writes kept bytes with ages in place of times. */
function writeWithAges(
  { source, start, end }: ByteRange,
  now: number,
  validity: Validity | undefined,
  sink: ByteSink,
): void {
  let from = start;
  const bytes = source.subarray(start, end);
  for (let begin = bytes.indexOf(0); begin >= 0; begin = bytes.indexOf(0, from - start)) {
    const close = bytes.indexOf(0, begin + 1);
    const [time, before, after] = bytes.toString('utf8', begin + 1, close).split(partMark);
    const since = new Since(Number(time), before, after);
    if (validity !== undefined) shorten(validity, since.time, now);
    sink.copyRange(source, from, start + begin);
    sink.copyText(JSON.stringify(shownCell(since, now)));
    from = start + close + 1;
  }
  sink.copyRange(source, from, end);
}

/** Shortens a validity to the time in which the text of {@link shownCell} for a time stays the same. */
function shorten(validity: Validity, time: number, now: number): void {
  const { from, until } = likeDurations(now - time);
  validity.from = Math.max(validity.from, time + from);
  validity.until = Math.min(validity.until, time + until);
}
