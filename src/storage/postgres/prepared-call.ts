import type { Writable } from 'node:stream';
import type pg from 'pg';
import { freeBuffer } from '../../base/machinery/free-buffer.js';

/** The parts of the driver's connection that its types do not expose. */
interface ConnectionParts {
  readonly stream: Pick<Writable, 'write' | 'writable'>;
  /** The text of each statement that the server has prepared, by name. */
  readonly parsedStatements: Readonly<Record<string, string | undefined>>;
}

/** Bytes are sent in the binary format, everything else as text. */
export type CallValue = string | number | bigint | Buffer | null;

type Row = (string | null)[];
type Callback = (error: Error | null, rows: Row[]) => void;

const messageCode = { parse: 0x50, bind: 0x42, execute: 0x45, sync: 0x53 } as const;
const binary = 1;
/** The memory of a message of this many bytes is freed as soon as the message is sent. */
const longMessage = 64 * 1024;
/** Executes the nameless portal without a limit of rows, and ends the transaction. */
const executeAndSync = Buffer.from([messageCode.execute, 0, 0, 0, 9, 0, 0, 0, 0, 0, messageCode.sync, 0, 0, 0, 4]);

/**
 * One call of a prepared statement, for the driver's queue of queries. The driver's own query asks the server to describe
 * the columns of every call, and makes an object of each column; here the caller knows them, and gets rows of text.
 * Everything goes out in one write.
 *
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY
 */
export class PreparedCall implements pg.Submittable {
  private readonly bind: Buffer;
  private readonly rows: Row[] = [];

  /**
   * @param name of the prepared statement; empty: the statement is prepared for this call only
   * @param callback called once, with all rows or with the driver's error
   */
  constructor(
    readonly name: string,
    readonly text: string,
    values: readonly CallValue[],
    private readonly callback: Callback,
  ) {
    this.bind = bindMessage(name, values);
  }

  /** Called by the driver when it is this call's turn. */
  submit(connection: pg.Connection): void {
    const { stream, parsedStatements } = connection as unknown as ConnectionParts;
    // The driver reports the end of the connection itself.
    if (!stream.writable) return;
    const { name, text, bind } = this;
    const isPrepared = name !== '' && parsedStatements[name] === text;
    const sent = isPrepared ? bind : Buffer.concat([parseMessage(name, text), bind]);
    if (sent.length < longMessage) stream.write(sent);
    else stream.write(sent, () => freeBuffer(sent));
    if (sent !== bind) freeBuffer(bind);
  }

  handleDataRow({ fields }: { readonly fields: Row }): void {
    this.rows.push(fields);
  }

  handleCommandComplete(): void {
    // The count in it is that of the rows.
  }

  handleEmptyQuery(): void {
    // No rows.
  }

  handleError(error: Error): void {
    this.callback(error, []);
  }

  handleReadyForQuery(): void {
    this.callback(null, this.rows);
  }
}

function parseMessage(name: string, text: string): Buffer {
  const length = 4 + Buffer.byteLength(name) + 1 + Buffer.byteLength(text) + 1 + 2;
  const message = Buffer.alloc(1 + length);
  message[0] = messageCode.parse;
  message.writeInt32BE(length, 1);
  const textAt = 5 + message.write(name, 5) + 1;
  message.write(text, textAt);
  // The last two bytes are the number of types that are given, 0.
  return message;
}

/** The messages Bind (with all columns as text), Execute and Sync. */
function bindMessage(name: string, values: readonly CallValue[]): Buffer {
  const encoded = values.map((value) => (value === null || Buffer.isBuffer(value) ? value : String(value)));
  const lengths = encoded.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : (value?.length ?? 0)));
  const nameLength = Buffer.byteLength(name);
  // Length, portal, name, formats of values, values, formats of columns.
  const head = 4 + 1 + nameLength + 1 + 2 + 2 * encoded.length + 2;
  const length = lengths.reduce((sum, each) => sum + 4 + each, head + 2);
  const message = Buffer.allocUnsafe(1 + length + executeAndSync.length);
  message[0] = messageCode.bind;
  message.writeInt32BE(length, 1);
  message[5] = 0;
  message.write(name, 6);
  let at = 6 + nameLength;
  message[at++] = 0;
  at = message.writeInt16BE(encoded.length, at);
  for (const value of encoded) at = message.writeInt16BE(Buffer.isBuffer(value) ? binary : 0, at);
  at = message.writeInt16BE(encoded.length, at);
  for (const [i, value] of encoded.entries()) {
    at = message.writeInt32BE(value === null ? -1 : (lengths[i] as number), at);
    if (typeof value === 'string') at += message.write(value, at);
    else if (value !== null) at += value.copy(message, at);
  }
  at = message.writeInt16BE(0, at);
  executeAndSync.copy(message, at);
  return message;
}
