import { badRequestError } from '../../../base/machinery/status-error.js';

/** The name in a proxy path: `name`, `name:port` or `scheme:name:port`. */
export interface ProxyName {
  /** If empty, `http`, or the protocol of a node's agent. */
  readonly scheme: '' | 'http' | 'https';
  readonly name: string;
  /** A number or a name; if empty, the default port. */
  readonly port: string;
}

/** Parses a name; throws a 400 for another form. `kind` is the word for the object in the message. */
export function parseProxyName(kind: string, text: string): ProxyName {
  const parts = text.split(':');
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', ...parts];
  if (parts.length > 3 || name === '' || (scheme !== '' && scheme !== 'http' && scheme !== 'https')) {
    throw badRequestError(`invalid ${kind} request ${JSON.stringify(text)}`);
  }
  return { scheme, name, port };
}

/** The number of a port given as a number; undefined for a name. Throws a 400 for a number that is not a valid port. */
export function portNumber(text: string): number | undefined {
  if (!/^\d+$/.test(text)) return undefined;
  const port = Number(text);
  if (port < 1 || port > 65535) throw badRequestError(`${text} is not a port`);
  return port;
}
