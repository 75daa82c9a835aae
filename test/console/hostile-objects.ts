import assert from 'node:assert/strict';
import type { ConsoleTab } from './console-tab.js';

/** Runs wherever a page takes it for HTML. */
export const hostileText = `"'><img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>{{7*7}}`;

const manyMarks = `e${'\u0301'.repeat(400_000)}`;

/** A name of a field, in the schema of a kind. */
export const hostileProperty = 'x<img src=x onerror=alert(3)>';

/** A page of the console and a text that it must show as it is. */
export interface HostilePage {
  readonly fragment: string;
  readonly shown: string;
}

type Write = (method: string, path: string, body?: object) => Promise<unknown>;

/**
 * Puts the hostile text into every field that the console shows and that the API takes, and returns where the text
 * should appear.
 */
export async function hostileObjects(write: Write): Promise<readonly HostilePage[]> {
  const shown = '<img src=x onerror=';
  const metadata = { name: 'hostile', annotations: { 'example.com/note': hostileText } };
  const map = (await write('POST', '/api/v1/namespaces/default/configmaps', {
    metadata,
    data: { key: hostileText, 'multi.line': `a\n${hostileText}\n` },
  })) as { readonly metadata: { readonly uid: string } };
  await write('PUT', '/api/v1/namespaces/default/configmaps/hostile', {
    metadata,
    data: { key: `${hostileText}!`, k: 'new' },
  });
  await write('POST', '/api/v1/namespaces/default/events', {
    metadata: { name: 'hostile' },
    involvedObject: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'hostile',
      namespace: 'default',
      uid: map.metadata.uid,
    },
    reason: hostileText.slice(0, 120),
    message: hostileText,
    type: 'Warning',
    source: { component: hostileText },
  });
  // A browser that lays out a letter with so many marks does nothing else for minutes.
  await write('POST', '/api/v1/namespaces/default/configmaps', {
    metadata: { name: 'marks' },
    data: { key: manyMarks },
  });
  // Names in paths may have any character but a few.
  const role = 'hostile<img src=x onerror=alert(1)>';
  await write('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', { metadata: { name: role }, rules: [] });
  await write('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', hostileDefinition());
  const things = '/apis/hostile.example.com/v1/namespaces/default/things';
  await eventually(() =>
    write('POST', things, {
      apiVersion: 'hostile.example.com/v1',
      kind: 'Thing',
      metadata,
      spec: { text: hostileText },
    }),
  );
  await write('POST', things, {
    apiVersion: 'hostile.example.com/v1',
    kind: 'Thing',
    metadata: { name: 'marks' },
    spec: { text: manyMarks },
  });
  await hostileStates(write);
  const named = `${encodeURIComponent(role)}`;
  return [
    { fragment: '#/', shown },
    { fragment: '#/object/core/v1/configmaps/default/hostile', shown },
    { fragment: '#/object/core/v1/configmaps/default/hostile?tab=yaml', shown },
    { fragment: '#/list/core/v1/configmaps?open=default%2Fhostile&tab=yaml', shown },
    { fragment: '#/object/hostile.example.com/v1/things/default/hostile?tab=yaml', shown },
    { fragment: '#/object/core/v1/configmaps/default/marks', shown: 'more letters' },
    { fragment: '#/object/core/v1/configmaps/default/marks?tab=yaml', shown: 'marks' },
    { fragment: '#/object/hostile.example.com/v1/things/default/marks', shown: 'marks' },
    { fragment: '#/object/core/v1/configmaps/default/hostile?tab=events', shown },
    { fragment: '#/object/core/v1/configmaps/default/hostile?tab=owners', shown: 'ConfigMap hostile' },
    { fragment: '#/object/core/v1/configmaps/default/hostile?tab=timeline', shown },
    { fragment: '#/list/rbac.authorization.k8s.io/v1/clusterroles?q=hostile', shown: role },
    { fragment: `#/object/rbac.authorization.k8s.io/v1/clusterroles/-/${named}`, shown: role },
    { fragment: '#/object/core/v1/nodes/-/hostile', shown },
    { fragment: '#/object/core/v1/pods/default/ailing', shown },
    { fragment: '#/list/core/v1/pods?q=ailing', shown },
    { fragment: '#/search?q=hostile%3C', shown: role },
    { fragment: `#/search?q=${encodeURIComponent(hostileText)}`, shown: '0 objects' },
    { fragment: '#/list/hostile.example.com/v1/things', shown },
    { fragment: '#/object/hostile.example.com/v1/things/default/hostile', shown },
    { fragment: `#/object/core/v1/configmaps/default/${named}`, shown: role },
    { fragment: `#/list/core/v1/${named}`, shown: role },
    { fragment: `#/list/core/v1/configmaps?q=${named}`, shown: 'Config maps' },
  ];
}

/** What agents of nodes say about their node and its pods, and who says so. */
async function hostileStates(write: Write): Promise<void> {
  const condition = { type: 'Ready', status: 'False', reason: 'Ailing', message: hostileText };
  await write('POST', '/api/v1/nodes', { metadata: { name: 'hostile' }, status: { conditions: [condition] } });
  const pod = { metadata: { name: 'ailing' }, spec: { containers: [{ name: 'app', image: hostileText }] } };
  const manager = encodeURIComponent(hostileText.slice(0, 120));
  const made = (await write('POST', `/api/v1/namespaces/default/pods?fieldManager=${manager}`, pod)) as object;
  const waiting = { reason: hostileText.slice(0, 60), message: hostileText };
  await write('PUT', '/api/v1/namespaces/default/pods/ailing/status', {
    ...made,
    status: {
      phase: 'Pending',
      conditions: [condition],
      containerStatuses: [
        { name: 'app', image: hostileText, imageID: '', ready: false, restartCount: 0, state: { waiting } },
      ],
    },
  });
}

function hostileDefinition(): object {
  const column = (name: string) => ({ name, type: 'string', jsonPath: '.spec.text', description: hostileText });
  return {
    metadata: { name: 'things.hostile.example.com' },
    spec: {
      group: 'hostile.example.com',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  description: hostileText,
                  properties: {
                    text: { type: 'string', description: hostileText },
                    [hostileProperty]: { type: 'string', description: hostileText, enum: [hostileText] },
                  },
                },
              },
            },
          },
          additionalPrinterColumns: [column('Text'), column('<img src=x onerror=alert(2)>')],
        },
      ],
    },
  };
}

/** An answer of a hostile extension server. */
export interface HostileAnswer extends HostilePage {
  /** Pattern of the requests that get it. */
  readonly path: string;
  readonly answer: { readonly status: number; readonly contentType: string; readonly body: string };
}

/** What servers behind the API server could answer: errors and tables that are none. */
export function hostileAnswers(): readonly HostileAnswer[] {
  const shown = '<img src=x onerror=';
  const html = { constructor: null, type: 'img', props: { src: 'x', onerror: 'globalThis.hacked=1' }, __k: null };
  const json = (status: number, body: unknown) => ({
    status,
    contentType: 'application/json',
    body: JSON.stringify(body),
  });
  const of = (resource: string, status: number, body: unknown): HostileAnswer => ({
    path: `**/apis/apps/v1/${resource}?*`,
    fragment: `#/list/apps/v1/${resource}`,
    shown,
    answer: json(status, body),
  });
  const causes = [{ field: hostileText, message: hostileText }];
  const metadata = { name: hostileText, namespace: '\ud800', creationTimestamp: hostileText };
  return [
    of('deployments', 400, { kind: 'Status', message: hostileText, details: { causes } }),
    {
      ...of('replicasets', 400, ''),
      answer: { status: 403, contentType: 'text/html', body: hostileText },
    },
    of('daemonsets', 200, {
      kind: 'Table',
      metadata: { resourceVersion: '1' },
      columnDefinitions: [{ name: hostileText, type: hostileText }, { name: html }],
      rows: [{ cells: [hostileText, html], object: { metadata } }],
    }),
    of('statefulsets', 200, { kind: hostileText, metadata: { resourceVersion: '1' }, items: [{ metadata }] }),
    of('controllerrevisions', 400, { kind: 'Status', message: `${hostileText} \ud800`, details: html }),
  ];
}

/** Fails when any of the hostile text became part of the page. */
export async function nothingRan(tab: ConsoleTab): Promise<void> {
  const marks = await tab.run(`({
    ran: globalThis.hacked,
    images: document.querySelectorAll('img, iframe, object, embed, base').length,
    scripts: [...document.scripts].map(({ src }) => new URL(src).pathname),
  })`);
  assert.deepEqual(marks, { ran: undefined, images: 0, scripts: ['/theme.js', '/app.js'] });
}

async function eventually<T>(run: () => Promise<T>): Promise<T> {
  const until = Date.now() + 120_000;
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
