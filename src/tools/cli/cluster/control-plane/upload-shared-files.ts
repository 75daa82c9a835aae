import { createPublicKey } from 'node:crypto';
import { joiningGroup } from '../../../../base/config/bootstrap-groups.js';
import { bootstrapTokenSecretPrefix } from '../../../../base/machinery/bootstrap-token.js';
import { systemClock } from '../../../../base/machinery/clock.js';
import { StartupError } from '../../../../base/machinery/startup-error.js';
import { groupName } from '../../../../base/machinery/vendor.js';
import { ApiError } from '../../../../nodes/connection/api-error.js';
import { OwnFiles } from '../../own-files.js';
import type { AdminApi } from '../admin-api.js';
import { BootstrapTokens } from '../token/bootstrap-tokens.js';
import { TokenText } from '../token/token-text.js';
import type { CertificateKey } from './certificate-key.js';
import { sharedFileKeys, sharedFiles, sharedFilesSecret } from './shared-files.js';

/** How long the Secret lives. */
const ttlMs = 7_200_000;
const roleName = 'kubeadm:kubeadm-certs';
const ownerDescription = 'Ends the life of the Secret kubeadm-certs.';

interface OwnedSecret {
  readonly metadata: {
    readonly uid: string;
    readonly resourceVersion?: string;
    readonly ownerReferences?: readonly { readonly name: string }[];
  };
}

/**
 * Puts the shared files of a control plane into the Secret `kubeadm-certs`, encrypted, for those who join with a bootstrap token
 * and have the key. A token without any use owns the Secret: both are gone two hours later. An earlier Secret is replaced.
 *
 * @throws StartupError for a file that is missing
 */
export async function uploadSharedFiles(admin: AdminApi, directory: string, key: CertificateKey): Promise<void> {
  const data = await encrypted(directory, key);
  await allowReading(admin);
  const { api, names, signal } = admin;
  const secrets = `/api/v1/namespaces/${names.systemNamespace}/secrets`;
  const earlier = await present<OwnedSecret>(admin, `${secrets}/${sharedFilesSecret}`);
  const tokens = new BootstrapTokens(admin);
  const token = TokenText.generate();
  const wish = { token, ttlMs, usages: [], groups: [], description: ownerDescription };
  await tokens.create(wish, systemClock.now());
  const owner = `${bootstrapTokenSecretPrefix}${token.id}`;
  const { metadata } = await api.send<OwnedSecret>('GET', `${secrets}/${owner}`, { signal });
  const reference = { apiVersion: 'v1', kind: 'Secret', name: owner, uid: metadata.uid };
  const body = {
    ...{ apiVersion: 'v1', kind: 'Secret', type: 'Opaque', data },
    metadata: {
      name: sharedFilesSecret,
      namespace: names.systemNamespace,
      ownerReferences: [{ ...reference, controller: true, blockOwnerDeletion: true }],
      ...(earlier === undefined ? {} : { resourceVersion: earlier.metadata.resourceVersion }),
    },
  };
  if (earlier === undefined) await api.send('POST', secrets, { body, signal });
  else await api.send('PUT', `${secrets}/${sharedFilesSecret}`, { body, signal });
  // Only now: the end of its owner would be the end of the Secret.
  const owners = (earlier?.metadata.ownerReferences ?? []).map(({ name }) => name);
  for (const known of await tokens.list()) {
    const isEarlier = owners.includes(`${bootstrapTokenSecretPrefix}${known.token.id}`);
    if (isEarlier && known.description === ownerDescription) await tokens.delete(known.token.id);
  }
}

async function encrypted(directory: string, key: CertificateKey): Promise<Record<string, string>> {
  const files = new OwnFiles(directory);
  const data: Record<string, string> = {};
  const put = (name: string, text: string) => {
    data[name] = key.encrypt(text).toString('base64');
  };
  for (const name of sharedFileKeys) {
    const text = await files.read(sharedFiles[name].file);
    if (text === undefined) throw new StartupError(`${files.path(sharedFiles[name].file)} is missing`);
    put(name, text);
    // Those who only check tokens need no more.
    if (name === 'sa.key') put('sa.pub', String(createPublicKey(text).export({ type: 'spki', format: 'pem' })));
  }
  return data;
}

/** Lets those who join read the Secret, which helps only those who have the key. */
async function allowReading({ api, names, signal }: AdminApi): Promise<void> {
  const rbac = groupName('rbac', names);
  const metadata = { name: roleName, namespace: names.systemNamespace };
  const rules = [{ apiGroups: [''], resources: ['secrets'], resourceNames: [sharedFilesSecret], verbs: ['get'] }];
  const roleRef = { apiGroup: rbac, kind: 'Role', name: roleName };
  const subjects = [{ apiGroup: rbac, kind: 'Group', name: joiningGroup }];
  const path = `/apis/${rbac}/v1/namespaces/${names.systemNamespace}`;
  const apiVersion = `${rbac}/v1`;
  for (const [resource, body] of [
    ['roles', { apiVersion, kind: 'Role', metadata, rules }],
    ['rolebindings', { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects }],
  ] as const) {
    try {
      await api.send('POST', `${path}/${resource}`, { body, signal });
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
    }
  }
}

async function present<T extends object>({ api, signal }: AdminApi, path: string): Promise<T | undefined> {
  try {
    return await api.send<T>('GET', path, { signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
