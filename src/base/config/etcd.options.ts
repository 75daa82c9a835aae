import { Check } from './check.js';
import { Flag } from './flag.js';

function clientUrlsProblem(urls: readonly string[]): string | undefined {
  if (urls.length === 0) return 'needs at least one URL';
  const bad = urls.find((url) => !URL.canParse(url) || !['http:', 'unix:'].includes(new URL(url).protocol));
  if (bad !== undefined) return `has ${JSON.stringify(bad)}, which is not an http URL`;
  const unix = urls.find((url) => url.startsWith('unix:'));
  return unix === undefined ? undefined : `has ${unix}: sockets are not supported, use http://127.0.0.1:2379`;
}

/** The replacement for etcd in test suites. */
export class EtcdOptions {
  @Flag({ name: 'name', type: 'string', usage: 'Names the folder of the data when --data-dir is not set.' })
  readonly name: string = 'default';

  @Flag({
    name: 'data-dir',
    type: 'string',
    unit: 'folder',
    usage: 'Folder that names the data. They are dropped soon after it is removed. Unset: <name>.etcd.',
  })
  readonly dataDir: string | undefined = undefined;

  @Flag({
    name: 'listen-client-urls',
    type: 'list',
    unit: 'urls',
    usage: 'Where servers ask for their database, and where /health answers.',
  })
  @Check('clientUrls', clientUrlsProblem)
  readonly listenClientUrls: readonly string[] = ['http://localhost:2379'];
}
