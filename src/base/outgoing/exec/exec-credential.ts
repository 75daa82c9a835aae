import { parseTime } from '../../machinery/values/time.js';
import { readYaml } from '../../machinery/yaml/read-yaml.js';
import { checkClientTls } from '../client-config.js';
import { type ClientConfigEntry, isEntry } from '../client-config-document.js';
import type { ExecPlugin } from './exec-plugin.js';
import { ExecPluginError } from './exec-plugin-error.js';

/** The credentials that a plugin returned. */
export interface ExecCredential {
  /** The content of the Authorization header. */
  readonly authorization: string | undefined;
  /** PEM of the client certificate and its key; both or none. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Milliseconds since the epoch; undefined if the credentials do not expire. */
  readonly expiresAt: number | undefined;
}

/** Characters allowed in a header. */
const tokenForm = /^[\x21-\x7e]+$/;

/**
 * Reads the `ExecCredential` that a plugin printed.
 *
 * @throws ExecPluginError that describes the problem, and never quotes the output: it holds secrets
 */
export function readExecCredential(text: string, plugin: ExecPlugin): ExecCredential {
  const problem = (fault: string) => new ExecPluginError(plugin, fault);
  const status = statusOf(text, plugin, problem);
  const token = secretOf(status, 'token', problem);
  const cert = secretOf(status, 'clientCertificateData', problem);
  const key = secretOf(status, 'clientKeyData', problem);
  if ((cert === undefined) !== (key === undefined)) {
    throw problem('its status has only one of clientCertificateData and clientKeyData');
  }
  if (token === undefined && cert === undefined) {
    throw problem('its status has neither a token nor a client certificate with its key');
  }
  if (token !== undefined && !tokenForm.test(token)) throw problem('its token has characters that no token has');
  checkClientTls({ ca: undefined, cert, key, serverName: undefined, insecureSkipVerify: false }, problem);
  const authorization = token === undefined ? undefined : `Bearer ${token}`;
  return { authorization, cert, key, expiresAt: endOf(status, problem) };
}

type Fault = (text: string) => ExecPluginError;

function statusOf(text: string, { apiVersion }: ExecPlugin, problem: Fault): ClientConfigEntry {
  let printed: unknown;
  try {
    printed = readYaml(text);
  } catch {
    throw problem('its output is not JSON');
  }
  if (!isEntry(printed) || printed.kind !== 'ExecCredential') throw problem('its output is not an ExecCredential');
  if (printed.apiVersion !== apiVersion) {
    const given = typeof printed.apiVersion === 'string' ? JSON.stringify(printed.apiVersion) : 'none';
    throw problem(`its output is an ExecCredential of version ${given}, and the kubeconfig names ${apiVersion}`);
  }
  if (!isEntry(printed.status)) throw problem('its ExecCredential has no status');
  return printed.status;
}

function secretOf(status: ClientConfigEntry, field: string, problem: Fault): string | undefined {
  const value = status[field] ?? '';
  if (typeof value !== 'string') throw problem(`${field} of its status must be a string`);
  return value === '' ? undefined : value;
}

function endOf({ expirationTimestamp }: ClientConfigEntry, problem: Fault): number | undefined {
  if (expirationTimestamp === undefined || expirationTimestamp === null) return undefined;
  try {
    return parseTime(String(expirationTimestamp));
  } catch {
    throw problem('expirationTimestamp of its status must be a time as in RFC 3339');
  }
}
