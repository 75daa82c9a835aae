import { isIP } from 'node:net';
import { Max, Min } from 'class-validator';
import { Check, pairProblem } from './check.js';
import { Flag } from './flag.js';

function addressProblem(address: string): string | undefined {
  return isIP(address) === 0 ? 'must be an IP address' : undefined;
}

function modeProblem(mode: string | undefined): string | undefined {
  return mode === undefined || mode === 'AlwaysAllow' || mode === 'Webhook'
    ? undefined
    : 'must be AlwaysAllow or Webhook';
}

function notNegative(value: number): string | undefined {
  return value >= 0 ? undefined : 'must not be negative';
}

/** The server of a node agent, and who may use it (specification 5.7, 8). */
export class AgentServerOptions {
  @Flag({
    name: 'enable-server',
    type: 'bool',
    usage: 'Whether the agent has a server for logs, commands and metrics.',
  })
  readonly enableServer: boolean = true;

  @Flag({ name: 'address', type: 'string', unit: 'address', usage: 'Address that the server of the agent listens on.' })
  @Check('address', addressProblem)
  readonly address: string = '0.0.0.0';

  @Flag({ name: 'port', type: 'int', unit: 'port', usage: 'Port of the server of the agent.' })
  @Min(1, { message: 'must be between 1 and 65535' })
  @Max(65_535, { message: 'must be between 1 and 65535' })
  readonly port: number = 10_250;

  @Flag({
    name: 'healthz-bind-address',
    type: 'string',
    unit: 'address',
    usage: 'Address at which the agent serves its health, without credentials.',
  })
  @Check('address', addressProblem)
  readonly healthzBindAddress: string = '127.0.0.1';

  @Flag({
    name: 'healthz-port',
    type: 'int',
    unit: 'port',
    usage: 'Port of --healthz-bind-address. 0: the agent does not serve its health.',
  })
  @Min(0, { message: 'must be between 0 and 65535' })
  @Max(65_535, { message: 'must be between 0 and 65535' })
  readonly healthzPort: number = 10_248;

  @Flag({
    name: 'tls-cert-file',
    type: 'string',
    unit: 'file',
    usage: 'Serving certificate of the agent in PEM. Default: one that the agent signs itself.',
  })
  @Check('pair', pairProblem('tlsPrivateKeyFile'))
  readonly tlsCertFile: string | undefined = undefined;

  @Flag({ name: 'tls-private-key-file', type: 'string', unit: 'file', usage: 'Private key in PEM of --tls-cert-file.' })
  @Check('pair', pairProblem('tlsCertFile'))
  readonly tlsPrivateKeyFile: string | undefined = undefined;

  @Flag({
    name: 'anonymous-auth',
    type: 'bool',
    usage: 'Whether requests without credentials are those of system:anonymous. Otherwise they are refused.',
  })
  readonly anonymousAuth: boolean = true;

  @Flag({
    name: 'client-ca-file',
    type: 'string',
    unit: 'file',
    usage: 'CA certificates in PEM: client certificates signed by one of them are accepted (CN is user, O are groups).',
  })
  readonly clientCaFile: string | undefined = undefined;

  @Flag({
    name: 'authentication-token-webhook',
    type: 'bool',
    usage: 'Whether the agent asks the API which user a bearer token identifies.',
  })
  readonly authenticationTokenWebhook: boolean = false;

  @Flag({
    name: 'authentication-token-webhook-cache-ttl',
    type: 'duration',
    usage: 'How long the answers of --authentication-token-webhook are kept.',
  })
  @Check('duration', notNegative)
  readonly authenticationTokenWebhookCacheTtlMs: number = 120_000;

  @Flag({
    name: 'authorization-mode',
    type: 'string',
    values: ['AlwaysAllow', 'Webhook'],
    unit: 'mode',
    usage:
      'Who may use the server: everybody (AlwaysAllow), or those to whom the API gives rights on the node (Webhook). Default: ' +
      'AlwaysAllow without --config and Webhook with it.',
  })
  @Check('mode', modeProblem)
  readonly authorizationMode: 'AlwaysAllow' | 'Webhook' | undefined = undefined;

  @Flag({
    name: 'authorization-webhook-cache-authorized-ttl',
    type: 'duration',
    usage: 'How long the agent keeps an answer of the API that allows a request.',
  })
  @Check('duration', notNegative)
  readonly authorizationWebhookCacheAuthorizedTtlMs: number = 300_000;

  @Flag({
    name: 'authorization-webhook-cache-unauthorized-ttl',
    type: 'duration',
    usage: 'How long the agent keeps an answer of the API that does not allow a request.',
  })
  @Check('duration', notNegative)
  readonly authorizationWebhookCacheUnauthorizedTtlMs: number = 30_000;

  @Flag({
    name: 'enable-debugging-handlers',
    type: 'bool',
    usage: 'Whether the server of the agent serves the logs, commands and streams of containers.',
  })
  readonly enableDebuggingHandlers: boolean = true;

  @Flag({
    name: 'streaming-connection-idle-timeout',
    type: 'duration',
    usage: 'Streams without a byte for this long end; 0: never.',
  })
  @Check('duration', notNegative)
  readonly streamingConnectionIdleTimeoutMs: number = 4 * 3_600_000;
}
