import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { fileProblem } from '../machinery/file-problem.js';
import {
  type ClientConfigEntry,
  currentContext,
  flagOf,
  isEntry,
  namedEntry,
  type Problem,
  readClientConfigRoot,
  textOf,
} from './client-config-document.js';
import { ClientConfigError } from './client-config-error.js';
import { type ClusterExtras, type ExecPlugin, readClusterExtras, readExecPlugin } from './exec/exec-plugin.js';

/** How to verify the other side, and the credentials of this side. All strings are PEM. */
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
 * The content of the Authorization header. A token file is read again while the process runs, since tokens are renewed.
 */
export type ClientAuth =
  | { readonly kind: 'none' }
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'bearerFile'; readonly path: string }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  /** The credentials come from a program: a token, a client certificate or both. */
  | { readonly kind: 'exec'; readonly plugin: ExecPlugin };

/** One remote service and this side's credentials for it. */
export interface ClientConfig {
  /** Always https. May have a path and a query. */
  readonly server: string;
  readonly tls: ClientTls;
  readonly auth: ClientAuth;
  /** The paths of `ca`, `cert` and `key`, if they are in files of their own. */
  readonly files: ClientTlsFiles;
  /** What the credential program of {@link ClientAuth} receives about the cluster besides its address. */
  readonly clusterExtras?: ClusterExtras | undefined;
}

/** How users whose credentials come from a program are handled. */
export interface UserPolicy {
  /** Whether the program is run; otherwise the user is refused. */
  readonly runsPrograms: boolean;
}

const noPrograms: UserPolicy = { runsPrograms: false };

/** Paths of PEM files. */
export interface ClientTlsFiles {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * Reads a client configuration (the format of kubectl's own file). The cluster of the named context, or of the current
 * one, is the remote service; its user is this process (specification 5.2). Paths in it are relative to the file.
 *
 * Throws {@link ClientConfigError} for an unusable configuration: an address that is not https, certificates that don't
 * belong together, or kinds of credentials that this program does not support (proxies, impersonation, and programs
 * unless the policy allows them).
 */
export function loadClientConfig(path: string, contextName?: string, policy = noPrograms): ClientConfig {
  const problem = (text: string) => new ClientConfigError(`${path}: ${text}`);
  const root = readClientConfigRoot(path, problem);
  const context = currentContext(root, problem, contextName);
  const userName = textOf(context, 'user', problem);
  const user = userName === '' ? {} : namedEntry(root, 'users', 'user', userName, problem);
  const folder = dirname(path);
  const own = readUser(user, folder, problem, policy);
  const cluster = readCluster(root, context, folder, problem);
  const { ca, serverName, insecureSkipVerify } = cluster.tls;
  const tls: ClientTls = { ...own.tls, ca, serverName, insecureSkipVerify };
  return Object.freeze({
    server: cluster.server,
    tls: Object.freeze(tls),
    auth: own.auth,
    files: Object.freeze({ ...own.files, ...cluster.files }),
    clusterExtras: cluster.clusterExtras,
  });
}

/** The clusters of a client configuration, without any credentials. */
export interface ClientClusters {
  /** The cluster of the current context first, the others by their place among the contexts; each once, by its name. */
  readonly clusters: ReadonlyMap<string, Omit<ClientConfig, 'auth'>>;
  /** Why other clusters can't be used. */
  readonly problems: readonly string[];
}

/**
 * Reads the clusters of all contexts: where they are and how to verify them. The users of the file are ignored.
 *
 * @throws ClientConfigError as {@link loadClientConfig}, for the cluster of the current context only
 */
export function loadClientClusters(path: string): ClientClusters {
  const problem = (text: string) => new ClientConfigError(`${path}: ${text}`);
  const root = readClientConfigRoot(path, problem);
  const current = currentContext(root, problem);
  const clusters = new Map<string, Omit<ClientConfig, 'auth'>>();
  const problems: string[] = [];
  const add = (context: ClientConfigEntry) => {
    const name = textOf(context, 'cluster', problem);
    if (!clusters.has(name)) clusters.set(name, readCluster(root, context, dirname(path), problem));
  };
  add(current);
  for (const entry of root.contexts as readonly unknown[]) {
    try {
      if (isEntry(entry) && isEntry(entry.context)) add(entry.context);
    } catch (error) {
      if (!(error instanceof ClientConfigError)) throw error;
      problems.push(error.message);
    }
  }
  return { clusters, problems };
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
    insecureSkipVerify: flagOf(cluster, 'insecure-skip-tls-verify', problem),
  };
  checkClientTls(tls, problem);
  if (textOf(cluster, 'proxy-url', problem) !== '') throw problem('proxy-url is not supported');
  return {
    server: addressOf(textOf(cluster, 'server', problem), problem),
    tls,
    files: { ca },
    clusterExtras: readClusterExtras(cluster, problem),
  };
}

/** The credentials of one user. */
export type ClientUser = Pick<ClientConfig, 'tls' | 'auth' | 'files'>;

/** Reads a user. Its `tls` trusts the CAs of the host. */
export function readUser(
  user: ClientConfigEntry,
  folder: string,
  problem: Problem,
  { runsPrograms }: UserPolicy = noPrograms,
): ClientUser {
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
    if (isGiven(user[field])) throw problem(`${field} is not supported`);
  }
  if (isGiven(user.exec) && !runsPrograms) {
    throw problem('no program is run for credentials (exec): a token or a client certificate is needed');
  }
  const plugin = isGiven(user.exec) ? readExecPlugin(user.exec, folder, problem) : undefined;
  const given = authOf(user, folder, problem);
  // If the user has other credentials, the program is not needed.
  const isComplete = plugin === undefined || tls.cert !== undefined || given.kind !== 'none';
  const auth: ClientAuth = isComplete ? given : { kind: 'exec', plugin };
  return Object.freeze({ tls: Object.freeze(tls), auth: Object.freeze(auth), files });
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
 * The path in the field `<field>`. Undefined when the field is missing, or when the inline data, which takes
 * precedence, is given.
 */
function fileOf(entry: ClientConfigEntry, field: string, folder: string, problem: Problem): string | undefined {
  const file = textOf(entry, field, problem);
  if (file === '' || textOf(entry, `${field}-data`, problem) !== '') return undefined;
  return isAbsolute(file) ? file : resolve(folder, file);
}

/** The PEM from `<field>-data` in base64, or from the file. */
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
export function checkClientTls(
  { ca, cert, key, insecureSkipVerify }: ClientTls,
  problem: (text: string) => Error,
): void {
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

const unknownUserFields = ['auth-provider', 'as', 'as-uid', 'as-groups', 'as-user-extra'] as const;

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

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
