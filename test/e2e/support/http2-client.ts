import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';

export interface Http2Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A client with one HTTP/2 connection. */
export class Http2Client {
  private constructor(
    readonly session: ClientHttp2Session,
    private readonly token: string,
  ) {}

  static async connect(url: string, ca: string, token: string): Promise<Http2Client> {
    const session = connect(url, { ca, maxSendHeaderBlockLength: 1 << 20 });
    // Errors are reported to every caller with a request under way.
    session.on('error', () => undefined);
    await new Promise<void>((resolve, reject) => {
      session.once('remoteSettings', () => resolve());
      session.once('error', reject);
    });
    return new Http2Client(session, token);
  }

  /** Opens a stream without sending any of the body. */
  open(method: string, path: string, headers: OutgoingHttpHeaders = {}, endStream = true): ClientHttp2Stream {
    return this.session.request(
      { ':method': method, ':path': path, authorization: `Bearer ${this.token}`, 'user-agent': 'e2e/1.0', ...headers },
      { endStream },
    );
  }

  /** Sends one complete request. Rejects when the stream is reset or the connection ends. */
  async send(
    method: string,
    path: string,
    headers: OutgoingHttpHeaders = {},
    body?: string | Buffer,
  ): Promise<Http2Response> {
    const stream = this.open(method, path, headers, body === undefined);
    const answer = responseOf(stream);
    if (body !== undefined) stream.end(body);
    const received = await answer;
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    return { status: Number(received[':status']), headers: received, body: Buffer.concat(chunks) };
  }

  async close(): Promise<void> {
    if (this.session.destroyed) return;
    const closed = new Promise<void>((resolve) => this.session.once('close', () => resolve()));
    this.session.destroy();
    await closed;
  }
}

/** The headers of the answer. Rejects when the stream ends without any. */
export function responseOf(stream: ClientHttp2Stream): Promise<IncomingHttpHeaders> {
  return new Promise((resolve, reject) => {
    stream.once('response', resolve);
    stream.once('error', reject);
    stream.once('close', () => reject(new Error(`the stream was closed without an answer (code ${stream.rstCode})`)));
  });
}
