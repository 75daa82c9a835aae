import { stringifyInSteps } from '../../../base/machinery/json/stringify-in-steps.js';
import { eachInSteps, inTurns, type Steps } from '../../../base/machinery/turns.js';
import { mergeSwagger, type SwaggerParts } from '../../aggregation/swagger-merge.js';
import { swaggerMessage } from './document-messages.js';
import type { SwaggerPiece } from './swagger-document.js';

type Encoder = typeof import('./encode-document.js');

/** Parts of a document in order; an empty part only ends a step. */
export type DocumentContent = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

type Pieces = Iterable<SwaggerPiece> | AsyncIterable<SwaggerPiece>;

/** The pieces, and additions from the documents of other servers. */
export async function mergedPieces(pieces: Pieces, others: readonly SwaggerParts[]): Promise<readonly SwaggerPiece[]> {
  const own = { paths: new Map<string, unknown>(), definitions: new Map<string, unknown>() };
  const merged: SwaggerPiece[] = [];
  for await (const { head, paths = {}, definitions = {} } of pieces) {
    if (head !== undefined) merged.push({ head });
    for (const [path, item] of Object.entries(paths)) own.paths.set(path, item);
    for (const [name, schema] of Object.entries(definitions)) own.definitions.set(name, schema);
  }
  const { paths, definitions } = await inTurns(mergeSwagger(own, others));
  await inTurns(
    eachInSteps(paths, ([path, item]) => {
      merged.push({ paths: { [path]: item } });
    }),
  );
  await inTurns(
    eachInSteps(definitions, ([name, schema]) => {
      merged.push({ definitions: { [name]: schema } });
    }),
  );
  return merged;
}

/** The Swagger document as JSON. The definitions, which are complete only at the end, are kept as JSON until then. */
export async function* swaggerText(pieces: Pieces): AsyncGenerator<string, void, undefined> {
  const waiting: string[] = [];
  let separator = '';
  for await (const { head, paths, definitions } of pieces) {
    if (head !== undefined) yield `{${(yield* membersText(head)).join('')},"paths":{`;
    const schemas = yield* membersText(definitions);
    if (schemas.length > 0 && waiting.length > 0) waiting.push(',');
    for (const schema of schemas) waiting.push(schema);
    const items = yield* membersText(paths);
    if (items.length === 0) continue;
    yield separator;
    yield* items;
    separator = ',';
  }
  yield '},"definitions":{';
  yield* waiting;
  yield '}}';
}

/** The JSON of the members of an object, without the braces; empty for an empty object. */
function* membersText(value: object = {}): Generator<string, readonly string[], undefined> {
  const parts: string[] = [];
  const steps = stringifyInSteps(value, (text) => parts.push(text));
  while (steps.next().done !== true) yield '';
  parts[0] = (parts[0] as string).slice(1);
  parts.push((parts.pop() as string).slice(0, -1));
  return parts.length === 1 && parts[0] === '' ? [] : parts;
}

/** The Swagger document as protobuf. A map is preceded by its length, so its entries are kept until it is complete. */
export async function* swaggerBytes(
  { encodeDocument, encodeEntries, encodeMapStart }: Encoder,
  pieces: Pieces,
): AsyncGenerator<Uint8Array, void, undefined> {
  const waiting = { paths: [] as Uint8Array[], definitions: [] as Uint8Array[] };
  for await (const { head, paths, definitions } of pieces) {
    yield head === undefined ? nothing : yield* bytesInSteps(encodeDocument(swaggerMessage, head));
    for (const [member, value] of Object.entries({ paths, definitions })) {
      if (value === undefined) continue;
      const entries = yield* bytesInSteps(encodeEntries(swaggerMessage, member, value));
      waiting[member as keyof typeof waiting].push(entries);
    }
  }
  for (const member of ['paths', 'definitions'] as const) {
    const length = waiting[member].reduce((sum, entries) => sum + entries.length, 0);
    yield encodeMapStart(swaggerMessage, member, length);
    yield* waiting[member];
  }
}

/** The output of steps. Each step ends with an empty part. */
export function* bytesInSteps(steps: Steps<Uint8Array>): Generator<Uint8Array, Uint8Array, undefined> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    yield nothing;
  }
}

const nothing = new Uint8Array();
