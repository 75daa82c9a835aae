/** Runs wherever a page takes it for HTML. */
export const hostileText = `"'><img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>{{7*7}}`;

/** A page of the console and a text that it must show as it is. */
export interface HostilePage {
  readonly fragment: string;
  readonly shown: string;
}

type Write = (method: string, path: string, body?: object) => Promise<unknown>;

/** Puts the hostile text into every field that the console shows and that the API takes, and tells where it is to be seen. */
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
  const named = `${encodeURIComponent(role)}`;
  return [
    { fragment: '#/object/core/v1/configmaps/default/hostile', shown },
    { fragment: '#/object/core/v1/configmaps/default/hostile?tab=events', shown },
    { fragment: '#/object/core/v1/configmaps/default/hostile?tab=owners', shown: 'ConfigMap hostile' },
    { fragment: '#/object/core/v1/configmaps/default/hostile?tab=timeline', shown },
    { fragment: '#/list/rbac.authorization.k8s.io/v1/clusterroles?q=hostile', shown: role },
    { fragment: `#/object/rbac.authorization.k8s.io/v1/clusterroles/-/${named}`, shown: role },
    { fragment: '#/list/hostile.example.com/v1/things', shown },
    { fragment: '#/object/hostile.example.com/v1/things/default/hostile', shown },
    { fragment: `#/object/core/v1/configmaps/default/${named}`, shown: role },
    { fragment: `#/list/core/v1/${named}`, shown: role },
    { fragment: `#/list/core/v1/configmaps?q=${named}`, shown: 'configmaps' },
  ];
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
                spec: { type: 'object', properties: { text: { type: 'string', description: hostileText } } },
              },
            },
          },
          additionalPrinterColumns: [column('Text'), column('<img src=x onerror=alert(2)>')],
        },
      ],
    },
  };
}

async function eventually<T>(run: () => Promise<T>): Promise<T> {
  const until = Date.now() + 30_000;
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
