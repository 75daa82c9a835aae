import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { groupName, type VendorNames } from '../machinery/vendor.js';
import { DocumentError } from './document-error.js';
import { DocumentFields, readDocumentFile } from './document-fields.js';
import { DocumentProblems } from './document-problems.js';
import { environment } from './environment.js';
import { OptionsError } from './options-error.js';

/** Where traces are sent, and which share of requests is traced. */
export interface TracingConfiguration {
  /** `host:port` of a receiver of OTLP over gRPC, `unix:` and a path, or `https://name:port` for one with TLS. */
  readonly endpoint: string;
  /** Number of requests, per million, that start a trace although their client did not. */
  readonly samplingRatePerMillion: number;
}

const defaultEndpoint = 'localhost:4317';
/** Variables of OpenTelemetry that name files for `https://`; those with `TRACES_` take precedence. */
const tlsFiles = ['', 'TRACES_'].flatMap((signal) =>
  ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'].map((file) => `OTEL_EXPORTER_OTLP_${signal}${file}`),
);
const versions = ['v1', 'v1beta1', 'v1alpha1'];

/**
 * Reads the file of `--tracing-config-file`.
 *
 * @throws OptionsError with all problems in it.
 */
export function readTracingConfiguration(file: string, names: VendorNames): TracingConfiguration {
  try {
    const problems = new DocumentProblems();
    const group = groupName('apiserver.config', names);
    const fields = DocumentFields.ofDocument(
      readDocumentFile(file),
      'TracingConfiguration',
      versions.map((version) => `${group}/${version}`),
      problems,
    );
    const endpoint = fields.text('endpoint');
    const rate = fields.number('samplingRatePerMillion') ?? 0;
    if (rate < 0 || rate > 1_000_000) problems.lines.push('samplingRatePerMillion: must be from 0 to 1000000');
    const address = addressOf(endpoint);
    if (address === undefined) {
      problems.lines.push('endpoint: must be host:port, dns://host:port, https://name:port or unix:path');
    }
    problems.lines.push(...unreadableFiles());
    fields.done();
    problems.throwIfAny();
    return { endpoint: address ?? defaultEndpoint, samplingRatePerMillion: rate };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    throw new OptionsError(error.problems.map((problem) => `--tracing-config-file: ${file}: ${problem}`));
  }
}

function addressOf(endpoint: string): string | undefined {
  if (endpoint === '') return defaultEndpoint;
  const [, scheme = '', rest = endpoint] = /^(dns|unix|https):(?:\/\/)?\/?(.*)$/.exec(endpoint) ?? [];
  if (scheme === 'unix') return rest === '' ? undefined : `unix:/${rest}`;
  if (!/^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):\d{1,5}$/.test(rest)) return undefined;
  if (scheme !== 'https') return rest;
  // The library verifies no certificate for an address.
  return isIP(rest.replace(/:\d+$/, '').replace(/[[\]]/g, '')) === 0 ? `https://${rest}` : undefined;
}

/** The tracing library would continue without a file that it can't read. */
function* unreadableFiles(): Generator<string> {
  for (const name of tlsFiles) {
    const path = environment[name]?.trim() ?? '';
    if (path === '') continue;
    try {
      readFileSync(path);
    } catch (error) {
      yield `${name}: ${(error as Error).message}`;
    }
  }
}
