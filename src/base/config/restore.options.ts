import { Check } from './check.js';
import { Flag } from './flag.js';
import { outputFlag } from './shared-flags.js';

/** What `plinth restore` brings back. */
export class RestoreOptions {
  @Flag({
    name: 'at',
    type: 'string',
    unit: 'moment',
    usage: 'When: a time (2026-02-03T14:30:00Z), a span before now (2h-ago, 1d12h-ago), or a version.',
  })
  readonly at: string | undefined = undefined;

  @Flag({
    name: 'namespace',
    short: 'n',
    type: 'string',
    unit: 'name',
    usage: 'The namespace of the objects. Without names of objects: the namespace and everything that was in it.',
  })
  readonly namespace: string | undefined = undefined;

  @Flag({
    name: 'selector',
    short: 'l',
    type: 'string',
    unit: 'labels',
    usage: 'Only objects that had these labels: app=web,tier!=cache.',
  })
  readonly selector: string | undefined = undefined;

  @Flag({ name: 'include', type: 'list', unit: 'kinds', usage: 'Only these kinds: deployments,configmaps.' })
  readonly include: readonly string[] = Object.freeze([]);

  @Flag({ name: 'exclude', type: 'list', unit: 'kinds', usage: 'All kinds but these.' })
  readonly exclude: readonly string[] = Object.freeze([]);

  @Flag({
    name: 'status',
    type: 'bool',
    usage: 'Also write the status that objects had; by default, control loops report it anew.',
  })
  readonly status: boolean = false;

  @Flag({ name: 'dry-run', type: 'bool', usage: 'Show the plan, have the server check each step, and change nothing.' })
  readonly dryRun: boolean = false;

  @Flag({
    name: 'yes',
    short: 'y',
    type: 'bool',
    usage: 'Restore without asking first. Needed where there is no terminal.',
  })
  readonly yes: boolean = false;

  @Flag(outputFlag(['table', 'json']))
  @Check<string>('format', (text) => (text === 'table' || text === 'json' ? undefined : 'must be table or json'))
  readonly output: string = 'table';
}
