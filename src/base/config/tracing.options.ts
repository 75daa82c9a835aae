import { Flag } from './flag.js';

/** Where traces go. */
export class TracingOptions {
  @Flag({
    name: 'tracing-config-file',
    type: 'string',
    unit: 'file',
    usage:
      'TracingConfiguration in YAML or JSON: where traces are sent over OTLP, and which share of requests and ' +
      'of runs of loops is traced.',
  })
  readonly tracingConfigFile: string | undefined = undefined;
}
