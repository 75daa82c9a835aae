import { Check, pairProblem } from './check.js';
import { Flag } from './flag.js';

/** How requests for group versions of extension servers reach them. */
export class AggregationOptions {
  @Flag({
    name: 'proxy-client-cert-file',
    type: 'string',
    unit: 'file',
    usage:
      'Client certificate in PEM that extension servers know this server by: from an authority of their request-header CA. ' +
      'Read again when it changes. Without one most of them refuse every request.',
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
