import { createInterface } from 'node:readline/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiClientOptions } from '../../../base/config/api-client.options.js';
import { OptionsError } from '../../../base/config/options-error.js';
import { type ParsedOptions, parseOptions, separateOperands } from '../../../base/config/parse-options.js';
import { RestoreOptions } from '../../../base/config/restore.options.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import type { ServedKind } from '../../backup/cluster/served-kind.js';
import type { RestoreScope } from '../../backup/restore/plan.js';
import { accessOf } from '../api-access.js';
import { checkFiles } from '../check-files.js';
import type { Command, CommandContext } from '../command.js';

const groups = { restore: RestoreOptions, client: ApiClientOptions } as const;
type Options = ParsedOptions<typeof groups>;

const whichMoment =
  'needs --at MOMENT, such as 10m-ago. To find it: plinth sql history KIND/NAME shows when what was changed or deleted';

/** Exit code: something that was requested could not be restored. */
const incomplete = 3;

export const restoreCommand: Command = {
  name: 'restore',
  summary:
    'Restore objects as they were: restore KIND/NAME... | --namespace NAME | -l LABELS, with --at MOMENT. ' +
    'Shows a plan first, and never deletes anything.',
  groups,
  operands: { forms: ['KIND/NAME...', ''], words: [], files: false },
  defaults: {},
  async run(context) {
    const { operands, flags } = separateOperands(groups, context.argv);
    const options = parseOptions({ groups, argv: flags, environment: context.environment });
    const { at, namespace, selector, dryRun, yes, output } = options.restore;
    if (at === undefined || at === '') throw new OptionsError([whichMoment]);
    if (operands.length === 0 && namespace === undefined && selector === undefined) {
      throw new OptionsError(['needs KIND/NAME, --namespace or --selector']);
    }
    const isTerminal = process.stdin.isTTY && process.stderr.isTTY;
    if (!dryRun && !yes && !isTerminal) throw new OptionsError(['needs --yes or --dry-run where there is no terminal']);
    await checkFiles(groups, options);

    const { ClusterClient } = await import('../../backup/cluster/cluster-client.js');
    const { servedKinds } = await import('../../backup/cluster/kinds.js');
    const { planRestore } = await import('../../backup/restore/plan.js');
    const { versionAt } = await import('../../backup/restore/past.js');
    const { restore } = await import('../../backup/restore/restore.js');
    const {
      restorePlanLines: planLines,
      resultJson,
      restoreResultLines: resultLines,
    } = await import('../../backup/restore/report.js');
    const { signal } = context.signals;
    const client = new ClusterClient(await accessOf(options.client, context.environment.KUBECONFIG), pause);
    try {
      const version = await versionAt(client, at, signal);
      const { kinds } = await servedKinds(client, signal);
      const scopes = await scopesOf(kinds, operands, options);
      const plan = await planRestore({ client, kinds, scopes, version, signal });
      if (plan.steps.length === 0 && plan.notSeen.length === 0) {
        throw new StartupError(`nothing of that was there at version ${version}`);
      }
      const work = plan.steps.filter(({ action }) => action === 'create' || action === 'update').length;
      if (output === 'table') for (const line of planLines(plan)) context.print(line);
      if (!dryRun && !yes && work > 0 && !(await agreed(work, context))) throw new StartupError('nothing was changed');
      const results = [];
      for await (const result of restore({ client, plan, dryRun, withStatus: options.restore.status, signal })) {
        results.push(result);
      }
      if (output === 'json') context.print(JSON.stringify(resultJson(plan, results, dryRun)));
      else for (const line of resultLines(results, dryRun)) context.print(line);
      if (plan.notSeen.length > 0 || results.some(({ outcome }) => outcome === 'failed')) context.endWith(incomplete);
    } finally {
      client.close();
    }
  },
};

async function scopesOf(kinds: readonly ServedKind[], operands: readonly string[], { restore }: Options) {
  const { chooseKinds, meansKind } = await import('../../backup/cluster/kind-selection.js');
  const { namespace, selector, include, exclude } = restore;
  if (operands.length > 0) return operands.map((operand) => namedScope(operand, kinds, restore, meansKind));
  const chosen = chooseKinds(kinds, { include, exclude }).kinds;
  return chosen.flatMap((kind): RestoreScope[] => {
    if (namespace === undefined || kind.namespaced) {
      return [{ kind, wanted: { namespace, selector }, isNamed: false }];
    }
    if (kind.apiVersion !== 'v1' || kind.kind !== 'Namespace' || selector !== undefined) return [];
    return [{ kind, wanted: { name: namespace }, isNamed: false }];
  });
}

function namedScope(
  operand: string,
  kinds: readonly ServedKind[],
  { namespace, selector }: Options['restore'],
  meansKind: (name: string, kind: ServedKind) => boolean,
): RestoreScope {
  const [, word = '', name = ''] = /^([^/]+)\/([^/]+)$/.exec(operand) ?? [];
  const kind = kinds.find((one) => meansKind(word, one));
  if (kind === undefined)
    throw new OptionsError([`${JSON.stringify(operand)} is no KIND/NAME of a kind that is served`]);
  if (kind.namespaced && namespace === undefined) throw new OptionsError([`${operand} needs --namespace`]);
  return { kind, wanted: { namespace, name, selector }, isNamed: true };
}

async function agreed(work: number, context: CommandContext): Promise<boolean> {
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await asking.question(`Restore ${work} objects? [y/N] `, { signal: context.signals.signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    asking.close();
  }
}

const pause = async (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal });
