import { Check } from './check.js';
import { Flag } from './flag.js';

const names = (of: readonly string[]) =>
  of.every((name) => name === '*' || /^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(name)) ? undefined : 'must be names of kinds';

/** Which objects a backup or an import includes. */
export class BackupSelectionOptions {
  @Flag({
    name: 'namespace',
    short: 'n',
    type: 'list',
    unit: 'names',
    usage:
      'Only these namespaces and everything in them. Kinds without namespaces must then be named with ' + '--include.',
  })
  @Check<readonly string[]>('namespaces', (given) =>
    given.every((name) => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))
      ? undefined
      : 'must be names of namespaces',
  )
  readonly namespaces: readonly string[] = [];

  @Flag({
    name: 'include',
    type: 'list',
    unit: 'kinds',
    usage: 'Only these kinds, such as deployments.apps or ConfigMap; * stands for the default kinds: *,events.',
  })
  @Check('kinds', names)
  readonly include: readonly string[] = [];

  @Flag({ name: 'exclude', type: 'list', unit: 'kinds', usage: 'All kinds but these.' })
  @Check('kinds', names)
  readonly exclude: readonly string[] = [];
}

/** What `plinth backup` writes. */
export class BackupOptions {
  @Flag({ name: 'output', short: 'o', type: 'string', unit: 'file', usage: 'The backup to write.' })
  readonly output: string | undefined = undefined;

  @Flag({
    name: 'sealed-kinds',
    type: 'list',
    unit: 'kinds',
    usage: 'The kinds that are encrypted when there is a passphrase or key; * for all.',
  })
  @Check('kinds', names)
  readonly sealedKinds: readonly string[] = ['secrets'];

  @Flag({ name: 'verify', type: 'bool', usage: 'Whether to read the backup and check it before it gets its name.' })
  readonly verify: boolean = true;

  @Flag({ name: 'json', type: 'bool', usage: 'Print the summary as JSON.' })
  readonly json: boolean = false;
}
