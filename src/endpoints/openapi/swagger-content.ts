import { mergeSwagger, type SwaggerParts } from '../../aggregation/swagger-merge.js';
import type { Steps } from '../../machinery/turns.js';
import { swaggerMessage } from './document-messages.js';
import type { SwaggerPiece } from './swagger-document.js';

type Encoder = typeof import('./encode-document.js');

/** Parts of a document in their order; an empty one only ends a step. */
export type DocumentContent = Iterable<string | Uint8Array>;

/** The pieces together with what the documents of other servers add. */
export function* mergedPieces(
  pieces: Iterable<SwaggerPiece>,
  others: readonly SwaggerParts[],
): Steps<readonly SwaggerPiece[]> {
  const own = { paths: new Map<string, unknown>(), definitions: new Map<string, unknown>() };
  const merged: SwaggerPiece[] = [];
  for (const { head, paths = {}, definitions = {} } of pieces) {
    if (head !== undefined) merged.push({ head });
    for (const [path, item] of Object.entries(paths)) own.paths.set(path, item);
    for (const [name, schema] of Object.entries(definitions)) own.definitions.set(name, schema);
    yield;
  }
  const { paths, definitions } = yield* mergeSwagger(own, others);
  for (const [path, item] of paths) {
    merged.push({ paths: { [path]: item } });
    yield;
  }
  for (const [name, schema] of definitions) {
    merged.push({ definitions: { [name]: schema } });
    yield;
  }
  return merged;
}

/** The document as JSON. The definitions, which are known last, wait as text. */
export function* swaggerText(pieces: Iterable<SwaggerPiece>): Generator<string, void, undefined> {
  const waiting: string[] = [];
  let separator = '';
  for (const { head, paths, definitions } of pieces) {
    if (head !== undefined) yield `{${membersText(head)},"paths":{`;
    const schemas = membersText(definitions);
    if (schemas !== '') waiting.push(schemas);
    const items = membersText(paths);
    if (items === '') yield '';
    else {
      yield separator + items;
      separator = ',';
    }
  }
  yield '},"definitions":{';
  for (const [i, schemas] of waiting.entries()) yield i === 0 ? schemas : `,${schemas}`;
  yield '}}';
}

function membersText(value: object = {}): string {
  return JSON.stringify(value).slice(1, -1);
}

/** The document as protobuf. A map has its length in front, so all of it waits. */
export function* swaggerBytes(
  { encodeDocument, encodeEntries, encodeMapStart }: Encoder,
  pieces: Iterable<SwaggerPiece>,
): Generator<Uint8Array, void, undefined> {
  const waiting = { paths: [] as Uint8Array[], definitions: [] as Uint8Array[] };
  for (const { head, paths, definitions } of pieces) {
    yield head === undefined ? nothing : encodeDocument(swaggerMessage, head);
    if (paths !== undefined) waiting.paths.push(encodeEntries(swaggerMessage, 'paths', paths));
    if (definitions !== undefined) waiting.definitions.push(encodeEntries(swaggerMessage, 'definitions', definitions));
  }
  for (const member of ['paths', 'definitions'] as const) {
    const length = waiting[member].reduce((sum, entries) => sum + entries.length, 0);
    yield encodeMapStart(swaggerMessage, member, length);
    yield* waiting[member];
  }
}

const nothing = new Uint8Array();
