import { isIP } from 'node:net';
import type { KeyPair } from './pki/issue-certificate.js';

export interface Kubeconfig {
  readonly server: string;
  /** PEM of the authority that clients check the server's certificate with. */
  readonly authority: string;
  /** Client certificate to identify with; without it requests are anonymous. */
  readonly client?: KeyPair | undefined;
}

/** A kubeconfig with one context, all credentials inside it. */
export function formatKubeconfig(config: Kubeconfig): string {
  const encode = (pem: string) => Buffer.from(pem).toString('base64');
  const user =
    config.client === undefined
      ? ['  user: {}']
      : [
          '  user:',
          `    client-certificate-data: ${encode(config.client.certificate)}`,
          `    client-key-data: ${encode(config.client.privateKey)}`,
        ];
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- name: plinth',
    '  cluster:',
    `    server: ${JSON.stringify(config.server)}`,
    `    certificate-authority-data: ${encode(config.authority)}`,
    'users:',
    '- name: admin',
    ...user,
    'contexts:',
    '- name: admin@plinth',
    '  context:',
    '    cluster: plinth',
    '    user: admin',
    'current-context: admin@plinth',
    '',
  ].join('\n');
}

/** URL at which a client on this machine reaches a server bound to an address. */
export function localUrl(bindAddress: string, port: number): string {
  const any: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const host = any[bindAddress] ?? bindAddress;
  return `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}
