import { errorText } from '../../../base/machinery/startup-error.js';
import type { ApiAccess } from '../../../base/outgoing/api-access.js';
import { ApiFault } from '../../backup/cluster/api-fault.js';
import { ClusterClient } from '../../backup/cluster/cluster-client.js';
import { error, type Finding, ok, warning } from './finding.js';

const limitMs = 10_000;
const connections = 2;

interface Review {
  readonly status: { readonly userInfo: { readonly username: string; readonly groups?: readonly string[] } };
}

interface Access {
  readonly status: { readonly allowed: boolean };
}

/** Checks a cluster as its clients would: it can be reached and trusted, knows the user, and lets the user read. */
export async function clusterFindings(access: ApiAccess, stop: AbortSignal): Promise<Finding[]> {
  // A user who runs the doctor wants to know what is wrong now.
  const pause = async () => undefined;
  const client = new ClusterClient(access, pause, connections, 'plinth-doctor');
  const signal = AbortSignal.any([stop, AbortSignal.timeout(limitMs)]);
  try {
    await client.send('GET', '/version', { signal }).catch((fault: unknown) => {
      // Any response shows that the server runs.
      if (!(fault instanceof ApiFault)) throw fault;
    });
    const findings = [ok('cluster', `${client.server} answers, and its certificate is trusted`)];
    if (access.tls.insecureSkipVerify) {
      findings.push(
        warning(
          'cluster',
          'insecure-skip-tls-verify believes everybody',
          'name the authority instead: certificate-authority-data',
        ),
      );
    }
    findings.push(...(await userFindings(client, signal)));
    return findings;
  } catch (fault) {
    const text = reasonOf(fault);
    return [error('cluster', `${client.server}: ${text}`, remedyFor(text))];
  } finally {
    client.close();
  }
}

function reasonOf(fault: unknown): string {
  const texts: string[] = [];
  for (let cause = fault; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    texts.push(
      typeof code === 'string' && !cause.message.includes(code) ? `${cause.message} (${code})` : cause.message,
    );
  }
  // The innermost error is the reason; the outer ones only report that there is one.
  return texts.findLast((text) => text !== '') ?? errorText(fault);
}

function remedyFor(text: string): string {
  if (/ECONNREFUSED|socket hang up|ECONNRESET/.test(text))
    return 'start the server, or correct the address in the kubeconfig';
  if (/ENOTFOUND|EAI_AGAIN/.test(text)) return 'correct the host in the kubeconfig, or the name service';
  if (/altnames|Hostname\/IP/.test(text)) return 'issue the serving certificate with that name: plinth pki --tls-names';
  if (/CERT_HAS_EXPIRED|expired/.test(text)) return 'renew the serving certificate: plinth pki';
  if (/self.signed|unable to verify|unable to get|UNABLE_TO/i.test(text)) {
    return 'certificate-authority-data is not that of the server: take it from where the server has its certificates';
  }
  if (/Invalid character in header/.test(text))
    return 'correct the token: it has a line break, or a character that no token has';
  if (/alert|handshake/.test(text))
    return 'the server refuses the client certificate: make a new one by plinth kubeconfig';
  return 'look whether the server runs, and whether this machine may reach it';
}

async function userFindings(client: ClusterClient, signal: AbortSignal): Promise<Finding[]> {
  const remedy = 'make a new kubeconfig by plinth kubeconfig, or take a valid token';
  let user: string;
  try {
    const { status } = await client.send<Review>('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      signal,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    });
    user = status.userInfo.username;
    if (user === 'system:anonymous') return [error('cluster user', 'the server does not know who this is', remedy)];
  } catch (fault) {
    if (!(fault instanceof ApiFault)) throw fault;
    if (fault.status === 401)
      return [error('cluster user', `the server refuses the credentials: ${fault.message}`, remedy)];
    if (fault.status === 403) return [error('cluster user', fault.message, remedy)];
    return [warning('cluster user', `unknown: ${fault.message}`, 'look at /readyz of the server')];
  }
  const findings = [ok('cluster user', user)];
  const { status } = await client.send<Access>('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
    signal,
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb: 'list', resource: 'namespaces' } },
    },
  });
  findings.push(
    status.allowed
      ? ok('cluster rights', `${user} may list namespaces`)
      : warning(
          'cluster rights',
          `${user} may not list namespaces`,
          'bind a role: kubectl create clusterrolebinding … --clusterrole=view --user=…',
        ),
  );
  return findings;
}
