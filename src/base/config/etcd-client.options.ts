import { Check } from './check.js';
import { Flag } from './flag.js';

/** Where a test suite's server finds its database. */
export class EtcdClientOptions {
  @Flag({
    name: 'etcd-servers',
    type: 'list',
    unit: 'urls',
    usage: 'Client URLs of the program etcd that plinth assets has written; the first one that answers is used.',
  })
  @Check<readonly string[]>('etcdServers', (urls) => {
    const bad = urls.find((url) => !URL.canParse(url) || new URL(url).protocol !== 'http:');
    return bad === undefined ? undefined : `has ${JSON.stringify(bad)}, which is not an http URL`;
  })
  readonly etcdServers: readonly string[] = [];

  @Flag({
    name: 'etcd-prefix',
    type: 'string',
    usage: 'Servers with the same prefix and --etcd-servers share their objects.',
  })
  readonly etcdPrefix: string = '/registry';

  @Flag({
    name: 'allow-privileged',
    type: 'bool',
    usage: 'Privileged containers are allowed. Pod security, not this flag, can forbid them, so it must be true.',
  })
  @Check<boolean>('privileged', (value) =>
    value ? undefined : 'must be true: the labels of pod security on namespaces forbid privileged containers',
  )
  readonly allowPrivileged: boolean = true;
}
