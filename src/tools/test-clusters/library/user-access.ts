import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import type { Access, ApiError, KubeconfigSettings, LoadsKubeconfig } from './types.js';

/** The identity of a user towards the server. */
export type Credentials = { readonly certificate: string; readonly privateKey: string } | { readonly token: string };

export interface AccessDependencies {
  readonly url: string;
  /** The certificate authority of the server, in PEM. */
  readonly authority: string;
  readonly credentials: Credentials;
  /** Name of the user in the kubeconfig. */
  readonly name: string;
  /** The folder in which the kubeconfig is written. */
  readonly folder: string;
}

const clusterName = 'plinth';

class Failure extends Error implements ApiError {
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
    readonly body: unknown,
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

/** Access to a cluster as one user. */
export class UserAccess implements Access {
  readonly kubeconfig: string;
  readonly kubeconfigFile: string;
  readonly settings: KubeconfigSettings;
  private agent: Agent | undefined;

  constructor(private readonly dependencies: AccessDependencies) {
    const { url, authority, credentials, name, folder } = dependencies;
    const base64 = (pem: string) => Buffer.from(pem).toString('base64');
    const context = `${name}@${clusterName}`;
    const isToken = 'token' in credentials;
    const { token, certData, keyData } = isToken
      ? { token: credentials.token }
      : { certData: base64(credentials.certificate), keyData: base64(credentials.privateKey) };
    this.settings = {
      clusters: [{ name: clusterName, server: url, caData: base64(authority), skipTLSVerify: false }],
      users: [{ name, ...(token === undefined ? { certData: certData ?? '', keyData: keyData ?? '' } : { token }) }],
      contexts: [{ name: context, cluster: clusterName, user: name }],
      currentContext: context,
    };
    // A kubeconfig is YAML, and JSON is valid YAML.
    this.kubeconfig = `${JSON.stringify(
      {
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: clusterName, cluster: { server: url, 'certificate-authority-data': base64(authority) } }],
        users: [
          { name, user: isToken ? { token } : { 'client-certificate-data': certData, 'client-key-data': keyData } },
        ],
        contexts: [{ name: context, context: { cluster: clusterName, user: name } }],
        'current-context': context,
      },
      undefined,
      2,
    )}\n`;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.kubeconfigFile = join(folder, `${name.replaceAll(/[^\w.-]/g, '_').slice(0, 100)}.kubeconfig`);
    writeFileSync(this.kubeconfigFile, this.kubeconfig, { mode: 0o600 });
  }

  loadInto<Config extends LoadsKubeconfig>(config: Config): Config {
    config.loadFromString(this.kubeconfig);
    return config;
  }

  async request<Answer>(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const { credentials, authority, url } = this.dependencies;
    const isToken = 'token' in credentials;
    this.agent ??= new Agent({
      keepAlive: true,
      ca: authority,
      ...(isToken ? {} : { cert: credentials.certificate, key: credentials.privateKey }),
    });
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const { status, answer } = await new Promise<{ readonly status: number; readonly answer: string }>(
      (resolve, reject) => {
        const sent = request(
          new URL(path, url),
          {
            method,
            agent: this.agent,
            headers: {
              accept: 'application/json',
              ...(text === undefined ? {} : { 'content-type': 'application/json' }),
              ...(isToken ? { authorization: `Bearer ${credentials.token}` } : {}),
              ...headers,
            },
          },
          (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk: Buffer) => chunks.push(chunk));
            response.on('error', reject);
            response.on('end', () =>
              resolve({ status: response.statusCode ?? 0, answer: Buffer.concat(chunks).toString('utf8') }),
            );
          },
        );
        sent.on('error', reject);
        sent.end(text);
      },
    );
    const value = parsed(answer);
    if (status >= 200 && status < 300) return value as Answer;
    const { reason = '', message = `${method} ${path}: the server answered ${status}` } = (
      typeof value === 'object' && value !== null ? value : {}
    ) as Partial<Record<'reason' | 'message', string>>;
    throw new Failure(status, reason, message, value);
  }

  /** Closes the connections of this access. */
  close(): void {
    this.agent?.destroy();
    this.agent = undefined;
  }
}

/** The parsed response if it is JSON, else the response as a string: health checks respond in plain text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
