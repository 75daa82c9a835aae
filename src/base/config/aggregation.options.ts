import { Check, pairProblem } from './check.js';
import { Flag } from './flag.js';

/** How requests for group versions of extension servers reach them. */
export class AggregationOptions {
  @Flag({
    name: 'proxy-client-cert-file',
    type: 'string',
    unit: 'file',
    usage:
      'Client certificate in PEM with which this server identifies itself to extension servers, signed by ' +
      'their request-header CA. Read again when it changes. Without a certificate, most extension servers ' +
      'refuse every request.',
  })
  @Check('pair', pairProblem('proxyClientKeyFile'))
  readonly proxyClientCertFile: string | undefined = undefined;

  @Flag({
    name: 'proxy-client-key-file',
    type: 'string',
    unit: 'file',
    usage: 'Private key in PEM of --proxy-client-cert-file.',
  })
  @Check('pair', pairProblem('proxyClientCertFile'))
  readonly proxyClientKeyFile: string | undefined = undefined;
}
