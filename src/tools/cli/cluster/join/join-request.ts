import { hostname } from 'node:os';
import type { JoinOptions } from '../../../../base/config/join.options.js';
import type { JoinControlPlaneOptions } from '../../../../base/config/join-control-plane.options.js';
import type { LoggingOptions } from '../../../../base/config/logging.options.js';
import { OptionsError } from '../../../../base/config/options-error.js';
import type { StorageOptions } from '../../../../base/config/storage.options.js';
import type { Endpoint } from '../https-get.js';
import { TokenText, tokenFormProblem } from '../token/token-text.js';

/** The validated input of the user. */
export interface JoinRequest {
  readonly options: Readonly<JoinOptions>;
  readonly nodeName: string;
  /** How the cluster is found: by an address and a token, or by a file. */
  readonly discovery: { readonly endpoint: Endpoint; readonly token: TokenText } | { readonly file: string };
  /** The token with which the node asks for its certificate; undefined: the file brings credentials. */
  readonly bootstrapToken: TokenText | undefined;
}

/** The settings of a further control plane that the user gave. */
export interface ControlPlaneRequest {
  readonly options: Readonly<JoinControlPlaneOptions>;
  readonly storage: Readonly<StorageOptions>;
  readonly logging: Readonly<LoggingOptions>;
  /** Names of the flags that the user set. */
  readonly given: ReadonlySet<string>;
}

/** @throws OptionsError with all that is missing or contradictory */
export function joinRequest(options: Readonly<JoinOptions>, operands: readonly string[]): JoinRequest {
  const problems: string[] = [];
  const [address, ...more] = operands;
  if (more.length > 0) problems.push(`unexpected argument ${JSON.stringify(more[0])}`);
  const bootstrapToken = readToken('tls-bootstrap-token', options.tlsBootstrapToken ?? options.token, problems);
  const nodeName = options.nodeName ?? hostname().toLowerCase();
  const file = options.discoveryFile;
  if (file !== undefined) {
    const excluded = [address, options.discoveryToken, options.discoveryTokenCaCertHash[0]];
    if (excluded.some((given) => given !== undefined)) {
      problems.push('--discovery-file takes the place of HOST:PORT, --discovery-token and its hashes');
    }
    if (problems.length > 0) throw new OptionsError(problems);
    return { options, nodeName, discovery: { file }, bootstrapToken };
  }
  const endpoint = address === undefined ? undefined : readEndpoint(address);
  if (address === undefined) problems.push('needs HOST:PORT of a server, or --discovery-file');
  else if (endpoint === undefined) problems.push(`${JSON.stringify(address)} is not HOST:PORT`);
  const token = readToken('discovery-token', options.discoveryToken ?? options.token, problems);
  if (token === undefined && problems.length === 0) problems.push('needs --token');
  if (bootstrapToken === undefined && problems.length === 0) problems.push('needs --token or --tls-bootstrap-token');
  const isPinned = options.discoveryTokenCaCertHash.length > 0;
  if (isPinned === options.discoveryTokenUnsafeSkipCaVerification) {
    problems.push(
      isPinned
        ? '--discovery-token-unsafe-skip-ca-verification and --discovery-token-ca-cert-hash exclude each other'
        : 'needs --discovery-token-ca-cert-hash, which plinth token create --print-join-command shows ' +
            '(or --discovery-token-unsafe-skip-ca-verification)',
    );
  }
  if (problems.length > 0 || endpoint === undefined || token === undefined) throw new OptionsError(problems);
  return { options, nodeName, discovery: { endpoint, token }, bootstrapToken };
}

function readToken(flag: string, text: string | undefined, problems: string[]): TokenText | undefined {
  if (text === undefined) return undefined;
  const token = TokenText.parse(text);
  if (token === undefined) problems.push(`--token (or --${flag}) ${tokenFormProblem}`);
  return token;
}

function readEndpoint(text: string): Endpoint | undefined {
  const url = URL.canParse(`https://${text}`) ? new URL(`https://${text}`) : undefined;
  if (url === undefined || url.username !== '' || url.pathname !== '/' || url.search !== '' || text.endsWith('/')) {
    return undefined;
  }
  // The usual port of the scheme is not in the parts of a URL.
  const port = url.port === '' && text.endsWith(':443') ? 443 : Number(url.port);
  return port === 0 ? undefined : { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port };
}
