import { BlockList, isIP } from 'node:net';
import type { ServerOptions } from '../../base/config/server-options.js';
import type { RuleResolver } from '../../base/machinery/authorizer.js';
import { Logger } from '../../base/observability/logger.js';
import { anonymousUser } from '../../server/authentication/anonymous/anonymous.authenticator.js';

/** The input for judging exposure. */
export interface ExposureOptions {
  readonly secureServing: Pick<ServerOptions['secureServing'], 'bindAddress' | 'securePort'>;
  readonly authentication: Pick<ServerOptions['authentication'], 'anonymousAuth'>;
  readonly authorization: Pick<ServerOptions['authorization'], 'authorizationMode'>;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * Describes what strangers who reach the port may do, when that is more than they should. Undefined when other machines
 * can't reach it, or strangers may do nothing. Rights in single namespaces are not checked.
 */
export async function exposureProblem(options: ExposureOptions, rules: RuleResolver): Promise<string | undefined> {
  const { bindAddress, securePort } = options.secureServing;
  if (loopback.check(bindAddress, isIP(bindAddress) === 6 ? 'ipv6' : 'ipv4')) return undefined;
  const { anonymousAuth } = options.authentication;
  const where = `${isIP(bindAddress) === 6 ? `[${bindAddress}]` : bindAddress}:${securePort}`;
  if (options.authorization.authorizationMode.includes('AlwaysAllow')) {
    const who = anonymousAuth
      ? `anybody who reaches ${where}, without credentials,`
      : `every user who reaches ${where}`;
    const why = `--authorization-mode is AlwaysAllow${anonymousAuth ? ' and --anonymous-auth is on' : ''}`;
    return `${who} may do everything: ${why}. Use --authorization-mode=Node,RBAC, or --bind-address=127.0.0.1`;
  }
  if (!anonymousAuth) return undefined;
  const { resourceRules } = await rules.rulesFor(anonymousUser, '');
  if (resourceRules.length === 0) return undefined;
  const verbs = [...new Set(resourceRules.flatMap((rule) => rule.verbs))].join(', ');
  return `anybody who reaches ${where}, without credentials, has rights to objects in all namespaces (${verbs}). Use --anonymous-auth=false, or take the rights from system:anonymous and system:unauthenticated`;
}

/** Warns on standard error at every log level, in a form that stands out to people who read the output. */
export function warnOfExposure(
  problem: string,
  { logFormat }: Pick<ServerOptions['logging'], 'logFormat'>,
  write: (text: string) => void = (text) => void process.stderr.write(text),
): void {
  const logger = new Logger('warn', logFormat, write);
  if (logFormat === 'json') {
    logger.warn(problem);
    return;
  }
  const line = '!'.repeat(80);
  write(`\n${line}\n`);
  logger.warn(problem);
  write(`${line}\n\n`);
}
