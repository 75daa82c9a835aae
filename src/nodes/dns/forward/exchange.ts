import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { headerBytes } from '../wire/query.js';

/** A name server to which queries are forwarded. */
export interface UpstreamServer {
  readonly address: string;
  readonly port: number;
}

/**
 * Sends a query to a name server over UDP, from a random port, so that nobody can guess where a forged response must
 * go. Messages that do not answer this query are ignored.
 *
 * @throws Error when the server refuses, or the signal aborts
 */
export function askOverUdp(query: Buffer, { address, port }: UpstreamServer, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    let isOver = false;
    const end = (finish: () => void) => {
      if (isOver) return;
      isOver = true;
      signal.removeEventListener('abort', giveUp);
      socket.close();
      finish();
    };
    const giveUp = () => end(() => reject(new Error(`${address} did not answer in time`)));
    signal.addEventListener('abort', giveUp, { once: true });
    socket.once('error', (error) => end(() => reject(error)));
    socket.on('message', (message) => {
      if (isAnswerTo(query, message)) end(() => resolve(message));
    });
    // The kernel then delivers packets of this server only.
    socket.connect(port, address, () => {
      if (!isOver) socket.send(query);
    });
  });
}

/** Like {@link askOverUdp}, over TCP. */
export function askOverTcp(query: Buffer, { address, port }: UpstreamServer, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, signal });
    let received = Buffer.alloc(0);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error(`${address} ended the connection`)));
    socket.once('connect', () => socket.write(withLength(query)));
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const message = received.subarray(2, 2 + received.readUInt16BE(0));
      if (isAnswerTo(query, message)) resolve(message);
      else reject(new Error(`${address} answered something else`));
      socket.destroy();
    });
  });
}

/** A message as TCP carries it. */
export function withLength(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

function isAnswerTo(query: Buffer, message: Buffer): boolean {
  if (message.length < headerBytes || message.readUInt16BE(0) !== query.readUInt16BE(0)) return false;
  if ((message.readUInt16BE(2) & 0x8000) === 0) return false;
  // Some servers omit the question in errors.
  if (message.readUInt16BE(4) === 0) return (message.readUInt16BE(2) & 15) !== 0;
  const end = questionEnd(query);
  return message.length >= end && sameLetters(query, message, headerBytes, end);
}

/** The end of the question of a query, which was parsed before. */
function questionEnd(query: Buffer): number {
  let offset = headerBytes;
  while (query[offset] !== 0 && offset < query.length) offset += 1 + (query[offset] ?? 0);
  return offset + 5;
}

function sameLetters(one: Buffer, other: Buffer, start: number, end: number): boolean {
  const text = (message: Buffer) => message.toString('latin1', start, end).toLowerCase();
  return text(one) === text(other);
}
