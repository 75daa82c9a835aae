import assert from 'node:assert/strict';
import type { ApiClient, ApiResponse } from './api-client.js';
import type { TestCluster } from './test-cluster.js';

/* Functions for the suites about lists, each of which uses two server processes. */

let counter = 0;

/** Creates a namespace and returns the path of its ConfigMaps. */
export async function ownCollection(client: ApiClient): Promise<string> {
  const name = `list-${counter++}`;
  const made = await client.post('/api/v1/namespaces', { metadata: { name } });
  assert.equal(made.status, 201, made.text);
  return `/api/v1/namespaces/${name}/configmaps`;
}

export async function create(
  client: ApiClient,
  path: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
) {
  const answer = await client.post(path, { metadata: { name, labels }, data: { n: '0' } });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

export async function ok(client: ApiClient, path: string): Promise<ApiResponse['body']> {
  const answer = await client.get(path);
  assert.equal(answer.status, 200, `${path}: ${answer.text}`);
  return answer.body;
}

export const namesOf = (list: ApiResponse['body']): string[] =>
  list.items.map((item: { metadata: { name: string } }) => item.metadata.name);
export const withQuery = (path: string, query: Readonly<Record<string, string>>) =>
  `${path}?${new URLSearchParams(query)}`;

/** All pages of a list, alternately requested from both processes. */
export async function allPages(
  cluster: TestCluster,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<ApiResponse['body'][]> {
  const pages = [await ok(cluster.first.client, withQuery(path, query))];
  const { resourceVersion: _version, resourceVersionMatch: _match, ...kept } = query;
  for (;;) {
    const token: string | undefined = pages.at(-1).metadata.continue;
    if (token === undefined || token === '') return pages;
    const client = (pages.length % 2 === 1 ? cluster.second : cluster.first).client;
    pages.push(await ok(client, withQuery(path, { ...kept, continue: token })));
  }
}

/**
 * Runs work with a new process, which has no expired history in memory. Other processes may still have and use some of
 * it.
 */
export async function withNewServer(cluster: TestCluster, work: (client: ApiClient) => Promise<void>): Promise<void> {
  const server = await cluster.addServer();
  try {
    await work(server.client);
  } finally {
    cluster.servers.splice(cluster.servers.indexOf(server), 1);
    await server.stop();
  }
}

export function isStatus(answer: ApiResponse, code: number, reason: string): void {
  assert.equal(answer.status, code, answer.text);
  assert.equal(answer.body.kind, 'Status');
  assert.equal(answer.body.status, 'Failure');
  assert.equal(answer.body.code, code);
  assert.equal(answer.body.reason, reason);
}
