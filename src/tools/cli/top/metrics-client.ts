import { Agent, request } from 'node:https';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { Sample } from '../../../base/observability/scrape/sample.js';
import { readScrape } from '../../../base/observability/scrape/scrape.js';
import { ClientConfigError, loadClientConfig } from '../../../base/outgoing/client-config.js';
import { ClientCredentials } from '../../../base/outgoing/client-credentials.js';
import { tlsOptions } from '../../../base/outgoing/tls-options.js';

const answerMs = 10_000;
const mostBytes = 64 * 1024 * 1024;

/** Reads the metrics of the server that a kubeconfig names. */
export class MetricsClient {
  readonly server: string;
  private readonly credentials: ClientCredentials;

  /** @throws StartupError for a file that can't be used */
  constructor(kubeconfig: string) {
    try {
      const config = loadClientConfig(kubeconfig);
      this.server = config.server.replace(/\/$/, '');
      this.credentials = new ClientCredentials(config);
    } catch (error) {
      if (error instanceof ClientConfigError) throw new StartupError(error.message);
      throw error;
    }
  }

  /** @throws StartupError when there is no answer, or another one than metrics */
  async sample(signal: AbortSignal): Promise<Sample> {
    const text = await this.read(signal);
    return new Sample(readScrape(text), performance.now());
  }

  private async read(signal: AbortSignal): Promise<string> {
    const tls = await this.credentials.tls();
    const authorization = await this.credentials.authorization();
    const agent = new Agent(tlsOptions(tls));
    const url = `${this.server}/metrics`;
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
            else reject(new Error(refusal(statusCode)));
          });
        });
        sent.on('error', reject);
        sent.end();
      });
    } catch (error) {
      throw new StartupError(`${url}: ${(error as Error).message}`, { cause: error });
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
