import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { fileProblem, waitsForWriter } from '../machinery/file-problem.js';
import { readYaml } from '../machinery/yaml/read-yaml.js';

/** How to verify the other side, and the credentials of this side. All texts are PEM. */
export interface ClientTls {
  /** Authorities for the server's certificate; undefined: those of the host. */
  readonly ca: string | undefined;
  /** Certificate chain and key of this side; both or none. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Name to expect in the server's certificate; undefined: the host of the address. */
  readonly serverName: string | undefined;
  /** Accepts any certificate: the connection is encrypted, but the other side is not verified. */
  readonly insecureSkipVerify: boolean;
}

/**
 * The content of the Authorization header. A token file is read again while the process runs, since tokens get renewed.
 */
export type ClientAuth =
  | { readonly kind: 'none' }
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'bearerFile'; readonly path: string }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string };

/** One remote service and this side's credentials for it. */
export interface ClientConfig {
  /** Always https. May have a path and a query. */
  readonly server: string;
  readonly tls: ClientTls;
  readonly auth: ClientAuth;
  /** The files of `ca`, `cert` and `key`, if they are in files of their own. */
  readonly files: ClientTlsFiles;
}

/** Paths of PEM files. */
export interface ClientTlsFiles {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** A fault in a client configuration. The message names the file and the field, never a secret value. */
export class ClientConfigError extends Error {}

/** An object of the file. */
export type ClientConfigEntry = Readonly<Record<string, unknown>>;

/**
 * Reads a client configuration (the format of kubectl's own file). The cluster of the current context, or of the one that
 * is named, is the remote service; its user is this process (specification 5.2). Paths in it are relative to the file.
 *
 * Throws {@link ClientConfigError} for an unusable configuration: an address that is not https, certificates that don't
 * belong together, or ways to get credentials that a server does not offer (plugins that run commands, proxies,
 * impersonation).
 */
export function loadClientConfig(path: string, contextName?: string): ClientConfig {
  const problem = (text: string) => new ClientConfigError(`${path}: ${text}`);
  const root = readClientConfigRoot(path, problem);
  const context = currentContext(root, problem, contextName);
  const userName = textOf(context, 'user', problem);
  const user = userName === '' ? {} : namedEntry(root, 'users', 'user', userName, problem);
  const folder = dirname(path);
  const own = readUser(user, folder, problem);
  const cluster = readCluster(root, context, folder, problem);
  const { ca, serverName, insecureSkipVerify } = cluster.tls;
  const tls: ClientTls = { ...own.tls, ca, serverName, insecureSkipVerify };
  return Object.freeze({
    server: cluster.server,
    tls: Object.freeze(tls),
    auth: own.auth,
    files: Object.freeze({ ...own.files, ...cluster.files }),
  });
}

/**
 * Reads the cluster of the current context: where it is and how to verify it, without anybody's credentials. The users of the
 * file are not looked at.
 *
 * @throws ClientConfigError as {@link loadClientConfig}
 */
export function loadClientCluster(path: string): Omit<ClientConfig, 'auth'> {
  const problem = (text: string) => new ClientConfigError(`${path}: ${text}`);
  const root = readClientConfigRoot(path, problem);
  return readCluster(root, currentContext(root, problem), dirname(path), problem);
}

function readCluster(
  root: ClientConfigEntry,
  context: ClientConfigEntry,
  folder: string,
  problem: Problem,
): Omit<ClientConfig, 'auth'> {
  const cluster = namedEntry(root, 'clusters', 'cluster', textOf(context, 'cluster', problem), problem);
  const ca = fileOf(cluster, 'certificate-authority', folder, problem);
  const tls: ClientTls = {
    ca: material(cluster, 'certificate-authority', ca, problem),
    cert: undefined,
    key: undefined,
    serverName: textOf(cluster, 'tls-server-name', problem) || undefined,
    insecureSkipVerify: flag(cluster, 'insecure-skip-tls-verify', problem),
  };
  checkClientTls(tls, problem);
  if (textOf(cluster, 'proxy-url', problem) !== '') throw problem('proxy-url is not supported');
  return { server: addressOf(textOf(cluster, 'server', problem), problem), tls, files: { ca } };
}

/** Makes the error for a fault in a file. */
export type Problem = (text: string) => ClientConfigError;

/** The credentials of one user. */
export type ClientUser = Pick<ClientConfig, 'tls' | 'auth' | 'files'>;

/** Reads a user. Its `tls` trusts the authorities of the host. */
export function readUser(user: ClientConfigEntry, folder: string, problem: Problem): ClientUser {
  const files: ClientTlsFiles = {
    cert: fileOf(user, 'client-certificate', folder, problem),
    key: fileOf(user, 'client-key', folder, problem),
  };
  const tls: ClientTls = {
    ca: undefined,
    cert: material(user, 'client-certificate', files.cert, problem),
    key: material(user, 'client-key', files.key, problem),
    serverName: undefined,
    insecureSkipVerify: false,
  };
  checkClientTls(tls, problem);
  for (const field of unknownUserFields) {
    if (user[field] === undefined || user[field] === null) continue;
    throw problem(
      field === 'exec'
        ? 'no program is run for credentials (exec): a token or a client certificate is needed'
        : `${field} is not supported`,
    );
  }
  return Object.freeze({ tls: Object.freeze(tls), auth: Object.freeze(authOf(user, folder, problem)), files });
}

/** Reads the file. */
export function readClientConfigRoot(path: string, problem: Problem): ClientConfigEntry {
  let content: string;
  try {
    const found = statSync(path);
    // The file may be endless.
    if (found.isCharacterDevice() || found.isBlockDevice()) throw new Error('it is a device: name a file');
    if (waitsForWriter(path, found)) throw new Error('it is a pipe: name a file');
    content = readFileSync(path, 'utf8');
  } catch (error) {
    throw problem(fileProblem(error));
  }
  return rootOf(content, true, problem);
}

/**
 * Like {@link readClientConfigRoot}, for text that a client sent: of duplicate keys the last one counts, as comparing
 * them all takes long.
 */
export function parseClientConfigRoot(content: string, problem: Problem): ClientConfigEntry {
  return rootOf(content, false, problem);
}

function rootOf(content: string, uniqueKeys: boolean, problem: Problem): ClientConfigEntry {
  let root: unknown;
  try {
    root = readYaml(content, uniqueKeys);
  } catch {
    // The parser's message would quote the file, which may hold secrets.
    throw problem('is neither YAML nor JSON');
  }
  if (!isEntry(root)) throw problem('is no client configuration');
  const { kind = 'Config', apiVersion = 'v1' } = root;
  if (kind !== 'Config' || apiVersion !== 'v1') throw problem('must be of kind Config in apiVersion v1');
  return root;
}

/** The entry of the current context, or of the one that is named. */
export function currentContext(root: ClientConfigEntry, problem: Problem, named?: string): ClientConfigEntry {
  const name = named ?? textOf(root, 'current-context', problem);
  if (name === '') throw problem('current-context must be set');
  return namedEntry(root, 'contexts', 'context', name, problem);
}

/** The content of a named entry of a list; throws when there is none. */
export function namedEntry(
  root: ClientConfigEntry,
  list: string,
  field: string,
  name: string,
  problem: Problem,
): ClientConfigEntry {
  const entries = root[list] ?? [];
  if (!Array.isArray(entries)) throw problem(`${list} must be a list`);
  const found = entries.find((entry) => isEntry(entry) && entry.name === name) as ClientConfigEntry | undefined;
  if (found === undefined) throw problem(`${list} has no entry ${JSON.stringify(name)}`);
  const value = found[field] ?? {};
  if (!isEntry(value)) throw problem(`${list}[${JSON.stringify(name)}].${field} must be an object`);
  return value;
}

function addressOf(server: string, problem: Problem): string {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || url.protocol !== 'https:') throw problem('the server of the cluster must be an https URL');
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw problem('the server of the cluster must be a URL without credentials and fragment');
  }
  return url.href;
}

/**
 * The file that `<field>` names. Undefined when the field is missing, or when the text itself is given, which takes
 * precedence.
 */
function fileOf(entry: ClientConfigEntry, field: string, folder: string, problem: Problem): string | undefined {
  const file = textOf(entry, field, problem);
  if (file === '' || textOf(entry, `${field}-data`, problem) !== '') return undefined;
  return isAbsolute(file) ? file : resolve(folder, file);
}

/** The PEM text of `<field>-data` in base64, or that of the file. */
function material(
  entry: ClientConfigEntry,
  field: string,
  file: string | undefined,
  problem: Problem,
): string | undefined {
  const data = textOf(entry, `${field}-data`, problem);
  if (data !== '') return Buffer.from(data, 'base64').toString('utf8');
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw problem(`${field} ${file}: ${fileProblem(error)}`);
  }
}

/** Throws the error made by `problem` when certificates can't be used or don't belong together. */
export function checkClientTls({ ca, cert, key, insecureSkipVerify }: ClientTls, problem: Problem): void {
  if ((cert === undefined) !== (key === undefined)) throw problem('client-certificate and client-key need each other');
  if (ca !== undefined && insecureSkipVerify) {
    throw problem('insecure-skip-tls-verify and certificate-authority exclude each other');
  }
  if (ca !== undefined) {
    try {
      new X509Certificate(ca);
    } catch {
      throw problem('certificate-authority has no certificate in PEM');
    }
  }
  if (cert === undefined || key === undefined) return;
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw problem(`client-certificate and client-key can't be used: ${(error as Error).message}`);
  }
}

const unknownUserFields = ['exec', 'auth-provider', 'as', 'as-uid', 'as-groups', 'as-user-extra'] as const;

function authOf(user: ClientConfigEntry, folder: string, problem: Problem): ClientAuth {
  const tokenFile = textOf(user, 'tokenFile', problem);
  const token = textOf(user, 'token', problem);
  const username = textOf(user, 'username', problem);
  const password = textOf(user, 'password', problem);
  if (username !== '' && (token !== '' || tokenFile !== '')) throw problem('a user has either a token or a password');
  if (tokenFile !== '') {
    const path = isAbsolute(tokenFile) ? tokenFile : resolve(folder, tokenFile);
    readTokenFile(path, problem);
    return { kind: 'bearerFile', path };
  }
  if (token !== '') return { kind: 'bearer', token };
  return username === '' ? { kind: 'none' } : { kind: 'basic', username, password };
}

function readTokenFile(path: string, problem: Problem): void {
  try {
    readFileSync(path);
  } catch (error) {
    throw problem(`tokenFile ${path}: ${fileProblem(error)}`);
  }
}

/** A text field; empty when it is missing. */
export function textOf(entry: ClientConfigEntry, field: string, problem: Problem): string {
  const value = entry[field] ?? '';
  if (typeof value !== 'string') throw problem(`${field} must be a string`);
  return value;
}

function flag(entry: ClientConfigEntry, field: string, problem: Problem): boolean {
  const value = entry[field] ?? false;
  if (typeof value !== 'boolean') throw problem(`${field} must be true or false`);
  return value;
}

/** Whether a value is an object. */
export function isEntry(value: unknown): value is ClientConfigEntry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
