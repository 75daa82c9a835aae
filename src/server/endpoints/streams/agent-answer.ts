import type { IncomingMessage } from 'node:http';
import { BytePieces } from '../../../base/machinery/byte-pieces.js';
import { StatusError, type StatusReason } from '../../../base/machinery/status-error.js';

/** Longer error messages of node agents are cut. */
const maxMessageBytes = 2048;
/** Time limit for reading the error message of an agent, in milliseconds. */
const messageMs = 5000;

/** Codes of agents' refusals that are forwarded to clients; all other codes are about this server. */
const reasons: Readonly<Record<number, StatusReason>> = {
  400: 'BadRequest',
  404: 'NotFound',
  409: 'Conflict',
  429: 'TooManyRequests',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** The beginning of a response body, on one line. Closes the response. */
export async function messageOf(answer: IncomingMessage): Promise<string> {
  const pieces = new BytePieces();
  const late = setTimeout(() => answer.destroy(), messageMs);
  try {
    for await (const chunk of answer) {
      pieces.add(chunk as Buffer);
      if (pieces.length >= maxMessageBytes) break;
    }
  } catch {
    // Use the text received so far.
  }
  clearTimeout(late);
  answer.destroy();
  const text = pieces.join().subarray(0, maxMessageBytes).toString('utf8');
  return statusMessage(text) ?? text.trim();
}

/** The error for an agent's refusal to open a stream, with the agent's message. */
export async function refusedStream(answer: IncomingMessage): Promise<StatusError> {
  const code = answer.statusCode ?? 0;
  if (code >= 300 && code < 400) {
    answer.destroy();
    return redirectError();
  }
  const message = await messageOf(answer);
  const reason = reasons[code];
  if (reason !== undefined) return new StatusError(reason, message || `the node agent answered ${code}`);
  return new StatusError('InternalError', `the node agent answered ${code}: ${message}`);
}

/**
 * The error for a redirect: with it, another server could choose where clients or this server send their credentials.
 */
export function redirectError(): StatusError {
  return new StatusError('', 'the backend attempted to redirect this request, which is not permitted', { code: 502 });
}

function statusMessage(text: string): string | undefined {
  try {
    const { kind, message } = JSON.parse(text) as { kind?: unknown; message?: unknown };
    return kind === 'Status' && typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}
