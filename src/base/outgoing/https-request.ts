import type { IncomingHttpHeaders } from 'node:http';
import { type Agent, type RequestOptions, request } from 'node:https';
import { BytePieces } from '../machinery/byte-pieces.js';
import { AnswerSizeError } from './answer-size-error.js';
import { isReset } from './is-reset.js';
import { paceAnswer } from './pace-answer.js';

/** One HTTPS request whose whole response is read. Redirects are not followed, and no proxy is used. */
export interface HttpsRequest {
  readonly url: URL;
  /** Default: GET. */
  readonly method?: 'GET' | 'POST';
  /** `false` makes a connection for this request alone. */
  readonly agent: Agent | false;
  /** How the server is verified and the client identified, if the agent does not define that. */
  readonly tls?: RequestOptions;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Aborts the request and its response; the promise is then rejected with an error whose name is `AbortError`. */
  readonly signal: AbortSignal;
  /** Longer responses fail with {@link AnswerSizeError}. */
  readonly maxAnswerBytes: number;
}

/** The response, whatever its status. */
export interface HttpsAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body, read as UTF-8. */
  readonly text: string;
}

/** The most informational responses that are accepted; servers send a few at most. */
const maxInformational = 32;
/** An agent keeps fewer unused connections, and all of them may be closed by the time that a busy process uses one. */
const mostAttempts = 32;

/**
 * Sends a request and reads the response. A request on a kept-alive connection that the server closed just then is sent
 * again, on another connection.
 *
 * @throws AnswerSizeError; the error of the connection, or of the abort
 */
export function httpsRequest(asked: HttpsRequest): Promise<HttpsAnswer> {
  return attempt(asked, mostAttempts);
}

function attempt(asked: HttpsRequest, attempts: number): Promise<HttpsAnswer> {
  const { url, method = 'GET', agent, tls, body, signal, maxAnswerBytes } = asked;
  const headers = { ...asked.headers, ...(body === undefined ? {} : { 'content-length': body.length }) };
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const sent = request(url, { ...tls, method, agent, headers, signal }, (response) => {
      isAnswered = true;
      paceAnswer(response);
      const status = response.statusCode ?? 0;
      const pieces = new BytePieces();
      response.on('data', (chunk: Buffer) => {
        if (pieces.length + chunk.length <= maxAnswerBytes) pieces.add(chunk);
        else {
          reject(new AnswerSizeError(status, maxAnswerBytes));
          sent.destroy();
        }
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status, headers: response.headers, text: pieces.join().toString('utf8') }));
    });
    let informational = 0;
    sent.on('information', () => {
      informational++;
      if (informational > maxInformational) sent.destroy(new Error('too many informational responses'));
    });
    // Without a listener, an upgrade that was not requested ends the request without a response or an error.
    sent.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, headers: {}, text: '' });
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed the kept-alive connection just when it was used, which does not mean that it is down.
      const isStale = !isAnswered && sent.reusedSocket && isReset(error);
      if (isStale && attempts > 1 && !signal.aborted) attempt(asked, attempts - 1).then(resolve, reject);
      else reject(error);
    });
    sent.end(body);
  });
}
