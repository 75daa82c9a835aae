import { Check } from './check.js';
import { Flag } from './flag.js';

/** How to reach an API server, and as whom. */
export class ApiClientOptions {
  @Flag({
    name: 'kubeconfig',
    type: 'string',
    unit: 'file',
    usage:
      'Server and credentials. The flags for the server, its certificates and the user replace parts of it. ' +
      'Default: KUBECONFIG, except for plinth nodes.',
  })
  readonly kubeconfig: string | undefined = undefined;

  @Flag({
    name: 'context',
    type: 'string',
    unit: 'name',
    usage: 'Context of --kubeconfig to use. Default: its current one.',
  })
  readonly context: string | undefined = undefined;

  @Flag({ name: 'server', type: 'string', unit: 'url', usage: 'Address of the API server: https://host:port.' })
  @Check<string>('url', (text) =>
    URL.canParse(text) && new URL(text).protocol === 'https:' ? undefined : 'must be an https URL',
  )
  readonly server: string | undefined = undefined;

  @Flag({
    name: 'certificate-authority',
    type: 'string',
    unit: 'file',
    usage: "Certificates in PEM that the server's certificate is checked against.",
  })
  readonly certificateAuthority: string | undefined = undefined;

  @Flag({
    name: 'client-certificate',
    type: 'string',
    unit: 'file',
    usage: 'Client certificate in PEM. `plinth nodes` needs that of a user who may impersonate nodes.',
  })
  readonly clientCertificate: string | undefined = undefined;

  @Flag({ name: 'client-key', type: 'string', unit: 'file', usage: 'Private key in PEM of --client-certificate.' })
  readonly clientKey: string | undefined = undefined;

  @Flag({
    name: 'token',
    type: 'string',
    unit: 'text',
    secret: true,
    usage: 'Bearer token of the user, in place of a certificate.',
  })
  readonly token: string | undefined = undefined;
}
