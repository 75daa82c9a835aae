import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { endConnection } from '../../base/machinery/end-connection.js';
import { badRequestError, headersTooLargeError, requestHeadTimeoutError } from '../../base/machinery/status-error.js';
import type { UnreadRequest } from '../audit/auditor.js';
import type { NoteCut } from './connection-cuts.js';

const answered = new WeakSet<Socket>();

const phrases: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/**
 * Responds to requests that are not valid HTTP/1.1 with a `Status`, like every other error, and closes the connection,
 * because the start of the next request can't be found. `note` receives each refusal. A valid request that came before
 * the invalid bytes gets its own response, which is then the last one of the connection.
 */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  note: (refused: UnreadRequest) => void = () => undefined,
  noteCut: NoteCut = () => undefined,
): void {
  // The parser may report further errors in the rest of the bytes.
  if (answered.has(socket)) return;
  const current = (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage;
  // A response that has begun can't become an error, and a broken connection can't be written to.
  if (!isOfHttp(error) || !socket.writable || current?.headersSent === true) {
    // Other errors mean that the client has left, or that the handshake failed.
    if (isOfHttp(error) && socket.writable)
      noteCut('broken-request', { client: socket.remoteAddress, code: error.code });
    socket.destroy();
    return;
  }
  if (current?.req.complete === true) {
    // This request may change something, so its client must learn the result and not read the error as an answer to it.
    current.shouldKeepAlive = false;
    answered.add(socket);
    return;
  }
  const answer = toAnswer(error.code);
  const body = `${JSON.stringify(answer.toStatus())}\n`;
  note({
    raw: { socket: { remoteAddress: socket.remoteAddress } },
    verb: '',
    code: answer.code,
    reason: answer.reason,
  });
  answered.add(socket);
  endConnection(
    socket,
    `HTTP/1.1 ${answer.code} ${phrases[answer.code]}\r\nCache-Control: no-cache, private\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/**
 * Whether the HTTP/1.1 parser or server reports the error, and not the socket or TLS. Node also reports failed and late
 * TLS handshakes this way. Those sockets must not be written to: the text would wait for the end of the handshake. If
 * the client then completes it with HTTP/2, the session writes beside the waiting text, and Node ends the process.
 */
function isOfHttp({ code }: NodeJS.ErrnoException): boolean {
  return code !== undefined && /^(?:HPE_|ERR_HTTP_)/.test(code);
}

function toAnswer(code: string | undefined) {
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLargeError();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return requestHeadTimeoutError();
  return badRequestError('the request is not valid HTTP/1.1');
}
