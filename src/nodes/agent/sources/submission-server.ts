import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { promises as fs } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { BytePieces } from '../../../base/machinery/byte-pieces.js';
import { paceServer } from '../../../base/machinery/pace-server.js';
import { CallSeats } from '../../../base/outgoing/call-seats.js';
import { ManifestError } from './manifest-error.js';
import { readLargeManifest, type StaticPodContext } from './static-pod.js';

const mostBytes = 2 ** 20;

export interface SubmissionDependencies {
  readonly port: number;
  /** The token that clients must show. */
  readonly token: string;
  /** The folder for submitted pods, from which a file source reads them. */
  readonly folder: string;
  readonly context: Omit<StaticPodContext, 'origin'>;
}

class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Accepts pods past the API, from programs on this machine that have the token: `PUT /pods/NAME` with a manifest,
 * `DELETE /pods/NAME`, `GET /pods`.
 */
export class SubmissionServer {
  /** Large manifests take a thread each. */
  private readonly seats = new CallSeats({ calls: 2, waiting: 32 });
  private readonly stopping = new AbortController();

  private constructor(
    private readonly server: Server,
    private readonly dependencies: SubmissionDependencies,
  ) {}

  static async start(dependencies: SubmissionDependencies): Promise<SubmissionServer> {
    await fs.mkdir(dependencies.folder, { recursive: true, mode: 0o700 });
    const server = createServer({ requestTimeout: 10_000 });
    const own = new SubmissionServer(server, dependencies);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void own.answer(request, response));
    paceServer(server);
    server.listen(dependencies.port, '127.0.0.1');
    await once(server, 'listening');
    return own;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const end = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
    try {
      this.check(request);
      const [, what, name = '', more] = new URL(request.url ?? '/', 'http://node').pathname.split('/');
      if (what !== 'pods' || more !== undefined) throw new Refusal(404, 'not found');
      if (name === '') {
        if (request.method !== 'GET') throw new Refusal(405, 'only GET');
        end(200, { pods: (await fs.readdir(this.dependencies.folder)).filter((file) => !file.startsWith('.')) });
        return;
      }
      if (!/^[a-z0-9]([-a-z0-9.]{0,200}[a-z0-9])?$/.test(name)) throw new Refusal(400, 'the path needs a name');
      if (request.method === 'PUT') end(200, await this.put(name, await textOf(request)));
      else if (request.method === 'DELETE') end(200, await this.remove(name));
      else throw new Refusal(405, 'only PUT and DELETE');
    } catch (error) {
      const status = error instanceof Refusal ? error.status : error instanceof ManifestError ? 422 : 500;
      end(status, { message: (error as Error).message });
    }
  }

  /** A web page can't set this header in a request to another site. */
  private check({ headers }: IncomingMessage): void {
    const given = /^bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
    const print = (text: string) => createHash('sha256').update(text).digest();
    if (!timingSafeEqual(print(given), print(this.dependencies.token)))
      throw new Refusal(401, 'the token is missing or wrong');
  }

  private async put(name: string, text: string): Promise<object> {
    const { folder, context } = this.dependencies;
    const reading = this.seats.take(this.stopping.signal, () => readLargeManifest(text, { ...context, origin: name }));
    if (reading === undefined) throw new Refusal(429, 'too many manifests wait to be read');
    const pods = await reading;
    // A reader of the folder must never see an incomplete file.
    const waiting = join(folder, `.${name}.new`);
    await fs.writeFile(waiting, text, { mode: 0o600 });
    await fs.rename(waiting, join(folder, name));
    return { pods: pods.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`) };
  }

  private async remove(name: string): Promise<object> {
    try {
      await fs.unlink(join(this.dependencies.folder, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new Refusal(404, `${name} was not submitted`);
      throw error;
    }
    return { removed: name };
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces = new BytePieces();
  for await (const chunk of request as AsyncIterable<Buffer>) {
    pieces.add(chunk);
    if (pieces.length > mostBytes) throw new Refusal(413, 'the manifest is too large');
  }
  return pieces.join().toString('utf8');
}
