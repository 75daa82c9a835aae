import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type Agent, request as httpsRequest } from 'node:https';

const protobuf = 'application/vnd.kubernetes.protobuf;stream=watch';
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const partial = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const paths = [
  '/api/v1/configmaps?watch=1',
  '/api/v1/pods?watch=1',
  '/api/v1/services?watch=1',
  '/apis/rbac.authorization.k8s.io/v1/roles?watch=1',
];

/** Opens watches in the forms that all clients use; reads their events and throws them away. */
export async function openWatchers(url: string, agent: Agent, token: string): Promise<void> {
  const open = async (path: string, accept: string) => {
    const headers = { authorization: `Bearer ${token}`, accept };
    const request = httpsRequest(`${url}${path}&timeoutSeconds=36000`, { agent, headers });
    request.on('error', () => undefined);
    request.end();
    const [message] = (await once(request, 'response')) as [IncomingMessage];
    if (message.statusCode !== 200) throw new Error(`${path}: ${message.statusCode}`);
    message.on('error', () => undefined);
    message.resume();
  };
  for (const path of paths) {
    for (const accept of ['application/json', protobuf, table, partial]) await open(path, accept);
    await open(`${path}&labelSelector=a%3Db`, 'application/json');
    await open(`${path}&includeObject=Object`, table);
  }
}
