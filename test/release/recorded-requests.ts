import type { InsecureClient } from './insecure-client.js';

const maps = '/api/v1/namespaces/default/configmaps';
const pod = (spec: object) => ({ metadata: { name: 'p' }, spec });
const container = { name: 'c', image: 'i' };

/** Requests whose answers show rules, defaults and words of a release. Nothing is written. */
const requests: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['GET', '/api'],
  ['GET', '/apis'],
  ['GET', '/nothing'],
  ['GET', '/apis/none'],
  ['GET', '/apis/apps/v2'],
  ['GET', '/healthz/nothing'],
  ['GET', '/debug/pprof/nothing'],
  ['GET', `${maps}?limit=x`],
  ['GET', `${maps}?sendInitialEvents=true`],
  ['GET', `${maps}?resourceVersion=1&resourceVersionMatch=Newest`],
  ['GET', `${maps}?watch=true&resourceVersionMatch=Exact`],
  ['GET', `${maps}?fieldSelector=a%3Db`],
  ['GET', `${maps}?labelSelector=!!`],
  ['GET', `${maps}/missing`],
  ['DELETE', `${maps}/missing`],
  ['DELETE', `${maps}?ignoreStoreReadErrorWithClusterBreakingPotential=true`],
  ['POST', `${maps}?dryRun=All`, { metadata: { name: 'Bad_Name' } }],
  ['POST', `${maps}?dryRun=All&fieldValidation=Strict`, { metadata: { name: 'a' }, none: 1 }],
  ['POST', `${maps}?dryRun=Some`, { metadata: { name: 'a' } }],
  ['POST', '/api/v1/namespaces/default/pods?dryRun=All', pod({ containers: [] })],
  [
    'POST',
    '/api/v1/namespaces/default/pods?dryRun=All',
    pod({ containers: [{ ...container, ports: [{ containerPort: 0 }] }] }),
  ],
  ['POST', '/api/v1/namespaces/default/services?dryRun=All', { metadata: { name: 's' }, spec: { ports: [] } }],
  ['POST', '/apis/apps/v1/namespaces/default/deployments?dryRun=All', { metadata: { name: 'd' }, spec: {} }],
  ['POST', '/apis/batch/v1/namespaces/default/jobs?dryRun=All', { metadata: { name: 'j' }, spec: { template: {} } }],
  ['POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: {} }],
];

/** The answers to these requests, without what is different on every server. */
export async function answersOf(client: InsecureClient): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  for (const [method, path, body] of requests) {
    const { status, type, text } = await client.send(method, path, body);
    const scrubbed = text
      .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replace(/127\.0\.0\.1:\d+|(?:\d+\.){3}\d+:\d+/g, '<host>')
      .replace(/"resourceVersion":"\d+"/g, '"resourceVersion":"<version>"');
    const key = body === undefined ? `${method} ${path}` : `${method} ${path} ${JSON.stringify(body)}`;
    answers[key] = `${status} ${type} ${normal(scrubbed)}`;
  }
  return answers;
}

/** JSON with its members in one order. */
function normal(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), (_key, value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
      return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
    });
  } catch {
    return text;
  }
}
