import { ApiFault } from './api-fault.js';
import { basePath } from './base-path.js';
import { LinePieces } from './line-pieces.js';

export interface CallOptions {
  readonly method?: string;
  readonly accept?: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
}

/** Sends a request; tests replace it. */
export type Send = (path: string, init: RequestInit) => Promise<Response>;

interface StatusBody {
  readonly message?: unknown;
  readonly reason?: unknown;
  readonly details?: { readonly causes?: readonly { readonly field?: string; readonly message?: string }[] };
}

/** Requests to the console, which passes them on with the credentials of the session. */
export class Api {
  constructor(
    private readonly key: () => string | undefined,
    private readonly loggedOut: (why: string) => void,
    private readonly send: Send = (path, init) => fetch(`${basePath}${path}`, init),
  ) {}

  async text(path: string, options: CallOptions = {}): Promise<string> {
    const response = await this.call(path, options);
    return response.text();
  }

  async json<T>(path: string, options: CallOptions = {}): Promise<T> {
    return JSON.parse(await this.text(path, options)) as T;
  }

  /**
   * The lines of a response, as they arrive. Ends with the response; throws an {@link ApiFault} when the connection
   * breaks.
   *
   * @param mostLetters of a line; the rest of a longer one is left out
   */
  async *lines(path: string, options: CallOptions = {}, mostLetters?: number): AsyncGenerator<string> {
    const response = await this.call(path, options);
    const reader = response.body?.getReader();
    if (reader === undefined) return;
    const decoder = new TextDecoder();
    const lines = new LinePieces(mostLetters);
    try {
      for (;;) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          throw new ApiFault(0, (error as Error).message);
        });
        if (done) return;
        for (const line of lines.add(decoder.decode(value, { stream: true }))) if (line !== '') yield line;
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
  }

  protected async call(path: string, options: CallOptions): Promise<Response> {
    checkPath(path);
    const { method = 'GET', accept = 'application/json', body, contentType = 'application/json', signal } = options;
    const key = this.key();
    const headers: Record<string, string> = { accept };
    if (key !== undefined) headers['x-plinth-console'] = key;
    if (body !== undefined) headers['content-type'] = contentType;
    let response: Response;
    try {
      response = await this.send(path, {
        method,
        headers,
        credentials: 'same-origin',
        redirect: 'error',
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw new ApiFault(0, `the console can't be reached: ${(error as Error).message}`);
    }
    if (response.ok) return response;
    const fault = await faultOf(response);
    // A server behind the API may answer 401 as well; that is one fault among others.
    if (response.headers.get('x-plinth-session') === 'none' && key !== undefined) this.loggedOut(fault.message);
    throw fault;
  }
}

/**
 * Browsers take dots between slashes, also encoded ones, for steps up: what an address calls `..` would be a request about
 * something else.
 *
 * @throws ApiFault
 */
export function checkPath(path: string): void {
  if (/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path.split('?', 1)[0] ?? '')) {
    throw new ApiFault(400, 'nothing has dots alone for its name');
  }
}

async function faultOf(response: Response): Promise<ApiFault> {
  const text = await response.text().catch(() => '');
  try {
    return statusFault(response.status, JSON.parse(text) as StatusBody);
  } catch {
    return new ApiFault(response.status, text.slice(0, 300) || `the server answered ${response.status}`);
  }
}

/** The error that a Status describes. */
export function statusFault(code: number, { message, reason, details }: StatusBody): ApiFault {
  const causes = (details?.causes ?? []).map(({ field, message: what = '' }) => (field ? `${field}: ${what}` : what));
  const text = typeof message === 'string' ? message : `the server answered ${code}`;
  return new ApiFault(code, text, causes, typeof reason === 'string' ? reason : '');
}
