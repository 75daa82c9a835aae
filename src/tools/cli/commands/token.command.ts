import { ApiClientOptions } from '../../../base/config/api-client.options.js';
import { OptionsError } from '../../../base/config/options-error.js';
import { type ParsedOptions, parseOptions, separateOperands } from '../../../base/config/parse-options.js';
import { TokenOptions, tokenUsages } from '../../../base/config/token.options.js';
import { isTokenId } from '../../../base/machinery/bootstrap-token.js';
import { systemClock } from '../../../base/machinery/clock.js';
import { accessOf } from '../api-access.js';
import { checkFiles } from '../check-files.js';
import type { AdminApi } from '../cluster/admin-api.js';
import type { BootstrapTokens } from '../cluster/token/bootstrap-tokens.js';
import { TokenText, tokenFormProblem } from '../cluster/token/token-text.js';
import type { Command, CommandContext } from '../command.js';

const groups = { token: TokenOptions, client: ApiClientOptions } as const;
type Options = ParsedOptions<typeof groups>;

const forms = ['create [TOKEN]', 'list', 'delete TOKEN...', 'generate'];

export const tokenCommand: Command = {
  name: 'token',
  summary:
    'Make, list and delete bootstrap tokens, with which nodes join: token create, token list, token delete TOKEN, ' +
    'token generate.',
  groups,
  operands: { forms, words: ['create', 'list', 'delete', 'generate'], files: false },
  defaults: {},
  async run(context) {
    const { operands, flags } = separateOperands(groups, context.argv);
    const options = parseOptions({ groups, argv: flags, environment: context.environment });
    const [action, ...rest] = operands;
    if (action === 'create') return create(options, rest, context);
    if (action === 'list' && rest.length === 0) return list(options, context);
    if (action === 'delete') return remove(options, rest, context);
    if (action === 'generate' && rest.length === 0) return context.print(TokenText.generate().toString());
    throw new OptionsError([`needs ${forms.join(', ')}`]);
  },
};

async function create(options: Options, operands: readonly string[], context: CommandContext): Promise<void> {
  const {
    ttlMs,
    usages,
    groups: tokenGroups,
    description,
    printJoinCommand,
    certificateKey,
    dryRun,
    output,
  } = options.token;
  const [given, ...more] = operands;
  if (more.length > 0) throw new OptionsError(['create makes one token']);
  const token = given === undefined ? TokenText.generate() : TokenText.parse(given);
  if (token === undefined) throw new OptionsError([`the token ${tokenFormProblem}`]);
  if (printJoinCommand && usages.length < tokenUsages.length) {
    throw new OptionsError(['--print-join-command needs both --usages: a node can join with no other token']);
  }
  if (certificateKey !== undefined && !printJoinCommand) {
    throw new OptionsError(['--certificate-key is a part of a command: give --print-join-command']);
  }
  const added =
    certificateKey === undefined ? '' : ` --control-plane --certificate-key ${certificateKey} --database-url URL`;
  const wish = { token, ttlMs, usages, groups: tokenGroups, description };
  await withTokens(options, context, async ({ tokens, admin }) => {
    const { joinArguments } = await import('../cluster/join-arguments.js');
    // Nobody gets a token whose command can't be shown.
    const joining = printJoinCommand ? `plinth join ${await joinArguments(admin, String(token))}${added}` : undefined;
    const now = systemClock.now();
    const made = await tokens.create(wish, now, dryRun);
    if (output !== 'json') return context.print(joining ?? token.toString());
    const { describeToken } = await import('../cluster/token/token-table.js');
    const shown = { ...describeToken(made, true, now), ...(joining === undefined ? {} : { joinCommand: joining }) };
    context.print(JSON.stringify(shown, undefined, 2));
  });
}

async function list(options: Options, context: CommandContext): Promise<void> {
  const { output, showSecrets } = options.token;
  await withTokens(options, context, async ({ tokens }) => {
    const { describeToken, tokenTable } = await import('../cluster/token/token-table.js');
    const [known, now] = [await tokens.list(), systemClock.now()];
    if (output === 'json') {
      const described = known.map((token) => describeToken(token, showSecrets, now));
      context.print(JSON.stringify(described, undefined, 2));
    } else for (const line of tokenTable(known, showSecrets, now)) context.print(line);
  });
}

async function remove(options: Options, operands: readonly string[], context: CommandContext): Promise<void> {
  if (operands.length === 0) throw new OptionsError(['delete needs the id of a token, or all of it']);
  const ids = operands.map((text) => (isTokenId(text) ? text : TokenText.parse(text)?.id));
  if (ids.includes(undefined)) {
    throw new OptionsError([`each token ${tokenFormProblem}, or its first six characters alone`]);
  }
  await withTokens(options, context, async ({ tokens }) => {
    for (const id of new Set(ids as readonly string[])) {
      await tokens.delete(id, options.token.dryRun);
      context.print(`the token ${id} is deleted`);
    }
  });
}

interface TokenTools {
  readonly admin: AdminApi;
  readonly tokens: BootstrapTokens;
}

async function withTokens(
  options: Options,
  context: CommandContext,
  work: (tools: TokenTools) => Promise<void>,
): Promise<void> {
  await checkFiles({ client: ApiClientOptions }, options);
  const { withAdminApi } = await import('../cluster/admin-api.js');
  const { adminKubeconfig } = await import('../cluster/admin-kubeconfig.js');
  const tokenModule = await import('../cluster/token/bootstrap-tokens.js');
  const access = await accessOf(options.client, adminKubeconfig(context.environment));
  await withAdminApi(access, 'plinth-token', context.signals.signal, (admin) =>
    work({ admin, tokens: new tokenModule.BootstrapTokens(admin) }),
  );
}
