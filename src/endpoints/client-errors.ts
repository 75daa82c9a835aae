import type { Socket } from 'node:net';
import { badRequestError, headersTooLargeError, requestHeadTimeoutError } from '../machinery/status-error.js';

/** How long a client may go on sending what nobody reads. */
const lingerMs = 1_000;

const answered = new WeakSet<Socket>();

const phrases: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/**
 * Answers what can't be read as an HTTP/1.1 request, with a `Status` like every other error, and closes the connection:
 * where the next request would begin is unknown.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // The parser complains about the rest as well.
  if (answered.has(socket)) return;
  const current = (socket as Socket & { _httpMessage?: { headersSent?: boolean } | null })._httpMessage;
  // Into an answer that has begun nothing can be written, and a connection that broke takes nothing.
  if (error.code === 'ECONNRESET' || !socket.writable || current?.headersSent === true) {
    socket.destroy();
    return;
  }
  const answer = toAnswer(error.code);
  const body = JSON.stringify(answer.toStatus());
  // What the client still sends is thrown away for a moment: closing with bytes unread would reset the connection, and
  // the client might never see the answer.
  answered.add(socket);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  socket.end(
    `HTTP/1.1 ${answer.code} ${phrases[answer.code]}\r\nCache-Control: no-cache, private\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

function toAnswer(code: string | undefined) {
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLargeError();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return requestHeadTimeoutError();
  return badRequestError('the request is not valid HTTP/1.1');
}
