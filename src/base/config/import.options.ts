import { Max, Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';
import { outputFlag } from './shared-flags.js';

/** Flags of `plinth import`. */
export class ImportOptions {
  @Flag({
    name: 'from-kubeconfig',
    type: 'string',
    unit: 'file',
    usage: 'In place of a file: the cluster to copy, and credentials for it.',
  })
  readonly fromKubeconfig: string | undefined = undefined;

  @Flag({
    name: 'from-context',
    type: 'string',
    unit: 'name',
    usage: 'Context of --from-kubeconfig to use. Default: its current one.',
  })
  readonly fromContext: string | undefined = undefined;

  @Flag({
    name: 'dry-run',
    type: 'bool',
    usage: 'Only show the plan. The server tries every new object without storing it.',
  })
  readonly dryRun: boolean = false;

  @Flag({
    name: 'existing',
    type: 'string',
    values: ['skip', 'update', 'fail'],
    unit: 'policy',
    usage:
      'Objects that are there already: skip leaves them, update writes over them, fail ends before anything is written.',
  })
  @Check<string>('policy', (text) =>
    ['skip', 'update', 'fail'].includes(text) ? undefined : 'must be skip, update or fail',
  )
  readonly existing: string = 'skip';

  @Flag({ name: 'with-status', type: 'bool', usage: 'Also write the status of objects.' })
  readonly withStatus: boolean = false;

  @Flag({
    name: 'with-derived',
    type: 'bool',
    usage:
      'Also import objects that control loops create, such as pods of deployments, and jobs and pods that have ' +
      'ended.',
  })
  readonly withDerived: boolean = false;

  @Flag({
    name: 'with-volumes',
    type: 'bool',
    usage:
      'Also import volumes that a provisioner created, and bind claims to them. Without it claims get new, ' +
      'empty volumes.',
  })
  readonly withVolumes: boolean = false;

  @Flag({
    name: 'keep-addresses',
    type: 'bool',
    usage: 'Services keep their addresses and node ports where these are free.',
  })
  readonly keepAddresses: boolean = false;

  @Flag({ name: 'parallel', type: 'int', unit: 'requests', usage: 'How many requests are sent at a time.' })
  @Min(1, { message: 'must be between 1 and 64' })
  @Max(64, { message: 'must be between 1 and 64' })
  readonly parallel: number = 8;

  @Flag(outputFlag(['table', 'json']))
  @Check<string>('format', (text) => (['table', 'json'].includes(text) ? undefined : 'must be table or json'))
  readonly output: string = 'table';
}
