import { DocumentFields } from '../../../base/config/document-fields.js';
import { DocumentProblems } from '../../../base/config/document-problems.js';
import { duplicate, type FieldPath, invalid, required, tooMany } from '../../../base/machinery/field-error.js';
import { CompileWork } from '../../../objects/cel/index.js';
import { type ClaimExpression, compileClaimExpression, type ExpressionResult } from './claim-expressions.js';
import { certificatesProblem, extraKeyProblem, issuerUrlProblem } from './issuer-rules.js';

/** The source of one attribute of the user: a claim of the token, or an expression. */
export type ClaimSource =
  | { readonly kind: 'claim'; readonly claim: string; readonly prefix: string }
  | { readonly kind: 'expression'; readonly expression: ClaimExpression };

/** A condition that tokens or users must meet. */
export interface ValidationRule {
  readonly expression: ClaimExpression;
  /** The error of a token review if the token does not meet the condition. */
  readonly message: string;
}

/** One issuer of tokens, and how its tokens map to users. */
export interface JwtIssuer {
  /** Issuers with equal fields have equal keys. */
  readonly key: string;
  readonly url: string;
  /** The address of the discovery document with the issuer's keys, if it is not below the issuer's own address. */
  readonly discoveryUrl: string | undefined;
  /** PEM; undefined for the CA certificates of the host. */
  readonly certificateAuthority: string | undefined;
  readonly audiences: readonly string[];
  readonly requiredClaims: readonly (readonly [claim: string, value: string])[];
  readonly claimRules: readonly ValidationRule[];
  readonly username: ClaimSource;
  readonly groups: ClaimSource | undefined;
  readonly uid: ClaimSource | undefined;
  readonly extra: readonly { readonly key: string; readonly expression: ClaimExpression }[];
  readonly userRules: readonly ValidationRule[];
}

/** Which requests without credentials are made as the anonymous user. */
export interface AnonymousRule {
  readonly isEnabled: boolean;
  /** The paths to which the rule applies; empty for all. */
  readonly paths: readonly string[];
}

/** The content of `--authentication-config`. */
export interface AuthenticationConfiguration {
  readonly issuers: readonly JwtIssuer[];
  /** Undefined if `--anonymous-auth` decides. */
  readonly anonymous: AnonymousRule | undefined;
}

const maxIssuers = 64;
/** The limit for compiling all expressions of a file, which takes at most some tens of milliseconds. */
const maxCompileWork = 20_000;

/** Values that a document must not contain because of other settings of the server. */
export interface AuthenticationDocumentOptions {
  /** Suffix of the names of API groups. */
  readonly suffix: string;
  /** Issuers of service account tokens, which no other method may accept. */
  readonly serviceAccountIssuers: readonly string[];
  /** Domains of keys that this server reserves for itself. */
  readonly reservedDomains: readonly string[];
}

/**
 * Reads a document of kind `AuthenticationConfiguration`.
 *
 * @throws DocumentError with all its problems.
 */
export function readAuthenticationConfiguration(
  document: unknown,
  options: AuthenticationDocumentOptions,
): AuthenticationConfiguration {
  const problems = new DocumentProblems();
  const group = `apiserver.config.${options.suffix}`;
  const versions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${group}/${version}`);
  const root = DocumentFields.ofDocument(document, 'AuthenticationConfiguration', versions, problems);
  const list = root.objects('jwt');
  if (list.length > maxIssuers) problems.add(tooMany(root.at('jwt'), list.length, maxIssuers));
  const reader = new IssuerReader(options, problems, new CompileWork(maxCompileWork));
  const issuers = list.slice(0, maxIssuers).map((fields) => reader.read(fields));
  const anonymous = readAnonymous(root.object('anonymous'));
  root.done();
  problems.throwIfAny();
  return { issuers: issuers as JwtIssuer[], anonymous };
}

function readAnonymous(fields: DocumentFields | undefined): AnonymousRule | undefined {
  if (fields === undefined) return undefined;
  const isEnabled = fields.flag('enabled') ?? false;
  const paths = fields.objects('conditions').map((condition) => {
    const path = condition.requiredText('path');
    if (path !== '' && !path.startsWith('/'))
      fields.problems.add(invalid(condition.at('path'), path, 'must begin with /'));
    condition.done();
    return path;
  });
  if (!isEnabled && paths.length > 0) {
    fields.problems.add(
      invalid(fields.at('conditions'), paths, 'enabled should be set to true when conditions are defined'),
    );
  }
  fields.done();
  return { isEnabled, paths };
}

class IssuerReader {
  private readonly urls = new Set<string>();
  private readonly discoveryUrls = new Set<string>();

  constructor(
    private readonly options: AuthenticationDocumentOptions,
    private readonly problems: DocumentProblems,
    private readonly work: CompileWork,
  ) {}

  /** Reads the issuer; parts with problems are undefined. */
  read(fields: DocumentFields): Partial<JwtIssuer> {
    const { problems } = this;
    const issuer = fields.object('issuer');
    if (issuer === undefined) problems.add(required(fields.at('issuer')));
    const identity = issuer === undefined ? undefined : this.readIssuer(issuer);
    const claimRules = fields.objects('claimValidationRules').map((rule) => this.readClaimRule(rule));
    this.refuseRepeats(claimRules);
    const mappings = fields.object('claimMappings');
    if (mappings === undefined) problems.add(required(fields.at('claimMappings'), 'username is required'));
    const mapped = mappings === undefined ? undefined : this.readMappings(mappings);
    const userRules = fields.objects('userValidationRules').map((rule) => this.readUserRule(rule));
    fields.done();
    const rules = claimRules.flatMap(({ rule }) => (rule === undefined ? [] : [rule]));
    if (mapped !== undefined && mappings !== undefined) this.checkEmail(mapped, rules, mappings.at('username'));
    const requiredClaims = claimRules.flatMap(({ required: pair }) => (pair === undefined ? [] : [pair]));
    const read = {
      ...identity,
      ...mapped,
      requiredClaims,
      claimRules: rules,
      userRules: userRules.filter((rule) => rule !== undefined),
    };
    return { ...read, key: keyOf(read) };
  }

  private readIssuer(fields: DocumentFields) {
    const { problems, options } = this;
    const url = fields.requiredText('url', 'URL is required');
    if (url !== '') {
      problems.add(issuerUrlProblem(url, fields.at('url')));
      if (this.urls.has(url)) problems.add(duplicate(fields.at('url'), url));
      if (options.serviceAccountIssuers.includes(url)) {
        const own = 'must not be an issuer of service account tokens';
        problems.add(invalid(fields.at('url'), url, own));
      }
      this.urls.add(url);
    }
    const discoveryUrl = fields.text('discoveryURL') || undefined;
    if (discoveryUrl !== undefined) {
      const at = fields.at('discoveryURL');
      problems.add(issuerUrlProblem(discoveryUrl, at));
      if (discoveryUrl.replace(/\/+$/, '') === url.replace(/\/+$/, '')) {
        problems.add(invalid(at, discoveryUrl, 'discoveryURL must be different from URL'));
      }
      if (this.discoveryUrls.has(discoveryUrl)) problems.add(duplicate(at, discoveryUrl));
      this.discoveryUrls.add(discoveryUrl);
    }
    const certificateAuthority = fields.text('certificateAuthority') || undefined;
    if (certificateAuthority !== undefined) {
      problems.add(certificatesProblem(certificateAuthority, fields.at('certificateAuthority')));
    }
    const audiences = fields.texts('audiences');
    const policy = fields.text('audienceMatchPolicy');
    if (audiences.length === 0)
      problems.add(required(fields.at('audiences'), 'at least one jwt[].issuer.audiences is required'));
    for (const [i, audience] of audiences.entries()) {
      const at = fields.at('audiences').index(i);
      if (audience === '') problems.add(required(at, 'audience can not be empty'));
      else if (audiences.indexOf(audience) < i) problems.add(duplicate(at, audience));
    }
    const at = fields.at('audienceMatchPolicy');
    if (policy !== '' && policy !== 'MatchAny') problems.add(invalid(at, policy, 'must be MatchAny or empty'));
    else if (audiences.length > 1 && policy === '') {
      problems.add(invalid(at, policy, 'must be MatchAny for more than one audience'));
    }
    fields.done();
    return { url, discoveryUrl, certificateAuthority, audiences };
  }

  private readClaimRule(fields: DocumentFields): {
    readonly at: DocumentFields;
    readonly required?: readonly [string, string] | undefined;
    readonly rule?: ValidationRule | undefined;
  } {
    const { problems } = this;
    const claim = fields.text('claim');
    const value = fields.text('requiredValue');
    const expression = fields.text('expression');
    const message = fields.text('message');
    fields.done();
    if (claim !== '' && expression !== '') {
      problems.add(invalid(fields.at(), claim, "claim and expression can't both be set"));
      return { at: fields };
    }
    if (expression !== '') {
      if (value !== '')
        problems.add(invalid(fields.at('requiredValue'), value, "requiredValue can't be set when expression is set"));
      const compiled = this.compile(expression, 'claims', 'condition', fields.at('expression'));
      return { at: fields, rule: compiled && { expression: compiled, message } };
    }
    if (claim === '') problems.add(required(fields.at(), 'claim or expression is required'));
    if (message !== '') problems.add(invalid(fields.at('message'), message, "message can't be set when claim is set"));
    return { at: fields, required: [claim, value] };
  }

  private refuseRepeats(rules: readonly ReturnType<IssuerReader['readClaimRule']>[]): void {
    const seen = new Set<string>();
    for (const { at, required: pair, rule } of rules) {
      const key = pair === undefined ? `expression ${rule?.expression.text}` : `claim ${pair[0]}`;
      const field = pair === undefined ? 'expression' : 'claim';
      if (pair === undefined && rule === undefined) continue;
      if (seen.has(key)) this.problems.add(duplicate(at.at(field), pair?.[0] ?? rule?.expression.text));
      seen.add(key);
    }
  }

  private readUserRule(fields: DocumentFields): ValidationRule | undefined {
    const text = fields.requiredText('expression', 'expression is required');
    const message = fields.text('message');
    fields.done();
    const expression = text === '' ? undefined : this.compile(text, 'user', 'condition', fields.at('expression'));
    return expression && { expression, message };
  }

  private readMappings(fields: DocumentFields) {
    const username = fields.object('username');
    if (username === undefined) this.problems.add(required(fields.at('username'), 'claim or expression is required'));
    const source = username && this.readSource(username, 'text', { needsPrefix: true, isRequired: true });
    const groups = fields.object('groups');
    const uid = fields.object('uid');
    const extra = fields.objects('extra').map((entry) => this.readExtra(entry));
    const keys = extra.map(({ key }) => key);
    for (const [i, key] of keys.entries()) {
      if (keys.indexOf(key) < i) this.problems.add(duplicate(fields.at('extra').index(i).child('key'), key));
    }
    fields.done();
    return {
      username: source as ClaimSource,
      groups: groups && this.readSource(groups, 'texts', { needsPrefix: true, isRequired: false }),
      uid: uid && this.readSource(uid, 'text', { needsPrefix: false, isRequired: false }),
      extra: extra.flatMap(({ key, expression }) => (expression === undefined ? [] : [{ key, expression }])),
    };
  }

  private readSource(
    fields: DocumentFields,
    result: ExpressionResult,
    { needsPrefix, isRequired }: { readonly needsPrefix: boolean; readonly isRequired: boolean },
  ): ClaimSource | undefined {
    const { problems } = this;
    const claim = fields.text('claim');
    const expression = fields.text('expression');
    const prefix = needsPrefix ? fields.optionalText('prefix') : '';
    fields.done();
    if (claim !== '' && expression !== '') {
      problems.add(invalid(fields.at(), claim, "claim and expression can't both be set"));
      return undefined;
    }
    if (expression !== '') {
      if (needsPrefix && prefix !== undefined) {
        problems.add(invalid(fields.at('prefix'), prefix, "prefix can't be set when expression is set"));
      }
      const compiled = this.compile(expression, 'claims', result, fields.at('expression'));
      return compiled && { kind: 'expression', expression: compiled };
    }
    if (claim !== '') {
      if (prefix === undefined) {
        problems.add(
          required(
            fields.at('prefix'),
            'prefix is required when claim is set. It can be set to an empty string to disable prefixing',
          ),
        );
      }
      return { kind: 'claim', claim, prefix: prefix ?? '' };
    }
    if (isRequired) problems.add(required(fields.at(), 'claim or expression is required'));
    else if (prefix) problems.add(required(fields.at('claim'), 'non-empty claim name is required when prefix is set'));
    return undefined;
  }

  private readExtra(fields: DocumentFields): {
    readonly key: string;
    readonly expression: ClaimExpression | undefined;
  } {
    const key = fields.requiredText('key');
    if (key !== '') this.problems.add(extraKeyProblem(key, this.options.reservedDomains, fields.at('key')));
    const text = fields.requiredText('valueExpression', 'valueExpression is required');
    fields.done();
    const at = fields.at('valueExpression');
    return { key, expression: text === '' ? undefined : this.compile(text, 'claims', 'texts', at) };
  }

  private compile(
    text: string,
    about: 'claims' | 'user',
    result: ExpressionResult,
    path: FieldPath,
  ): ClaimExpression | undefined {
    const compiled = compileClaimExpression(text, about, result, path, this.work);
    if ('program' in compiled) return compiled;
    this.problems.add(compiled);
    return undefined;
  }

  /** Reports a user name that is made from an email address without checking that the address is verified. */
  private checkEmail(
    { username, extra }: { readonly username?: ClaimSource | undefined; readonly extra: JwtIssuer['extra'] },
    rules: readonly ValidationRule[],
    path: FieldPath,
  ): void {
    if (username?.kind !== 'expression' || !names(username.expression.text, 'email')) return;
    const texts = [username, ...extra, ...rules].map(({ expression }) => expression.text);
    if (texts.some((text) => names(text, 'email_verified'))) return;
    const detail =
      'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression';
    this.problems.add(invalid(path.child('expression'), username.expression.text, detail));
  }
}

/** Whether an expression selects a claim, as a name outside of its string literals or as a key. */
function names(text: string, claim: string): boolean {
  const selected = new RegExp(`\\bclaims\\s*(?:\\.\\s*\\??\\s*${claim}\\b|\\[\\s*\\??\\s*["']${claim}["'])`);
  return selected.test(text);
}

/** A string of all fields that identifies the issuer; expressions are represented by their sources. */
function keyOf(issuer: object): string {
  return JSON.stringify(issuer, (name, value: unknown) => (name === 'program' ? undefined : value));
}
