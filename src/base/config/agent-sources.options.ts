import { Max, Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';

function urlProblem(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? undefined : 'must be an http or https URL';
}

function headersProblem(headers: readonly string[]): string | undefined {
  return headers.every((header) => /^[-\w]+:.*$/.test(header)) ? undefined : 'must be headers such as name:value';
}

function positive(value: number): string | undefined {
  return value > 0 ? undefined : 'must be more than 0';
}

/** Pods that reach a node agent without the API (specification 1.8, 8). */
export class AgentSourcesOptions {
  @Flag({
    name: 'pod-manifest-path',
    type: 'string',
    unit: 'path',
    usage:
      'File with pods that this node runs, or folder of such files: JSON or YAML. Files that begin with a dot are not read.',
  })
  readonly podManifestPath: string | undefined = undefined;

  @Flag({
    name: 'file-check-frequency',
    type: 'duration',
    usage: 'How often --pod-manifest-path is read again. Changes that the kernel reports are seen at once.',
  })
  @Check('positive', positive)
  readonly fileCheckFrequencyMs: number = 20_000;

  @Flag({
    name: 'manifest-url',
    type: 'string',
    unit: 'url',
    usage: 'URL with pods that this node runs, in JSON or YAML.',
  })
  @Check('url', urlProblem)
  readonly manifestUrl: string | undefined = undefined;

  @Flag({
    name: 'manifest-url-header',
    type: 'list',
    unit: 'headers',
    secret: true,
    usage: 'Headers for requests to --manifest-url, each name:value.',
  })
  @Check('headers', headersProblem)
  readonly manifestUrlHeader: readonly string[] = [];

  @Flag({ name: 'http-check-frequency', type: 'duration', usage: 'How often --manifest-url is read.' })
  @Check('positive', positive)
  readonly httpCheckFrequencyMs: number = 20_000;

  @Flag({
    name: 'submission-port',
    type: 'int',
    unit: 'port',
    usage: 'Port of 127.0.0.1 where programs of this machine submit pods: PUT /pods/NAME. 0: nowhere.',
  })
  @Min(0, { message: 'must be between 0 and 65535' })
  @Max(65_535, { message: 'must be between 0 and 65535' })
  readonly submissionPort: number = 0;

  @Flag({
    name: 'submission-token-file',
    type: 'string',
    unit: 'file',
    usage: 'File with the bearer token that those programs must show. Needed with --submission-port.',
  })
  readonly submissionTokenFile: string | undefined = undefined;
}
