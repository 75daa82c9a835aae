import { Agent, request } from 'node:https';
import { errorText, StartupError } from '../../../base/machinery/startup-error.js';
import { Sample } from '../../../base/observability/scrape/sample.js';
import { readScrape } from '../../../base/observability/scrape/scrape.js';
import type { ApiAccess, Credentials } from '../../../base/outgoing/api-access.js';
import { tlsOptions } from '../../../base/outgoing/tls-options.js';

const answerMs = 10_000;
const mostBytes = 64 * 1024 * 1024;

/** A response that holds no metrics. */
class Refusal extends Error {
  constructor(readonly status: number) {
    super(refusal(status));
  }
}

/** Reads the metrics of a server. */
export class MetricsClient {
  readonly server: string;

  constructor(private readonly access: ApiAccess) {
    this.server = access.server.replace(/\/$/, '');
  }

  /** @throws StartupError when there is no answer, or another one than metrics */
  async sample(signal: AbortSignal): Promise<Sample> {
    const text = await this.read(signal);
    return new Sample(readScrape(text), performance.now());
  }

  private async read(signal: AbortSignal): Promise<string> {
    const url = `${this.server}/metrics`;
    try {
      const credentials = await this.access.present();
      return await this.readAs(url, credentials, signal).catch(async (error: unknown) => {
        const isRefused = error instanceof Refusal && error.status === 401;
        if (!isRefused || !(await this.access.renew(credentials))) throw error;
        return this.readAs(url, await this.access.present(), signal);
      });
    } catch (error) {
      throw new StartupError(`${url}: ${errorText(error)}`, { cause: error });
    }
  }

  private async readAs(url: string, { tls, authorization }: Credentials, signal: AbortSignal): Promise<string> {
    const agent = new Agent(tlsOptions(tls));
    try {
      return await new Promise<string>((resolve, reject) => {
        const headers = { accept: 'text/plain', ...(authorization === undefined ? {} : { authorization }) };
        const either = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
        const sent = request(url, { agent, headers, signal: either }, (response) => {
          const chunks: Buffer[] = [];
          let size = 0;
          response.on('data', (chunk: Buffer) => {
            size += chunk.length;
            if (size > mostBytes) sent.destroy(new Error(`more than ${mostBytes} bytes of metrics`));
            else chunks.push(chunk);
          });
          response.on('error', reject);
          response.on('end', () => {
            const { statusCode = 0 } = response;
            if (statusCode === 200) resolve(Buffer.concat(chunks).toString('utf8'));
            else reject(new Refusal(statusCode));
          });
        });
        sent.on('error', reject);
        sent.end();
      });
    } finally {
      agent.destroy();
    }
  }
}

function refusal(status: number): string {
  if (status === 401) return 'the server does not accept the credentials of the kubeconfig (401)';
  if (status === 403) return 'this user may not read metrics (403); the group system:monitoring may';
  return `the server answered ${status}`;
}
