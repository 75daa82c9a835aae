import { errorText, StartupError } from '../../../base/machinery/startup-error.js';
import { Sample } from '../../../base/observability/scrape/sample.js';
import { readScrape } from '../../../base/observability/scrape/scrape.js';
import type { ApiAccess, Credentials } from '../../../base/outgoing/api-access.js';
import { httpsRequest } from '../../../base/outgoing/https-request.js';
import { tlsOptions } from '../../../base/outgoing/tls-options.js';

const answerMs = 10_000;
const maxAnswerBytes = 64 * 1024 * 1024;

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
    const { status, text } = await httpsRequest({
      url: new URL(url),
      agent: false,
      tls: tlsOptions(tls),
      headers: { accept: 'text/plain', ...(authorization === undefined ? {} : { authorization }) },
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
      maxAnswerBytes,
    });
    if (status !== 200) throw new Refusal(status);
    return text;
  }
}

function refusal(status: number): string {
  if (status === 401) return 'the server does not accept the credentials of the kubeconfig (401)';
  if (status === 403) return 'this user may not read metrics (403); the group system:monitoring may';
  return `the server answered ${status}`;
}
