import { type Document, isMap, isSeq, parseDocument, type YAMLSeq } from 'yaml';
import { StartupError } from '../../../base/machinery/startup-error.js';
import type { ApiAccess } from '../../../base/outgoing/api-access.js';
import type { KeyPair } from '../pki/issue-certificate.js';

/** The content of a kubeconfig for one user. */
export interface UserKubeconfig {
  /** The name of the cluster; user and context are `<user>@<name>`. */
  readonly name: string;
  readonly user: string;
  readonly access: Pick<ApiAccess, 'server' | 'tls'>;
  readonly client: KeyPair;
}

/** A kubeconfig with one cluster, user and context, which is the current one. */
export function userKubeconfig(config: UserKubeconfig): string {
  return mergeKubeconfig('', 'the new kubeconfig', config);
}

/**
 * A kubeconfig with cluster, user and context of another one, in place of those of the same names. Everything else
 * stays unchanged, comments too. The current context changes only if there is none.
 *
 * @param file name for messages
 * @throws StartupError for content that is not a kubeconfig, or one whose cluster of that name is another one
 */
export function mergeKubeconfig(text: string, file: string, config: UserKubeconfig): string {
  const document: Document = parseDocument(text, { logLevel: 'error' });
  // The message of the parser would quote the file, which holds secrets.
  if (document.errors.length > 0) throw new StartupError(`${file}: is neither YAML nor JSON`);
  if (document.contents === null) document.contents = document.createNode({});
  if (!isMap(document.contents)) throw new StartupError(`${file}: is not a kubeconfig`);
  const { kind = 'Config', apiVersion = 'v1' } = plain(document, file);
  if (kind !== 'Config' || apiVersion !== 'v1')
    throw new StartupError(`${file}: must be of kind Config in apiVersion v1`);
  document.set('apiVersion', 'v1');
  document.set('kind', 'Config');
  const { name, user, access, client } = config;
  const { server, tls } = access;
  const known = entryOf(document, 'clusters', name, file)?.getIn(['cluster', 'server']);
  if (known !== undefined && known !== server && `${String(known)}/` !== server) {
    throw new StartupError(`${file}: the cluster ${name} is another one (${String(known)}): choose another --name`);
  }
  const encode = (pem: string) => Buffer.from(pem).toString('base64');
  put(document, 'clusters', file, {
    name,
    cluster: {
      server: server.replace(/\/$/, ''),
      ...(tls.serverName === undefined ? {} : { 'tls-server-name': tls.serverName }),
      ...(tls.insecureSkipVerify ? { 'insecure-skip-tls-verify': true } : {}),
      ...(tls.ca === undefined || tls.insecureSkipVerify ? {} : { 'certificate-authority-data': encode(tls.ca) }),
    },
  });
  const full = `${user}@${name}`;
  put(document, 'users', file, {
    name: full,
    user: {
      'client-certificate-data': encode(client.certificate),
      'client-key-data': encode(client.privateKey),
    },
  });
  put(document, 'contexts', file, { name: full, context: { cluster: name, user: full } });
  const current = document.get('current-context');
  if (current === undefined || current === null || current === '') document.set('current-context', full);
  return document.toString({ lineWidth: 0 });
}

function plain(document: Document, file: string): { readonly kind?: unknown; readonly apiVersion?: unknown } {
  try {
    return document.toJS();
  } catch {
    // The parser throws for aliases that expand without limit, or that name nothing.
    throw new StartupError(`${file}: is neither YAML nor JSON`);
  }
}

function listOf(document: Document, list: string, file: string): YAMLSeq | undefined {
  const found = document.get(list);
  if (found === undefined || found === null) return undefined;
  if (!isSeq(found)) throw new StartupError(`${file}: ${list} must be a list`);
  return found;
}

function entryOf(document: Document, list: string, name: string, file: string) {
  const items = listOf(document, list, file)?.items ?? [];
  return items.filter((item) => isMap(item)).find((item) => item.get('name') === name);
}

function put(
  document: Document,
  list: string,
  file: string,
  entry: { readonly name: string; readonly [field: string]: unknown },
): void {
  const node = document.createNode(entry);
  const entries = listOf(document, list, file);
  if (entries === undefined) {
    document.set(list, document.createNode([entry]));
    return;
  }
  const index = entries.items.findIndex((item) => isMap(item) && item.get('name') === entry.name);
  if (index < 0) entries.add(node);
  else entries.items[index] = node;
}
